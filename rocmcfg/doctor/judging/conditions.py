"""Whether a known issue can be on the machine that wrote a log, and whether it is fixed there. Three answers:
yes, no, and cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.facts import Facts, Kernel
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.version import KernelVersion, VersionRange, between, format_version, parse_kernel, within

if TYPE_CHECKING:
    from rocmcfg.doctor.judging.origin import Origin


class Reason(NamedTuple):
    """A part of the judgement on an issue. `met` is None where it cannot be told."""

    what: str
    met: bool | None
    text: str


def conditions(issue: KnownIssue, where: Origin, position: int) -> list[Reason]:
    """Each condition that the issue states, as it is on the machine and in the boot that wrote the line."""
    found = []
    if issue.gfx:
        found.append(_gfx(issue, where))
    release, source = where.kernel_at(position)
    version = parse_kernel(release)
    if issue.kernel:
        found.append(_kernel(issue.kernel, version, release, source, where.dkms))
    if issue.rocm:
        found.append(_rocm(issue.rocm, where))
    if issue.several_gpus and where.host and where.host.gpus:
        count = len(where.host.computing)
        found.append(Reason("gpus", count > 1, f"reported with several GPUs; this host has {count}"))
    return found


def _gfx(issue: KnownIssue, where: Origin) -> Reason:
    wanted = ", ".join(issue.gfx)
    if where.gfx:
        common = [gfx for gfx in where.gfx if matches(gfx, issue.gfx)]
        if common:
            return Reason("gfx", True, f"{', '.join(common)} ({where.gfx_source}) is affected")
        seen = ", ".join(where.gfx)
        return Reason("gfx", False, f"reported on {wanted}, not on {seen} ({where.gfx_source})")
    if where.possible:
        common = [gfx for gfx in where.possible if matches(gfx, issue.gfx)]
        if not common:
            return Reason("gfx", False, f"reported on {wanted}; the log is of another generation")
        if len(common) == len(where.possible):
            return Reason("gfx", True, f"the log is of a generation that is affected ({wanted})")
        return Reason("gfx-generation", None, f"the log is of the generation of {', '.join(common)}")
    return Reason("gfx", None, f"it is known of {wanted}; which GPU it was cannot be told")


def _kernel(
    wanted: VersionRange, version: KernelVersion | None, release: str, source: str, dkms: str
) -> Reason:
    if version is None:
        return Reason("kernel", None, f"it is known of kernels {wanted.text}; which it was cannot be told")
    if dkms:
        return Reason(
            "kernel", None, f"kernels {wanted.text}; AMD's DKMS driver stands in for that of {release}"
        )
    inside = within(wanted, version)
    if inside is None:
        return Reason("kernel", None, f"kernels {wanted.text}; {release} hides its stable release")
    said = f"kernel {release} ({source}) {'is' if inside else 'is not'} {wanted.text}"
    return Reason("kernel", inside, said)


def _rocm(wanted: VersionRange, where: Origin) -> Reason:
    if where.rocm is None:
        return Reason("rocm", None, f"it is known of ROCm {wanted.text}; which it was cannot be told")
    inside = between(wanted, where.rocm, where.rocm_up_to or where.rocm)
    if inside is None:
        found = f"ROCm {format_version(where.rocm)} ({where.rocm_source})"
        return Reason("rocm", None, f"it is known of ROCm {wanted.text}; {found} does not tell enough")
    said = f"ROCm {format_version(where.rocm)} ({where.rocm_source}) {'is' if inside else 'is not'}"
    return Reason("rocm", inside, f"{said} {wanted.text}")


def fixes(issue: KnownIssue, where: Origin, position: int, known: Catalogue) -> list[Reason]:
    """Where kernel or ROCm carry the fix already: `met` is False for what speaks against the issue."""
    kernel, kernel_why = _kernel_fixed(issue, where, position, known)
    rocm = None
    if issue.fixed_rocm and where.rocm:
        rocm = between(issue.fixed_rocm, where.rocm, where.rocm_up_to or where.rocm)
    halves = [kernel_why] if kernel else []
    if rocm and where.rocm:
        halves.append(f"ROCm {format_version(where.rocm)} ({where.rocm_source}) has the fix")
    if not halves:
        return []
    if issue.fixed_by == "both" and not (kernel and rocm):
        rest = "ROCm" if kernel else "the kernel"
        return [Reason("fix", None, f"{halves[0]}; {rest} needs its half too")]
    return [Reason("fix", False, "; ".join(halves))]


def _kernel_fixed(
    issue: KnownIssue, where: Origin, position: int, known: Catalogue
) -> tuple[bool | None, str]:
    release, source = where.kernel_at(position)
    version = parse_kernel(release)
    if version is None:
        return None, ""
    fix = known.fixes.get(issue.lacks_fix)
    running = _running(where.host, release)
    if fix and fix.kfd_property and running and where.host and any(g.properties for g in where.host.gpus):
        present: bool | None = any(fix.kfd_property in gpu.properties for gpu in where.host.gpus)
        return present, f"the running driver has the fix ({fix.kfd_property} in the KFD topology)"
    if where.dkms:
        return None, ""
    said = f"kernel {release} ({source}) has the fix"
    if fix:
        return fix.present_in(version), said
    return (within(issue.fixed_kernels, version), said) if issue.fixed_kernels else (None, "")


def _running(host: Facts | None, release: str) -> Kernel | None:
    kernels: Sequence[Kernel] = host.kernels if host else ()
    return next((kernel for kernel in kernels if kernel.running and kernel.release == release), None)
