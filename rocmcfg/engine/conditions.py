"""Whether a setting is needed on this host. Three answers: yes, no, and cannot be told (then it applies)."""

from __future__ import annotations

from dataclasses import dataclass

from rocmcfg.model.catalogue import Catalogue, Fix
from rocmcfg.model.facts import Facts, Kernel
from rocmcfg.model.profile import Condition
from rocmcfg.model.version import VersionRange, format_version


@dataclass(frozen=True, slots=True)
class Decision:
    """`holds` is None where it cannot be told; `why` is a phrase for the reader."""

    holds: bool | None
    why: str


def decide(condition: Condition, facts: Facts, catalogue: Catalogue) -> Decision:
    """All parts must hold: one that does not decides, then one that cannot be told."""
    parts = []
    if condition.lacks_fix:
        parts.append(_lacks_fix(catalogue.fixes[condition.lacks_fix], facts))
    if condition.kernel:
        parts.append(_kernel(condition.kernel, facts))
    if condition.rocm:
        parts.append(_rocm(condition.rocm, facts))
    if condition.gfx:
        parts.append(_gfx(condition.gfx, facts))
    refused = [part for part in parts if part.holds is False]
    open_parts = [part for part in parts if part.holds is None]
    if refused:
        return Decision(False, "; ".join(part.why for part in refused))
    if open_parts:
        return Decision(None, "; ".join(part.why for part in open_parts))
    return Decision(True, "; ".join(part.why for part in parts))


def _lacks_fix(fix: Fix, facts: Facts) -> Decision:
    kernels = facts.driven or facts.kernels
    if not kernels:
        return Decision(None, f"no kernel to ask for the fix {fix.name}")
    standing = {kernel.release: _has(fix, kernel, facts) for kernel in kernels}
    lacking = [release for release, has in standing.items() if has is False]
    unknown = [release for release, has in standing.items() if has is None]
    if lacking:
        lack = "lacks" if len(lacking) == 1 else "lack"
        return Decision(True, f"{_kernels(lacking)} {lack} the fix {fix.name}")
    if unknown:
        return Decision(None, f"whether kernel {', '.join(unknown)} has the fix {fix.name} cannot be told")
    return Decision(False, f"every installed kernel has the fix {fix.name} ({', '.join(standing)})")


def _has(fix: Fix, kernel: Kernel, facts: Facts) -> bool | None:
    nodes = [gpu.properties for gpu in facts.gpus if gpu.properties]
    if kernel.running and fix.kfd_property and nodes:
        # The running driver itself tells, also where a distribution backported the fix or DKMS replaced it.
        return any(fix.kfd_property in properties for properties in nodes)
    return None if kernel.dkms else fix.present_in(kernel.version)


def _kernel(wanted: VersionRange, facts: Facts) -> Decision:
    kernels = facts.driven or facts.kernels
    if not kernels:
        return Decision(None, "no kernel to compare")
    inside = [k.release for k in kernels if wanted.contains(k.version.numbers[:3])]
    if inside:
        return Decision(True, f"{_kernels(inside)} {'is' if len(inside) == 1 else 'are'} {wanted.text}")
    return Decision(False, f"no installed kernel is {wanted.text}")


def _kernels(releases: list[str]) -> str:
    return f"kernel{'' if len(releases) == 1 else 's'} {', '.join(releases)}"


def _rocm(wanted: VersionRange, facts: Facts) -> Decision:
    if facts.rocm is None:
        return Decision(None, "no system-wide ROCm tells its version")
    found = format_version(facts.rocm)
    if wanted.contains(facts.rocm):
        return Decision(True, f"ROCm {found} is {wanted.text}")
    return Decision(False, f"ROCm {found} is not {wanted.text}")


def _gfx(wanted: tuple[str, ...], facts: Facts) -> Decision:
    if not facts.gfx:
        return Decision(None, "no GPU to compare")
    common = [gfx for gfx in facts.gfx if gfx in wanted]
    if common:
        return Decision(True, f"{', '.join(common)} is present")
    return Decision(False, f"none of {', '.join(wanted)} is present")
