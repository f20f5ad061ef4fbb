"""Determine the machine that wrote a log, from the options, else the log, else this host; and the known
issues that it can have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from rocmcfg.advice.doctor.reading.log_facts import LogFacts
from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.facts import ROCM_NAMED, Facts
from rocmcfg.model.fix import Fix
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.version import Version, VersionRange, format_version, parse_kernel, rocm_order, span


class Options(NamedTuple):
    """The machine as the user describes it; empty or None for everything that the user does not say."""

    gfx: tuple[str, ...] = ()
    kernel: str = ""
    rocm: Version | None = None


_THIS_HOST = Options()


class Origin(NamedTuple):
    """The machine that wrote a log. `host` is None if the logs are certainly from another machine, so this
    host reveals nothing about it. `gfx` are its GPU targets, `possible` the targets that it may have if only
    the generation is known. `same_boots`: the logs may come from kernels that this host has, so the running
    values say something about them. `rocm_up_to` is set if `rocm` is only the oldest release that it may be.
    `doubts` are signs that the log is from another machine, which do not prove it."""

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
    doubts: tuple[str, ...] = ()

    def kernel_at(self, position: int) -> tuple[str, str]:
        """Return the kernel release that wrote a line, and the source of that knowledge."""
        if self.options.kernel:
            return self.options.kernel, "--kernel"
        release = self.log.kernel_at(position)
        if release:
            return release, "the log"
        return (self.host.running, "this host") if self.host and self.host.running else ("", "")

    def rocm_is(self, wanted: VersionRange | None) -> bool | None:
        """Return whether its ROCm is in a range; None if that is unknown."""
        return wanted.between(self.rocm, self.rocm_up_to or self.rocm) if wanted and self.rocm else None


def origin(
    options: Options,
    log: LogFacts,
    host: Facts,
    *,
    named: bool = False,
    host_name: str = "",
    running_boot: str = "",
) -> Origin:
    """Return the machine that wrote a log. It is another machine if the options or the log name a GPU, or the
    log the address of a GPU, that this host does not have, or if the log was `named` on a host without a
    GPU. A log of the `running_boot`, whose id has no dashes, is certainly this host's."""
    named = named and (not running_boot or running_boot not in log.boots)
    foreign = _is_foreign(options.gfx or log.gfx or log.family, host, named)
    here = None if foreign or (named and _is_elsewhere(log, host)) else host
    possible: tuple[str, ...] = ()
    if options.gfx:
        gfx, source = options.gfx, "--gfx"
    elif log.gfx:
        gfx, source = log.gfx, "the log"
    elif here and here.gfx:
        fitting = tuple(g for g in here.gfx if not log.family or g in log.family)
        gfx, source = fitting or here.gfx, "this host"
    else:
        gfx, possible, source = (), log.family, "the log" if log.family else ""
    rocm, up_to, rocm_source = _rocm(options, log, here)
    runs_dkms = here is not None and any(kernel.running and kernel.dkms for kernel in here.kernels)
    dkms = log.dkms or ("of this host" if runs_dkms else "")
    installed = {kernel.release for kernel in host.kernels} | {host.running}
    has_kernels = not log.kernels or any(kernel.text in installed for kernel in log.kernels)
    same_boots = here is not None and not options.gfx and not options.kernel and has_kernels
    doubts = tuple(_doubts(log, host, installed, host_name)) if here is not None and named else ()
    return Origin(
        options, log, here, gfx, source, possible, rocm, rocm_source, dkms, same_boots, up_to, doubts
    )


def _is_elsewhere(log: LogFacts, host: Facts) -> bool:
    """Return whether the log names addresses of GPUs, and this host has GPUs at none of them."""
    addresses = {gpu.address for gpu in host.gpus if gpu.address}
    return bool(addresses and log.addresses) and not addresses & set(log.addresses)


def _doubts(log: LogFacts, host: Facts, installed: Set[str], host_name: str) -> Iterator[str]:
    """Yield signs that a log is from another machine: an old log may name a kernel that was removed, and a
    host may get another name."""
    if host.running and log.kernels and not any(kernel.text in installed for kernel in log.kernels):
        yield f"its kernel {log.kernels[-1].text} is not installed here"
    names = {name.partition(".")[0] for name in log.host_names}
    if host_name and names and host_name.partition(".")[0] not in names:
        yield f"it was written on a host named {', '.join(sorted(names))}"


def _rocm(options: Options, log: LogFacts, here: Facts | None) -> tuple[Version | None, Version | None, str]:
    """Return the oldest and the newest ROCm that it may be (None if only the oldest is possible), and the
    source of that knowledge."""
    if options.rocm or log.rocm:
        return options.rocm or log.rocm, None, "--rocm" if options.rocm else "the log"
    if log.rocm_named or here is None:
        return None, None, ""
    source = "--rocm of the last apply" if here.rocm_source == ROCM_NAMED else "this host"
    return (here.rocm, None, source) if here.rocm else _of_wheels(here)


def _of_wheels(host: Facts) -> tuple[Version | None, Version | None, str]:
    """Return the ROCm that PyTorch brings, the oldest and the newest that it may be, and the source of that
    knowledge."""
    torches = [torch for torch in host.pytorch if torch.rocm]
    if not torches:
        return None, None, ""
    spans = [span(torch.rocm) for torch in torches if torch.rocm]
    source = ", ".join(dict.fromkeys(f"PyTorch {torch.text}" for torch in torches))
    return min((s[0] for s in spans), key=rocm_order), max((s[1] for s in spans), key=rocm_order), source


def _is_foreign(gfx: Sequence[str], host: Facts, named: bool) -> bool:
    if not host.gpus and (host.offline or named):  # an offline host shows no GPU
        return not host.offline
    return bool(gfx) and not set(gfx) & set(host.gfx)


class Reason(NamedTuple):
    """A part of the judgement on an issue. `met` is None if it is unknown."""

    what: str
    met: bool | None
    text: str


def conditions(issue: KnownIssue, where: Origin, position: int, catalogue: Catalogue) -> list[Reason]:
    """Return each condition of the issue, judged for the machine and the boot that wrote the line."""
    reasons = []
    if issue.gfx:
        reasons.append(_gfx_met(issue, where))
    if issue.kernel:
        reasons.append(_kernel_met(issue.kernel, where, position))
    if issue.rocm:
        reasons.append(_rocm_met(issue.rocm, where))
    if issue.has_fix:
        reasons.append(_fix_met(catalogue.fixes[issue.has_fix], where, position))
    if issue.dkms:
        reasons.append(_dkms_met(where))
    if issue.several_gpus:
        reasons.append(_number_met(where))
    return reasons


def _dkms_met(where: Origin) -> Reason:
    if where.dkms:
        return Reason("driver", True, "AMD's DKMS driver runs")
    if where.same_boots and where.host is not None and any(k.running for k in where.host.kernels):
        return Reason("driver", False, "reported with AMD's DKMS driver; this host runs the kernel's own")
    return Reason("driver", None, "reported with AMD's DKMS driver; the driver is unknown")


def _number_met(where: Origin) -> Reason:
    if where.host is None or not where.host.gpus:
        return Reason("gpus", None, "reported with several GPUs; how many there are is unknown")
    count = len(where.host.computing)
    return Reason("gpus", count > 1, f"reported with several GPUs; this host has {count}")


def _gfx_met(issue: KnownIssue, where: Origin) -> Reason:
    wanted = ", ".join(issue.gfx)
    common = [gfx for gfx in where.gfx or where.possible if matches(gfx, issue.gfx)]
    affected = ", ".join(common)
    if where.gfx and common:
        return Reason("gfx", True, f"{affected} ({where.gfx_source}) is affected")
    if where.gfx:
        seen = ", ".join(where.gfx)
        return Reason("gfx", False, f"reported on {wanted}, not on {seen} ({where.gfx_source})")
    if not where.possible:
        return Reason("gfx", None, f"known on {wanted}; the GPU is unknown")
    if not common:
        return Reason("gfx", False, f"reported on {wanted}; the log is from another generation")
    if len(common) == len(where.possible):
        return Reason("gfx", True, f"the log is from an affected generation ({wanted})")
    return Reason("gfx-generation", None, f"the log is from the generation of {affected}")


def _kernel_met(wanted: VersionRange, where: Origin, position: int) -> Reason:
    release, source = where.kernel_at(position)
    version = parse_kernel(release)
    inside = wanted.between(*version.span) if version and not where.dkms else None
    if version is None:
        text = f"known on kernels {wanted.text}; the kernel is unknown"
    elif where.dkms:
        text = f"known on kernels {wanted.text}; AMD's DKMS driver replaces the driver of {release}"
    elif inside is None:
        text = f"known on kernels {wanted.text}; the name {release} does not show its stable release"
    else:
        text = f"kernel {release} ({source}){'' if inside else ' is not affected'} (affected: {wanted.text})"
    return Reason("kernel", inside, text)


def _rocm_met(wanted: VersionRange, where: Origin) -> Reason:
    inside = where.rocm_is(wanted)
    release = f"ROCm {format_version(where.rocm)} ({where.rocm_source})" if where.rocm else ""
    if not release:
        text = f"known on ROCm {wanted.text}; the ROCm release is unknown"
    elif inside is None:
        text = f"known on ROCm {wanted.text}; {release} is not precise enough"
    else:
        text = f"{release}{'' if inside else ' is not affected'} (affected: {wanted.text})"
    return Reason("rocm", inside, text)


def _fix_met(fix: Fix, where: Origin, position: int) -> Reason:
    """Judge an issue of kernels that have a fix."""
    present, text = _present(fix, where, position)
    if present is None:
        text = f"it is known of kernels with the fix {fix.name}; it is unknown whether this one has it"
    elif not present:
        text = f"the kernel does not have the fix {fix.name}, and is not affected"
    return Reason("kernel", present, text)


def fixes(issue: KnownIssue, where: Origin, position: int, catalogue: Catalogue) -> list[Reason]:
    """Return reasons if the kernel or ROCm has the fix already: `met` is False if that speaks against the
    issue."""
    kernel, kernel_why = _kernel_fixed(issue, where, position, catalogue)
    rocm = where.rocm_is(issue.fixed_rocm)
    halves = [kernel_why] if kernel else []
    if rocm and where.rocm:
        halves.append(f"ROCm {format_version(where.rocm)} ({where.rocm_source}) has the fix")
    if not halves:
        return []
    if issue.fixed_by == "both" and not (kernel and rocm):
        rest = "ROCm" if kernel else "the kernel"
        return [Reason("fix", None, f"{halves[0]}; {rest} needs its half of the fix, too")]
    return [Reason("fix", False, "; ".join(halves))]


def _kernel_fixed(
    issue: KnownIssue, where: Origin, position: int, catalogue: Catalogue
) -> tuple[bool | None, str]:
    if issue.lacks_fix:
        return _present(catalogue.fixes[issue.lacks_fix], where, position)
    release, source = where.kernel_at(position)
    version = parse_kernel(release)
    if version is None or where.dkms or not issue.fixed_kernels:
        return None, ""
    return issue.fixed_kernels.between(*version.span), f"kernel {release} ({source}) has the fix"


def lacking(issue: KnownIssue, where: Origin, position: int, catalogue: Catalogue) -> tuple[str, ...]:
    """Return what is known to lack the fix of an issue, in words; empty if one part has it and that is
    enough, or if that is not known. A pair that does not work together lacks another release of one part."""
    release, source = where.kernel_at(position)
    here = f"kernel {release} ({source})"
    parts = []
    if issue.lacks_fix or issue.fixed_kernels:
        present = _kernel_fixed(issue, where, position, catalogue)[0]
        parts.append((present, f"{here} does not have the fix"))
    if issue.fixed_rocm and where.rocm:
        rocm = f"ROCm {format_version(where.rocm)} ({where.rocm_source})"
        parts.append((where.rocm_is(issue.fixed_rocm), f"{rocm} does not have the fix"))
    elif issue.fixed_rocm:
        parts.append((None, ""))
    if issue.pair and where.rocm and release:
        return (f"{here} and ROCm {format_version(where.rocm)} ({where.rocm_source}) do not work together",)
    answers = [answer for answer, _ in parts]
    enough = (
        any(answer is not False for answer in answers) if issue.fixed_by == "either" else False not in answers
    )
    return () if enough or not parts else tuple(text for answer, text in parts if answer is False)


def _present(fix: Fix, where: Origin, position: int) -> tuple[bool | None, str]:
    """Return whether the kernel that wrote a line has a fix, and a phrase for where it has."""
    release, source = where.kernel_at(position)
    version = parse_kernel(release)
    if version is None:
        return None, ""
    runs = where.host is not None and any(k.running and k.release == release for k in where.host.kernels)
    properties = {name for gpu in where.host.gpus for name in gpu.properties} if where.host and runs else ()
    if fix.kfd_property and properties:
        text = f"the running driver has the fix ({fix.kfd_property} in the KFD topology)"
        return fix.kfd_property in properties, text
    if where.dkms:
        return None, ""
    return fix.present_in(version, release), f"kernel {release} ({source}) has the fix"


def known_here(
    issues: Iterable[KnownIssue],
    host: Facts,
    catalogue: Catalogue,
    options: Options = _THIS_HOST,
    *,
    of_any_rocm: bool = False,
) -> tuple[KnownIssue, ...]:
    """Return the faults that are known on the GPUs, running kernel and ROCm of this host, or of the machine
    that the options describe, and not fixed there.

    An issue with an unknown condition is left out, because it would be shown to nearly everybody. With
    `of_any_rocm`, the ROCm release may be unknown.
    """
    where = origin(options, LogFacts(), host)
    open_to = {"rocm"} if of_any_rocm and not host.knows_rocm else set()
    stated = (issue for issue in issues if issue.gfx or issue.kernel or issue.rocm)
    return tuple(
        issue for issue in stated if where.gfx and is_certain(issue, where, 0, catalogue, open_to=open_to)
    )


def is_certain(
    issue: KnownIssue, where: Origin, position: int, catalogue: Catalogue, *, open_to: Set[str] = frozenset()
) -> bool:
    """Return whether a machine has an issue for certain, but for conditions that it is `open_to`."""
    if issue.kind != "fault" or issue.confidence == "unverified":
        return False
    fixed = any(reason.met is False for reason in fixes(issue, where, position, catalogue))
    met = (
        reason.met or (reason.met is None and reason.what in open_to)
        for reason in conditions(issue, where, position, catalogue)
    )
    return not fixed and all(met)


def may_have(issue: KnownIssue, rocm: Version) -> bool:
    """Return whether a ROCm release may have an issue: it is affected, or no range is known, and it does not
    have the fix."""
    affected = issue.rocm is None or issue.rocm.between(rocm, rocm) is not False
    fixed = issue.fixed_rocm is not None and issue.fixed_rocm.between(rocm, rocm) is True
    return affected and not (fixed and issue.fixed_by != "both")
