"""Module parameters: does a kernel have it, does the module load with the value, and what comes of it. Of a
feature mask: what it changes besides what it is copied for, and the value that a host has without us.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.judging import names
from rocmcfg.judging.kernels import Declaration, declarations
from rocmcfg.judging.verdict import About, Verdict, loses, meanings, taint, traps_of
from rocmcfg.model.catalogue import Catalogue, Feature, Parameter
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, error, info
from rocmcfg.model.facts import Kernel, Machine
from rocmcfg.model.regex import regex
from rocmcfg.model.spelling import (
    NUMBERS,
    Spelling,
    as_number,
    closest,
    hexint,
    octal,
    parameter,
    same,
)
from rocmcfg.state.values import Effective

# Of every module, whoever wrote it (Documentation/admin-guide/dynamic-debug-howto.rst, kernel/module/main.c)
_OF_EVERY_MODULE = frozenset({"dyndbg"})
_DIGITS = regex("[0-9a-fA-F]+")
_TOLD = 4  # features that a mask turns off


def of_the_name(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    if asked.name in _OF_EVERY_MODULE:
        return
    if asked.name.startswith(f"{asked.module}."):
        yield Verdict(About.MISNAMED, instead=parameter(asked.name, asked.value))
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
    holds = True if near or looked_into else None
    yield Verdict(About.UNKNOWN_MODULE, holds, names=near, kernels=looked_into)


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
        sign = "-" if number < 0 else ""
        plain = asked._replace(value=sign + (asked.value or "").lstrip("+-0"))
        yield Verdict(About.OCTAL, why=str(number), instead=plain)
    refused = [_in_hexadecimal(one, asked, found, present) for one in _refused(asked.value, found, present)]
    yield from refused
    if found is None or any(one.holds for one in refused):
        return
    traps = traps_of(asked, found, machine, beside)
    yield from meanings(traps, found, machine)
    if tainted := [one for one in present if one.taints]:
        others = _releases(one for one in present if not one.taints)
        yield Verdict(About.TAINTS, kernels=_releases(tainted), others=others, sources=found.sources)
    if found.mask:
        yield from _of_a_mask(asked, found, machine, known)
    variants = [variant for one in present for variant in one.variants]
    if (
        asked.value is not None
        and variants
        and all(same(variant.default, asked.value) for variant in variants)
        and not any(one.trap_kind in ("default", "inverted") for one in traps)
    ):
        yield Verdict(About.DEFAULT, why=found.summary, sources=found.sources)


def _in_hexadecimal(
    verdict: Verdict, asked: Spelling, found: Parameter | None, present: Sequence[Declaration]
) -> Verdict:
    """Propose 0x before the digits of a mask, where the kernels take that."""
    text = f"0x{asked.value}"
    if found is None or not found.mask or not verdict.holds or not _DIGITS.fullmatch(asked.value or ""):
        return verdict
    if any(one.reasons(text) for one in present):
        return verdict
    return verdict._replace(instead=asked._replace(value=text))


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
            by = _releases(refusing)
            yield Verdict(About.ILLEGAL, holds, why, kernels=by, others=others, sources=sources)
    number = as_number(text)
    if not certain and found is not None and found.bounds is not None and number is not None:
        low, high = found.bounds
        if not low <= number <= high:
            yield Verdict(About.OUT_OF_RANGE, why=found.summary, names=(str(low), str(high)), sources=sources)


def _releases(kernels: Iterable[Declaration]) -> tuple[str, ...]:
    return tuple(one.release for one in kernels)


def starting_mask(
    parameter: Parameter, configured: Effective, kernels: Sequence[Kernel], location: str
) -> tuple[int | None, str, list[Diagnostic]]:
    """The mask, None where nothing can be built on it; where it comes from; and what is wrong. Where others
    have `configured` none, the kernels' default counts, the newest one's where they differ."""
    if configured.value is not None:
        number = as_number(configured.value)
        if number is not None and number >= 0:
            return number, configured.source, []
        said = f"{parameter.id}={configured.value} is no mask, and would stop the driver from loading"
        problem = error("RC2022", said, location=configured.source, hint="mend or remove it there first")
        return None, "", [problem]
    defaults: dict[int, list[str]] = {}
    for kernel in kernels:
        for default in {v.default for v in parameter.on(kernel.version).variants}:
            defaults.setdefault(as_number(default) or 0, []).append(kernel.release)
    newest = default_mask(parameter, kernels if defaults else ()) or 0
    if len(defaults) < 2:
        return newest, "the kernel's default", []
    said = f"the default of {parameter.id} differs between the installed kernels; the newest one's is used"
    detail = ", ".join(f"{hexint(mask)} on {', '.join(named)}" for mask, named in defaults.items())
    remark = info("RC2023", said, location=location, detail=detail)
    return newest, "the kernel's default", [remark]


def default_mask(parameter: Parameter, kernels: Sequence[Kernel]) -> int | None:
    """Of the newest kernel that has the parameter; where none is known, of the newest that was read."""
    for version in reversed([kernel.version for kernel in kernels] or [max(parameter.builds)]):
        if variants := parameter.on(version).variants:
            return as_number(variants[-1].default)
    return None


def is_default(setting: Spelling, kernels: Sequence[Kernel], known: Catalogue) -> bool:
    """Of a number or a feature: whether it is so unless somebody says otherwise."""
    feature = known.features.get(setting.name) if setting.kind is Kind.FEATURE else None
    parameter = known.parameters.get(feature.parameter if feature else setting.id)
    default = default_mask(parameter, kernels) if parameter else None
    return bool(parameter and default is not None and reaches(setting, parameter.id, str(default), known))


def reaches(asked: Spelling, id: str, text: str | None, known: Catalogue) -> bool:
    """Whether this value does what is `asked`, which may be a feature of the mask."""
    feature = known.features.get(asked.name) if asked.kind is Kind.FEATURE else None
    if feature is not None and id == feature.parameter:
        return feature.is_on(as_number(text)) is asked.enabled
    return id == asked.id and (text is None if asked.value is None else same(text or "", asked.value))


def features_of(parameter: Parameter, known: Catalogue) -> list[Feature]:
    if not parameter.mask:
        return []
    return [feature for feature in known.features.values() if feature.parameter == parameter.id]


def _of_a_mask(
    asked: Spelling, parameter: Parameter, machine: Machine, known: Catalogue
) -> Iterator[Verdict]:
    """One feature switched is what somebody wants. A mask that turns on what is off by default, and something
    else beside it, was copied with more than its reader wants."""
    features = features_of(parameter, known)
    mask, default = as_number(asked.value), default_mask(parameter, machine.kernels)
    if mask is None or mask < 0 or default is None or not features:
        return
    changed = [f for f in features if (mask ^ default) & f.bit]
    on = [f for f in changed if f.is_on(mask)]
    off = [f for f in changed if not f.is_on(mask)]
    unnamed = (mask ^ default) & ~sum(f.bit for f in features)
    if (on and len(changed) > 1) or unnamed & mask & ~default & 0xFFFFFFFF:
        said = [f"turns {f.name} {'on' if f in on else 'off'}" for f in (*off, *on)]
        if len(off) > _TOLD:
            said[_TOLD - 1 : len(off)] = [f"turns {len(off) - _TOLD + 1} more features off"]
            changed = on
        if unnamed:
            said.append(f"changes bits without a name ({unnamed:#x})")
        alone = "; ".join(
            f"{f.name} {'on' if f in on else 'off'} alone is {hexint(default ^ f.bit)}" for f in changed
        )
        why = (
            f"That is what it changes against the default {hexint(default)}. {alone[:1].upper()}{alone[1:]}."
        )
        meant = _meant(asked, parameter, known, mask, default, on)
        yield Verdict(About.SIDE_EFFECT, True, why, meant, names=tuple(said), sources=parameter.sources)
    for feature in features:
        if feature.is_on(mask):
            yield from (one._replace(sources=parameter.sources) for one in taint(feature, machine))
        elif feature.is_on(default):
            yield from loses(feature, machine)


def _meant(
    asked: Spelling, parameter: Parameter, known: Catalogue, mask: int, default: int, on: list[Feature]
) -> Spelling | None:
    """What the author of the mask had in mind, where that can be told. Of a mask that goes from post to post
    it is known what is in it by accident. Where no bit of the default is left, somebody took the number for a
    list of additions. Every other mask is taken to be meant as it is."""
    accidents = parameter.copied.get(mask)
    if accidents is not None:
        for name in known.features.keys() & accidents:
            bit = known.features[name].bit
            mask = mask & ~bit | default & bit
        return None if mask == default else asked._replace(value=hexint(mask))
    if mask & default or not default or not on:
        return None
    return asked._replace(value=hexint(default | mask))
