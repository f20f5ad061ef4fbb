"""On which machine a log was written, and whether an issue can be there: options first, then the log, then
this host. Three answers again: yes, no, and cannot be told."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from rocmcfg.doctor.log_facts import LogFacts
from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.facts import Facts, Kernel
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.version import (
    KernelVersion,
    Version,
    VersionRange,
    between,
    compare,
    format_version,
    parse_kernel,
    span,
    within,
)


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of the judgement on an issue. `met` is None where it cannot be told."""

    what: str
    met: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Options:
    """What the user says of the machine; empty or None where nothing is said."""

    gfx: tuple[str, ...] = ()
    kernel: str = ""
    rocm: Version | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """`host` is None where the logs are certainly another machine's, so that this host says nothing of them.
    `gfx` are the targets, `possible` those that it may be where only a generation is known. `same_boots`: the
    logs may be of kernels that this host has, so that what runs here now says something of them. `rocm_up_to`
    is given where `rocm` is only the oldest that it may be.
    """

    options: Options
    log: LogFacts
    host: Facts | None
    gfx: tuple[str, ...]
    gfx_source: str
    possible: tuple[str, ...]
    rocm: Version | None
    rocm_source: str
    dkms: str
    same_boots: bool
    rocm_up_to: Version | None = None

    def kernel_at(self, position: int) -> tuple[str, str]:
        """The release that wrote a line, and who says so."""
        if self.options.kernel:
            return self.options.kernel, "--kernel"
        said = self.log.kernel_at(position)
        if said:
            return said, "the log"
        return (self.host.running, "this host") if self.host and self.host.running else ("", "")


def circumstances(options: Options, log: LogFacts, host: Facts) -> Circumstances:
    """Where the options or the log name a GPU that this host has not, it is another machine's."""
    here = None if _is_foreign(options.gfx or log.gfx or log.family, host) else host
    gfx, source = options.gfx, "--gfx"
    possible: tuple[str, ...] = ()
    if not gfx:
        gfx, source = log.gfx, "the log"
    if not gfx and here and here.gfx:
        fitting = tuple(g for g in here.gfx if not log.family or g in log.family)
        gfx, source = fitting or here.gfx, "this host"
    if not gfx:
        possible, source = log.family, "the log" if log.family else ""
    rocm, rocm_source = options.rocm, "--rocm"
    if rocm is None:
        rocm, rocm_source = log.rocm, "the log"
    if rocm is None and not log.rocm_named:
        rocm, rocm_source = (here.rocm, "this host") if here and here.rocm else (None, "")
    up_to = None
    if rocm is None and not log.rocm_named and here:
        rocm, up_to, rocm_source = _of_wheels(here)
    rocm_source = rocm_source if rocm else ""
    dkms = log.dkms or ("of this host" if here and _runs_dkms(here) else "")
    same_boots = here is not None and not options.gfx and not options.kernel and _has_kernels(log, host)
    return Circumstances(
        options, log, here, gfx, source, possible, rocm, rocm_source, dkms, same_boots, up_to
    )


def _of_wheels(host: Facts) -> tuple[Version | None, Version | None, str]:
    """The ROCm that PyTorch brings, from the oldest to the newest that it may be, and who says so."""
    torches = [torch for torch in host.pytorch if torch.rocm]
    if not torches:
        return None, None, ""
    order = functools.cmp_to_key(compare)
    spans = [span(torch.rocm) for torch in torches if torch.rocm]
    said = ", ".join(dict.fromkeys(f"PyTorch {torch.text}" for torch in torches))
    return min((s[0] for s in spans), key=order), max((s[1] for s in spans), key=order), said


def _is_foreign(gfx: Sequence[str], host: Facts) -> bool:
    if host.offline and not host.gpus:  # a disk shows no GPU
        return False
    return bool(gfx) and not set(gfx) & set(host.gfx)


def _has_kernels(log: LogFacts, host: Facts) -> bool:
    installed = {kernel.release for kernel in host.kernels} | {host.running}
    return not log.kernels or any(kernel.text in installed for kernel in log.kernels)


def _runs_dkms(host: Facts) -> bool:
    return any(kernel.running and kernel.dkms for kernel in host.kernels)


# -- conditions -------------------------------------------------------------------------------------------


def conditions(issue: KnownIssue, where: Circumstances, position: int) -> list[Reason]:
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


def _gfx(issue: KnownIssue, where: Circumstances) -> Reason:
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


def _rocm(wanted: VersionRange, where: Circumstances) -> Reason:
    if where.rocm is None:
        return Reason("rocm", None, f"it is known of ROCm {wanted.text}; which it was cannot be told")
    inside = between(wanted, where.rocm, where.rocm_up_to or where.rocm)
    if inside is None:
        found = f"ROCm {format_version(where.rocm)} ({where.rocm_source})"
        return Reason("rocm", None, f"it is known of ROCm {wanted.text}; {found} does not tell enough")
    said = f"ROCm {format_version(where.rocm)} ({where.rocm_source}) {'is' if inside else 'is not'}"
    return Reason("rocm", inside, f"{said} {wanted.text}")


# -- fixes ------------------------------------------------------------------------------------------------


def fixes(issue: KnownIssue, where: Circumstances, position: int, known: Catalogue) -> list[Reason]:
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
    issue: KnownIssue, where: Circumstances, position: int, known: Catalogue
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
