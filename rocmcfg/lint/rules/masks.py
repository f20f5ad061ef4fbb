"""Feature masks: what a whole mask changes besides what it is copied for."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.lint.assignment import Assignment
from rocmcfg.lint.rules.machine import Machine
from rocmcfg.lint.verdict import Verdict, warning
from rocmcfg.model.catalogue import Catalogue, Feature, Parameter
from rocmcfg.model.value import as_number, hexint
from rocmcfg.model.version import parse_range

_TOLD = 4  # features that a mask turns off


def default_mask(parameter: Parameter, machine: Machine) -> int | None:
    """Of the newest kernel of the machine, or of all."""
    versions = [kernel.version for kernel in machine.kernels] or [max(parameter.builds)]
    for version in reversed(versions):
        if variants := parameter.on(version).variants:
            return as_number(variants[-1].default)
    return None


def judge(found: Assignment, parameter: Parameter, known: Catalogue, machine: Machine) -> Iterator[Verdict]:
    """One feature switched is what somebody wants. A mask that turns on what is off by default, and something
    else beside it, was copied with more than its reader wants."""
    features = [f for f in known.features.values() if f.parameter == parameter.id]
    mask, default = as_number(found.value), default_mask(parameter, machine)
    if mask is None or mask < 0 or default is None or not features or mask == default:
        return
    changed = [f for f in features if (mask ^ default) & f.bit]
    on = [f for f in changed if _state(f, mask)]
    off = [f for f in changed if not _state(f, mask)]
    unnamed = (mask ^ default) & ~sum(f.bit for f in features)
    if (on and len(changed) > 1) or unnamed & mask & ~default & 0xFFFFFFFF:
        said = [f"turns {f.name} {'on' if f in on else 'off'}" for f in (*off, *on)]
        if len(off) > _TOLD:
            said[_TOLD - 1 : len(off)] = [f"turns {len(off) - _TOLD + 1} more features off"]
            changed = on
        if unnamed:
            said.append(f"changes bits without a name ({unnamed:#x})")
        tail = f"against the default {hexint(default)}"
        alone = "; ".join(
            f"{f.name} {'on' if f in on else 'off'} alone is {_alone(f, default)}" for f in changed
        )
        yield warning(
            "RC7110",
            f"{parameter.id}={found.value} {_listed(said)}",
            why=f"That is what it changes {tail}. {alone[:1].upper()}{alone[1:]}.",
            instead=_meant(parameter, known, mask, default, on),
            sources=parameter.sources,
        )
    if tainting := [f for f in on if f.taints and _taints(f, machine)]:
        yield warning(
            "RC7108",
            f"{parameter.id}={found.value} turns {tainting[0].name} on and taints the kernel",
            why=f"Kernels {tainting[0].taints} do so. {tainting[0].summary}",
            sources=parameter.sources,
        )


def _meant(parameter: Parameter, known: Catalogue, mask: int, default: int, on: list[Feature]) -> str | None:
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
        return None if mask == default else f"{parameter.id}={hexint(mask)}"
    if mask & default or not on:
        return None
    return f"{parameter.id}={hexint(default | mask)}"


def _state(feature: Feature, mask: int) -> bool:
    return bool(mask & feature.bit) == feature.set_means_on


def _alone(feature: Feature, default: int) -> str:
    return hexint(default ^ feature.bit)


def _taints(feature: Feature, machine: Machine) -> bool:
    if not machine.kernels:
        return True
    wanted = parse_range(feature.taints)
    return any(wanted.contains(kernel.version.numbers[:3]) for kernel in machine.kernels)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
