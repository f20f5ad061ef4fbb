"""Module parameters: does a kernel have it, does the module load with the value, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.judging import names
from rocmcfg.judging.kernels import Declaration, declarations
from rocmcfg.judging.masks import of_a_mask
from rocmcfg.judging.traps import meanings, traps_of
from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.model.catalogue import Catalogue, Parameter
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import NUMBERS, Spelling, as_number, closest, octal, parameter, same, split
from rocmcfg.model.state import Kind

# Of every module, whoever wrote it (Documentation/admin-guide/dynamic-debug-howto.rst, kernel/module/main.c)
_OF_EVERY_MODULE = frozenset({"dyndbg"})


def of_the_name(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    if asked.name in _OF_EVERY_MODULE:
        return
    if asked.name.startswith(f"{asked.module}."):
        yield Verdict(About.MISNAMED, instead=split(asked.name)._replace(value=asked.value))
        return
    kernels = declarations(asked.id, machine, known)
    if asked.module not in known.modules() and not kernels:
        yield from _unknown_module(asked, machine, known)
        return
    present = [one for one in kernels if one.types]
    lack = tuple(one.release for one in kernels if one.present is False)
    found = known.parameters.get(asked.id)
    if found is None and not present:
        yield from _unknown_parameter(asked, kernels, known)
    elif lack and not (found is not None and found.dkms_only and any(k.dkms for k in machine.kernels)):
        sources = found.sources if found is not None else ()
        why = _lifetime(found) if found is not None else ""
        yield Verdict(About.ABSENT, why=why, kernels=lack, others=_releases(present), sources=sources)
    if found is not None and found.deprecated and (present or not lack):
        better = next((t.instead for t in found.traps if "*" in t.values and t.instead), None)
        yield Verdict(About.DEPRECATED, why=found.deprecated, instead=better, sources=found.sources)


def _unknown_module(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    near = tuple(closest(asked.module, list(known.modules())))
    looked_into = tuple(kernel.release for kernel in machine.kernels if kernel.parameters)
    yield Verdict(
        About.UNKNOWN_MODULE, True if near or looked_into else None, names=near, kernels=looked_into
    )


def _unknown_parameter(
    asked: Spelling, kernels: Sequence[Declaration], known: Catalogue
) -> Iterator[Verdict]:
    trap = known.traps.get(asked.name)
    if trap is not None and asked.module in ("", names.MODULE_OF_TRAPS):
        sources = known.features[trap.instead.name].sources if trap.instead.kind is Kind.FEATURE else ()
        yield Verdict(About.MISNAMED, why=trap.summary, instead=trap.spelt(asked.value), sources=sources)
        return
    if any(not one.certain for one in kernels):
        return  # AMD's DKMS driver, which could not be asked: it has parameters of its own
    holds = True if kernels else None  # a kernel that nobody named may have it
    elsewhere = next((p for p in known.parameters.values() if p.name == asked.name), None)
    if elsewhere is not None:
        yield Verdict(About.MISNAMED, holds, instead=parameter(elsewhere.id, asked.value))
        return
    near = tuple(closest(asked.name, [p.name for p in known.parameters.values() if p.module == asked.module]))
    sure = near and names.slips(asked.name, near[0], 2) <= 2
    right = parameter(f"{asked.module}.{near[0]}", asked.value) if sure else None
    yield Verdict(About.UNKNOWN, holds, instead=right, names=near, kernels=_releases(kernels))


def _lifetime(found: Parameter) -> str:
    if found.dkms_only:
        return "Only AMD's DKMS driver has it."
    said = [f"It came with {found.since}."] if found.since else []
    said += [f"It was removed in {found.removed}."] if found.removed else []
    return " ".join(said)


def of_the_value(asked: Spelling, machine: Machine, known: Catalogue, beside: str) -> Iterator[Verdict]:
    found = known.parameters.get(asked.id)
    if asked.name in _OF_EVERY_MODULE:
        return
    kernels = declarations(asked.id, machine, known)
    present = [one for one in kernels if one.types]
    if kernels and not present:
        return
    number = octal(asked.value)
    if number is not None and any(type in NUMBERS for one in present for type in one.types):
        yield Verdict(About.OCTAL, why=str(number))
    refused = list(_refused(asked.value, found, present))
    yield from refused
    if found is None or any(one.holds for one in refused):
        return
    traps = traps_of(asked, found.traps, found.sources, machine, beside)
    yield from meanings(traps, found.acts_on, found.summary, found.sources, machine)
    if tainted := [one for one in present if one.taints]:
        others = [one for one in present if not one.taints]
        yield Verdict(
            About.TAINTS, kernels=_releases(tainted), others=_releases(others), sources=found.sources
        )
    if found.mask:
        yield from of_a_mask(asked, found, machine, known)
    variants = [variant for one in present for variant in one.variants]
    if (
        asked.value is not None
        and variants
        and all(same(variant.default, asked.value) for variant in variants)
        and not any(one.trap and one.trap.kind in ("default", "inverted") for one in traps)
    ):
        yield Verdict(About.DEFAULT, why=found.summary, sources=found.sources)


def _refused(text: str | None, found: Parameter | None, present: Sequence[Declaration]) -> Iterator[Verdict]:
    """What stops the module from loading: for certain where every type that a kernel may have refuses it."""
    sources = found.sources if found is not None else ()
    certain = [one for one in present if one.typed and one.refuses(text)]
    if any(one.span for one in certain) and len(certain) < len(present):
        certain = []  # of no machine in particular: it is right for some kernel
    doubtful = [one for one in present if not one.span and one.reasons(text)]
    for holds, refusing in ((True, certain), (None, () if certain else doubtful)):
        if refusing:
            told = refusing[:1] if refusing[0].span else refusing
            why = "; ".join(dict.fromkeys(one.reasons(text)[0] for one in told))
            others = _releases(one for one in present if one not in refusing and not one.reasons(text))
            yield Verdict(
                About.ILLEGAL, holds, why, kernels=_releases(refusing), others=others, sources=sources
            )
    number = as_number(text)
    if not certain and found is not None and found.bounds is not None and number is not None:
        low, high = found.bounds
        if not low <= number <= high:
            yield Verdict(About.OUT_OF_RANGE, why=found.summary, names=(str(low), str(high)), sources=sources)


def _releases(kernels: Iterable[Declaration]) -> tuple[str, ...]:
    return tuple(one.release for one in kernels)
