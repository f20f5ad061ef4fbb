"""Whether a known issue can be on the machine that wrote a log, or on this host, and whether it is fixed
there. Three answers: yes, no, and cannot be told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rocmcfg.doctor.judging.origin import Options, Origin, origin
from rocmcfg.doctor.reading.log_facts import LogFacts
from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.facts import Facts
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.version import VersionRange, between, format_version, parse_kernel


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
    if issue.kernel:
        found.append(_kernel(issue.kernel, where, position))
    if issue.rocm:
        found.append(_rocm(issue.rocm, where))
    if issue.several_gpus and where.host and where.host.gpus:
        count = len(where.host.computing)
        found.append(Reason("gpus", count > 1, f"reported with several GPUs; this host has {count}"))
    return found


def _gfx(issue: KnownIssue, where: Origin) -> Reason:
    wanted = ", ".join(issue.gfx)
    common = [gfx for gfx in where.gfx or where.possible if matches(gfx, issue.gfx)]
    affected = ", ".join(common)
    if where.gfx and common:
        return Reason("gfx", True, f"{affected} ({where.gfx_source}) is affected")
    if where.gfx:
        seen = ", ".join(where.gfx)
        return Reason("gfx", False, f"reported on {wanted}, not on {seen} ({where.gfx_source})")
    if not where.possible:
        return Reason("gfx", None, f"it is known of {wanted}; which GPU it was cannot be told")
    if not common:
        return Reason("gfx", False, f"reported on {wanted}; the log is of another generation")
    if len(common) == len(where.possible):
        return Reason("gfx", True, f"the log is of a generation that is affected ({wanted})")
    return Reason("gfx-generation", None, f"the log is of the generation of {affected}")


def _kernel(wanted: VersionRange, where: Origin, position: int) -> Reason:
    release, source = where.kernel_at(position)
    version = parse_kernel(release)
    inside = between(wanted, *version.span) if version and not where.dkms else None
    if version is None:
        said = f"it is known of kernels {wanted.text}; which it was cannot be told"
    elif where.dkms:
        said = f"kernels {wanted.text}; AMD's DKMS driver stands in for that of {release}"
    elif inside is None:
        said = f"kernels {wanted.text}; {release} hides its stable release"
    else:
        said = f"kernel {release} ({source}){'' if inside else ' is not affected'} (affected: {wanted.text})"
    return Reason("kernel", inside, said)


def _rocm(wanted: VersionRange, where: Origin) -> Reason:
    inside = where.rocm_is(wanted)
    found = f"ROCm {format_version(where.rocm)} ({where.rocm_source})" if where.rocm else ""
    if not found:
        said = f"it is known of ROCm {wanted.text}; which it was cannot be told"
    elif inside is None:
        said = f"it is known of ROCm {wanted.text}; {found} does not tell enough"
    else:
        said = f"{found}{'' if inside else ' is not affected'} (affected: {wanted.text})"
    return Reason("rocm", inside, said)


def fixes(issue: KnownIssue, where: Origin, position: int, known: Catalogue) -> list[Reason]:
    """Where kernel or ROCm carry the fix already: `met` is False for what speaks against the issue."""
    kernel, kernel_why = _kernel_fixed(issue, where, position, known)
    rocm = where.rocm_is(issue.fixed_rocm)
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
    properties = _properties(where.host, release)
    if fix and fix.kfd_property and properties:
        told = f"the running driver has the fix ({fix.kfd_property} in the KFD topology)"
        return fix.kfd_property in properties, told
    if where.dkms:
        return None, ""
    said = f"kernel {release} ({source}) has the fix"
    if fix:
        return fix.present_in(version), said
    return (between(issue.fixed_kernels, *version.span), said) if issue.fixed_kernels else (None, "")


def _properties(host: Facts | None, release: str) -> set[str]:
    """What the driver says of the GPUs, where it is that of the release."""
    if host is None or not any(kernel.running and kernel.release == release for kernel in host.kernels):
        return set()
    return {name for gpu in host.gpus for name in gpu.properties}


def known_here(issues: Iterable[KnownIssue], host: Facts, known: Catalogue) -> tuple[KnownIssue, ...]:
    """Faults known of this host's GPUs, on its running kernel and ROCm, and not fixed there.

    Only what is certain: an issue with a condition that cannot be told is left out, for it would be shown to
    nearly everybody.
    """
    where = origin(Options(), LogFacts(), host)
    stated = (issue for issue in issues if issue.gfx or issue.kernel or issue.rocm)
    return tuple(issue for issue in stated if host.gfx and is_certain(issue, where, 0, known))


def is_certain(issue: KnownIssue, where: Origin, position: int, known: Catalogue) -> bool:
    """Whether it is a fault whose conditions are all met there, and not fixed."""
    if issue.kind != "fault" or issue.confidence == "unverified":
        return False
    fixed = any(reason.met is False for reason in fixes(issue, where, position, known))
    return not fixed and all(reason.met for reason in conditions(issue, where, position))
