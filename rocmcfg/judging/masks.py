"""Feature masks: what a whole mask changes besides what it is copied for, and the value that a host has
without us, onto which our bits are composed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.model.catalogue import Catalogue, Feature, Parameter
from rocmcfg.model.diagnostic import Diagnostic, error, info
from rocmcfg.model.facts import Kernel, Machine
from rocmcfg.model.spelling import Spelling, as_number, hexint
from rocmcfg.state.values import Effective


def starting_mask(
    parameter: Parameter, configured: Effective, kernels: Sequence[Kernel], location: str
) -> tuple[int | None, str, list[Diagnostic]]:
    """The mask, where it comes from, and what is wrong; the mask is None where nothing can be built on it.

    `configured` is what others set; without it the kernels' default counts, the newest one's where they
    differ.
    """
    if configured.value is not None:
        number = as_number(configured.value)
        if number is not None and number >= 0:
            return number, configured.source, []
        problem = error(
            "RC2022",
            f"{parameter.id}={configured.value} is no mask, and would stop the driver from loading",
            location=configured.source,
            hint="mend or remove it there first",
        )
        return None, "", [problem]
    defaults: dict[int, list[str]] = {}
    for kernel in kernels:
        standing = parameter.on(kernel.version)
        for default in {v.default for v in standing.variants}:
            defaults.setdefault(as_number(default) or 0, []).append(kernel.release)
    newest = default_mask(parameter, kernels if defaults else ()) or 0
    if len(defaults) < 2:
        return newest, "the kernel's default", []
    remark = info(
        "RC2023",
        f"the default of {parameter.id} differs between the installed kernels; the newest one's is used",
        location=location,
        detail=", ".join(f"{hexint(mask)} on {', '.join(named)}" for mask, named in defaults.items()),
    )
    return newest, "the kernel's default", [remark]


_TOLD = 4  # features that a mask turns off


def default_mask(parameter: Parameter, kernels: Sequence[Kernel]) -> int | None:
    """Of the newest kernel that has the parameter; where none is known, of the newest that was read."""
    versions = [kernel.version for kernel in kernels] or [max(parameter.builds)]
    for version in reversed(versions):
        if variants := parameter.on(version).variants:
            return as_number(variants[-1].default)
    return None


def features_of(parameter: Parameter, known: Catalogue) -> list[Feature]:
    if not parameter.mask:
        return []
    return [feature for feature in known.features.values() if feature.parameter == parameter.id]


def of_a_mask(asked: Spelling, parameter: Parameter, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
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
        yield Verdict(
            About.SIDE_EFFECT,
            why=f"That is what it changes against the default {hexint(default)}. "
            f"{alone[:1].upper()}{alone[1:]}.",
            instead=_meant(asked, parameter, known, mask, default, on),
            names=tuple(said),
            sources=parameter.sources,
        )
    for feature in features:
        if feature.taints and feature.is_on(mask) and machine.runs(feature.taints) is not False:
            yield Verdict(
                About.FEATURE_TAINTS,
                machine.runs(feature.taints),
                feature.summary,
                names=(feature.name, feature.taints),
                sources=parameter.sources,
            )


def _meant(
    asked: Spelling, parameter: Parameter, known: Catalogue, mask: int, default: int, on: list[Feature]
) -> Spelling | None:
    """What the author of the mask had in mind, where that can be told.

    Of a mask that goes from post to post it is known what is in it by accident. Where no bit of the default
    is left, somebody wrote the bits that he wants, and took the number for a list of additions. Every other
    mask is taken to be meant as it is.
    """
    accidents = parameter.describe().copied.get(mask)
    if accidents is not None:
        for name in accidents:
            bit = known.features[name].bit
            mask = mask & ~bit | default & bit
        return None if mask == default else asked._replace(value=hexint(mask))
    if mask & default or not on:
        return None
    return asked._replace(value=hexint(default | mask))
