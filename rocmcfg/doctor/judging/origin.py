"""The machine that wrote a log: what the options say of it, else the log, else this host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rocmcfg.doctor.reading.log_facts import LogFacts
from rocmcfg.model.facts import Facts
from rocmcfg.model.version import Version, VersionRange, between, comparable, span


class Options(NamedTuple):
    """What the user says of the machine; empty or None where nothing is said."""

    gfx: tuple[str, ...] = ()
    kernel: str = ""
    rocm: Version | None = None


class Origin(NamedTuple):
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

    def rocm_is(self, wanted: VersionRange | None) -> bool | None:
        """Whether its ROCm is in a range; None where that cannot be told."""
        return between(wanted, self.rocm, self.rocm_up_to or self.rocm) if wanted and self.rocm else None


def origin(options: Options, log: LogFacts, host: Facts) -> Origin:
    """Where the options or the log name a GPU that this host has not, it is another machine's."""
    here = None if _is_foreign(options.gfx or log.gfx or log.family, host) else host
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
    return Origin(options, log, here, gfx, source, possible, rocm, rocm_source, dkms, same_boots, up_to)


def _rocm(options: Options, log: LogFacts, here: Facts | None) -> tuple[Version | None, Version | None, str]:
    """From the oldest to the newest ROCm that it may be (None where the oldest is the only one), and who
    says so."""
    if options.rocm or log.rocm:
        return options.rocm or log.rocm, None, "--rocm" if options.rocm else "the log"
    if log.rocm_named or here is None:
        return None, None, ""
    return (here.rocm, None, "this host") if here.rocm else _of_wheels(here)


def _of_wheels(host: Facts) -> tuple[Version | None, Version | None, str]:
    """The ROCm that PyTorch brings, from the oldest to the newest that it may be, and who says so."""
    torches = [torch for torch in host.pytorch if torch.rocm]
    if not torches:
        return None, None, ""
    spans = [span(torch.rocm) for torch in torches if torch.rocm]
    said = ", ".join(dict.fromkeys(f"PyTorch {torch.text}" for torch in torches))
    return min((s[0] for s in spans), key=comparable), max((s[1] for s in spans), key=comparable), said


def _is_foreign(gfx: Sequence[str], host: Facts) -> bool:
    if host.offline and not host.gpus:  # a disk shows no GPU
        return False
    return bool(gfx) and not set(gfx) & set(host.gfx)
