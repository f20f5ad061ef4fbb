"""Judge module parameters: whether a kernel has the parameter, whether the module loads with the value, and
what the value does. Judge feature masks: what a mask changes besides the feature that people copy it for, and
which value a host has without rocmcfg.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.judging import names
from rocmcfg.judging.kernels import Declaration, declarations
from rocmcfg.judging.verdict import About, Verdict, loses, meanings, no_effect, taint, traps_of
from rocmcfg.model.catalogue import Catalogue, Feature, Parameter, in_its_unit
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
from rocmcfg.model.version import KernelVersion
from rocmcfg.state.values import Effective

# Every module has it (Documentation/admin-guide/dynamic-debug-howto.rst, kernel/module/main.c)
_OF_EVERY_MODULE = frozenset({"dyndbg"})
_DIGITS = regex("[0-9a-fA-F]+")
_TOLD = 4  # features that a mask turns off


def of_the_name(setting: Spelling, machine: Machine, catalogue: Catalogue) -> Iterator[Verdict]:
    if setting.name in _OF_EVERY_MODULE:
        return
    if setting.name.startswith(f"{setting.module}."):
        yield Verdict(About.MISNAMED, instead=parameter(setting.name, setting.value))
        return
    kernels = declarations(setting.id, machine, catalogue)
    if setting.module not in catalogue.modules() and not kernels:
        yield from _unknown_module(setting, machine, catalogue)
        return
    present = [kernel for kernel in kernels if kernel.types]
    lack = tuple(kernel.release for kernel in kernels if kernel.present is False)
    entry = catalogue.parameters.get(setting.id)
    if entry is None and not present:
        yield from _unknown_parameter(setting, kernels, catalogue)
    elif lack and not (entry is not None and entry.dkms_only and any(k.dkms for k in machine.kernels)):
        sources = entry.sources if entry is not None else ()
        why = _lifetime(entry) if entry is not None else ""
        yield Verdict(About.ABSENT, why=why, kernels=lack, others=_releases(present), sources=sources)
    elif entry is not None and entry.removed and not machine.kernels:
        newest = newest_build(catalogue)
        if newest.reached(entry.removed):
            having = (
                f"from {entry.since} and before {entry.removed}" if entry.since else f"before {entry.removed}"
            )
            why, sources = _lifetime(entry), entry.sources
            yield Verdict(About.ABSENT, None, why, kernels=(str(newest),), others=(having,), sources=sources)
    if entry is not None and entry.deprecated and (present or not lack):
        better = _successor(entry, setting.value, machine, catalogue)
        yield Verdict(About.DEPRECATED, why=entry.deprecated, instead=better, sources=entry.sources)


def _successor(
    deprecated: Parameter, value: str | None, machine: Machine, catalogue: Catalogue
) -> Spelling | None:
    """Return the setting that replaces a deprecated one, of the module that AMD's DKMS driver loads where
    every kernel has that driver."""
    if deprecated.instead is None:
        return None
    instead = in_its_unit(deprecated.instead, value, deprecated.times)
    of_amd = instead._replace(module=f"amd{instead.module}")
    by_dkms = bool(machine.kernels) and all(kernel.dkms for kernel in machine.kernels)
    return of_amd if by_dkms and of_amd.id in catalogue.parameters else instead


def newest_build(catalogue: Catalogue) -> KernelVersion:
    """Return the newest kernel that was read for the catalogue."""
    return max(build for parameter in catalogue.parameters.values() for build in parameter.builds)


def _unknown_module(setting: Spelling, machine: Machine, catalogue: Catalogue) -> Iterator[Verdict]:
    if meant := names.misspelt_parameter(setting.id):
        instead = parameter(meant, setting.value)
        yield Verdict(About.UNKNOWN_MODULE, instead=instead, names=(instead.module,))
        return
    near = tuple(closest(setting.module, list(catalogue.modules())))
    looked_into = tuple(kernel.release for kernel in machine.kernels if kernel.parameters)
    holds = True if near or looked_into else None
    yield Verdict(About.UNKNOWN_MODULE, holds, names=near, kernels=looked_into)


def _unknown_parameter(
    setting: Spelling, kernels: Sequence[Declaration], catalogue: Catalogue
) -> Iterator[Verdict]:
    trap = catalogue.traps.get(setting.name)
    if trap is not None and setting.module in ("", names.MODULE_OF_TRAPS):
        sources = catalogue.features[trap.instead.name].sources if trap.instead.kind is Kind.FEATURE else ()
        yield Verdict(About.MISNAMED, why=trap.summary, instead=trap.spelt(setting.value), sources=sources)
        return
    if any(not kernel.certain for kernel in kernels):
        return  # AMD's DKMS driver, which could not be inspected, has parameters of its own
    holds = True if kernels else None  # a kernel that is not known here may have it
    elsewhere = next((p for p in catalogue.parameters.values() if p.name == setting.name), None)
    if elsewhere is not None:
        yield Verdict(About.MISNAMED, holds, instead=parameter(elsewhere.id, setting.value))
        return
    near = tuple(
        closest(setting.name, [p.name for p in catalogue.parameters.values() if p.module == setting.module])
    )
    sure = near and names.slips(setting.name, near[0], 2) <= 2
    right = parameter(f"{setting.module}.{near[0]}", setting.value) if sure else None
    yield Verdict(About.UNKNOWN, holds, instead=right, names=near, kernels=_releases(kernels))


def _lifetime(parameter: Parameter) -> str:
    if parameter.dkms_only:
        return "Only AMD's DKMS driver has it."
    sentences = [f"It was added in {parameter.since}."] if parameter.since else []
    sentences += [f"It was removed in {parameter.removed}."] if parameter.removed else []
    return " ".join(sentences)


def of_the_value(setting: Spelling, machine: Machine, catalogue: Catalogue, beside: str) -> Iterator[Verdict]:
    parameter = catalogue.parameters.get(setting.id)
    if setting.name in _OF_EVERY_MODULE:
        return
    kernels = declarations(setting.id, machine, catalogue)
    present = [kernel for kernel in kernels if kernel.types]
    if kernels and not present:
        if parameter is not None and any(not kernel.certain for kernel in kernels):
            yield from no_effect(parameter, machine)  # true for any type that the driver may declare
        return
    number = octal(setting.value)
    if number is not None and any(type in NUMBERS for kernel in present for type in kernel.types):
        sign = "-" if number < 0 else ""
        plain = setting._replace(value=sign + (setting.value or "").lstrip("+-0"))
        yield Verdict(About.OCTAL, why=str(number), instead=plain)
    refused = [
        _in_hexadecimal(verdict, setting, parameter, present)
        for verdict in _refused(setting.value, parameter, present)
    ]
    yield from refused
    if parameter is None or any(verdict.holds for verdict in refused):
        return
    traps = traps_of(setting, parameter, machine, beside)
    yield from meanings(traps, parameter, machine)
    if tainted := [kernel for kernel in present if kernel.taints]:
        others = _releases(kernel for kernel in present if not kernel.taints)
        yield Verdict(About.TAINTS, kernels=_releases(tainted), others=others, sources=parameter.sources)
    if parameter.mask:
        yield from _of_a_mask(setting, parameter, machine, catalogue)
    variants = [variant for kernel in present for variant in kernel.variants]
    if (
        setting.value is not None
        and variants
        and all(same(variant.default, setting.value) for variant in variants)
        and not any(trap.trap_kind in ("default", "inverted") for trap in traps)
    ):
        yield Verdict(About.DEFAULT, why=parameter.summary, sources=parameter.sources)


def _in_hexadecimal(
    verdict: Verdict, setting: Spelling, parameter: Parameter | None, present: Sequence[Declaration]
) -> Verdict:
    """Propose 0x before the digits of a mask, if the kernels accept that."""
    text = f"0x{setting.value}"
    if (
        parameter is None
        or not parameter.mask
        or not verdict.holds
        or not _DIGITS.fullmatch(setting.value or "")
    ):
        return verdict
    if any(kernel.reasons(text) for kernel in present):
        return verdict
    return verdict._replace(instead=setting._replace(value=text))


def _refused(
    text: str | None, parameter: Parameter | None, present: Sequence[Declaration]
) -> Iterator[Verdict]:
    """Yield verdicts on a value that stops the module from loading; it is certain if the kernel refuses the
    value for every type that the parameter may have."""
    sources = parameter.sources if parameter is not None else ()
    certain = [kernel for kernel in present if kernel.typed and kernel.refuses(text)]
    if any(kernel.span for kernel in certain) and len(certain) < len(present):
        certain = []  # no particular machine: the value is right for some kernel
    doubtful = [kernel for kernel in present if not kernel.span and kernel.reasons(text)]
    for holds, refusing in ((True, certain), (None, () if certain else doubtful)):
        if refusing:
            examples = refusing[:1] if refusing[0].span else refusing
            why = "; ".join(dict.fromkeys(kernel.reasons(text)[0] for kernel in examples))
            others = _releases(
                kernel for kernel in present if kernel not in refusing and not kernel.reasons(text)
            )
            by = _releases(refusing)
            yield Verdict(About.ILLEGAL, holds, why, kernels=by, others=others, sources=sources)
    number = as_number(text)
    if not certain and parameter is not None and parameter.bounds is not None and number is not None:
        low, high = parameter.bounds
        if not low <= number <= high:
            yield Verdict(
                About.OUT_OF_RANGE, why=parameter.summary, names=(str(low), str(high)), sources=sources
            )


def _releases(kernels: Iterable[Declaration]) -> tuple[str, ...]:
    return tuple(kernel.release for kernel in kernels)


def starting_mask(
    parameter: Parameter, configured: Effective, kernels: Sequence[Kernel], location: str
) -> tuple[int | None, str, list[Diagnostic]]:
    """Return the mask to start from (None if the configured value is not a mask), where it comes from, and
    diagnostics. If nothing is `configured`, it is the kernel's default; the newest kernel's, if they
    differ."""
    if configured.value is not None:
        number = as_number(configured.value)
        if number is not None and number >= 0:
            return number, configured.source, []
        summary = f"{parameter.id}={configured.value} is not a mask and would stop the driver from loading"
        problem = error("RC2022", summary, location=configured.source, hint="fix or remove it there first")
        return None, "", [problem]
    defaults: dict[int, list[str]] = {}
    for kernel in kernels:
        for default in {v.default for v in parameter.on(kernel.version).variants}:
            defaults.setdefault(as_number(default) or 0, []).append(kernel.release)
    newest = default_mask(parameter, kernels if defaults else ()) or 0
    if len(defaults) < 2:
        return newest, "the kernel's default", []
    summary = f"the installed kernels have different defaults for {parameter.id}; the newest kernel's is used"
    detail = ", ".join(f"{hexint(mask)} on {', '.join(named)}" for mask, named in defaults.items())
    remark = info("RC2023", summary, location=location, detail=detail)
    return newest, "the kernel's default", [remark]


def default_mask(parameter: Parameter, kernels: Sequence[Kernel]) -> int | None:
    """Return the default of the newest kernel that has the parameter; if no kernel is known, of the newest
    one in the catalogue."""
    for version in reversed([kernel.version for kernel in kernels] or [max(parameter.builds)]):
        if variants := parameter.on(version).variants:
            return as_number(variants[-1].default)
    return None


def is_default(setting: Spelling, kernels: Sequence[Kernel], catalogue: Catalogue) -> bool:
    """Return whether a setting has the value that it would have if nothing set it."""
    feature = catalogue.features.get(setting.name) if setting.kind is Kind.FEATURE else None
    parameter = catalogue.parameters.get(feature.parameter if feature else setting.id)
    default = default_mask(parameter, kernels) if parameter else None
    return bool(parameter and default is not None and reaches(setting, parameter.id, str(default), catalogue))


def reaches(setting: Spelling, id: str, text: str | None, catalogue: Catalogue) -> bool:
    """Return whether the value `text` of the parameter `id` has the effect of a setting, which may be a
    feature of the mask."""
    feature = catalogue.features.get(setting.name) if setting.kind is Kind.FEATURE else None
    if feature is not None and id == feature.parameter:
        return feature.is_on(as_number(text)) is setting.enabled
    return id == setting.id and (text is None if setting.value is None else same(text or "", setting.value))


def goes_as_far(setting: Spelling, id: str, text: str | None, catalogue: Catalogue) -> bool:
    """Return whether the value `text` of the parameter `id` has the effect of a setting, or as a limit goes
    beyond it."""
    if reaches(setting, id, text, catalogue):
        return True
    parameter = catalogue.parameters.get(id) if id == setting.id else None
    wanted, number = as_number(setting.value), as_number(text)
    if parameter is None or not parameter.limit or wanted is None or number is None:
        return False
    return 0 < wanted <= number


def features_of(parameter: Parameter, catalogue: Catalogue) -> list[Feature]:
    if not parameter.mask:
        return []
    return [feature for feature in catalogue.features.values() if feature.parameter == parameter.id]


def _of_a_mask(
    setting: Spelling, parameter: Parameter, machine: Machine, catalogue: Catalogue
) -> Iterator[Verdict]:
    """Yield verdicts on a mask. A mask that switches one feature is intended. A mask that turns on a feature
    that is off by default, and changes another one as well, was probably copied with more than its user
    wants."""
    features = features_of(parameter, catalogue)
    mask, default = as_number(setting.value), default_mask(parameter, machine.kernels)
    if mask is None or mask < 0 or default is None or not features:
        return
    changed = [f for f in features if (mask ^ default) & f.bit]
    on = [f for f in changed if f.is_on(mask)]
    off = [f for f in changed if not f.is_on(mask)]
    unnamed = (mask ^ default) & ~sum(f.bit for f in features)
    if (on and len(changed) > 1) or unnamed & mask & ~default & 0xFFFFFFFF:
        effects = [f"turns {f.name} {'on' if f in on else 'off'}" for f in (*off, *on)]
        if len(off) > _TOLD:
            effects[_TOLD - 1 : len(off)] = [f"turns off {len(off) - _TOLD + 1} more features"]
            changed = on
        if unnamed:
            effects.append(f"changes unnamed bits ({unnamed:#x})")
        alone = "; ".join(
            f"{f.name} {'on' if f in on else 'off'} alone is {hexint(default ^ f.bit)}" for f in changed
        )
        why = f"These are its changes from the default {hexint(default)}. {alone[:1].upper()}{alone[1:]}."
        meant = _meant(setting, parameter, catalogue, mask, default, on)
        yield Verdict(About.SIDE_EFFECT, True, why, meant, names=tuple(effects), sources=parameter.sources)
    for feature in features:
        if feature.is_on(mask):
            yield from (verdict._replace(sources=parameter.sources) for verdict in taint(feature, machine))
        elif feature.is_on(default):
            yield from loses(feature, machine)


def _meant(
    setting: Spelling, parameter: Parameter, catalogue: Catalogue, mask: int, default: int, on: list[Feature]
) -> Spelling | None:
    """Return the mask that the author meant, if it can be determined. The catalogue lists the accidental bits
    of masks that are copied from post to post. A mask without any bit of the default was meant as an addition
    to it. Every other mask is assumed to be intended."""
    accidents = parameter.copied.get(mask)
    if accidents is not None:
        for name in catalogue.features.keys() & accidents:
            bit = catalogue.features[name].bit
            mask = mask & ~bit | default & bit
        return None if mask == default else setting._replace(value=hexint(mask))
    if mask & default or not default or not on:
        return None
    return setting._replace(value=hexint(default | mask))
