"""Load the patterns of `doctor`: for logs, facts about their machine; for a host, combinations that do not
work together, and other programs that write kernel arguments.

The files are ours and tests check them, so nothing is validated at run time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from rocmcfg.knowledge import compiled
from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.version import RocmRange, VersionRange


class FactPattern(NamedTuple):
    """A pattern of a fact. `kind` is the kind of the text in group `group`; facts with a higher weight
    win. `every_line`: a log with such a line has little else."""

    kind: str
    pattern: str
    group: int = 1
    weight: int = 1
    every_line: bool = False


class LogKind(NamedTuple):
    """A kind of log. `next` is a sentence on what to look at where a log of this kind shows no fault.
    `troubles`: its lines that look like a failure are worth showing then. `of_program`: a program that calls
    HIP printed it."""

    name: str
    title: str
    patterns: tuple[str, ...]
    next: str
    troubles: bool = True
    of_program: bool = False


class LogKnowledge(NamedTuple):
    """Knowledge about logs. `families` maps the driver's name of a generation to gfx patterns. A kernel
    command line has one of `boot_words`. `details` are patterns of lines that say more about an error,
    `troubles` of lines that look like a failure, whoever printed them. `resets` are patterns for a trial
    boot: each is evidence against it, whatever its result."""

    facts: tuple[FactPattern, ...]
    details: tuple[str, ...]
    resets: tuple[str, ...]
    families: Mapping[str, tuple[str, ...]]
    boot_words: tuple[str, ...]
    kinds: tuple[LogKind, ...]
    troubles: tuple[str, ...]


@functools.cache
def log_knowledge() -> LogKnowledge:
    document = compiled.packaged("knowledge/data/logs.toml")
    return noun(
        LogKnowledge,
        document,
        details=tuple(row["pattern"] for row in document["detail"]),
        resets=tuple(row["pattern"] for row in document["reset"]),
        families={name: tuple(patterns) for name, patterns in document["family"].items()},
        boot_words=tuple(document["cmdline"]["boot_words"]),
        troubles=tuple(document["trouble"]["patterns"]),
    )


class DriverRelease(NamedTuple):
    """Versions of the DKMS driver of a ROCm release, and the releases that it supports."""

    version: VersionRange
    release: str
    rocm: RocmRange


class BadFirmware(NamedTuple):
    """A firmware with a known issue. `counted` are the bits of the printed number that hold the version; the
    upper bits have another meaning."""

    block: str
    gfx: tuple[str, ...]
    version: int
    issue: str
    counted: int

    def is_bad(self, printed: int) -> bool:
        return printed & self.counted == self.version


class Writer(NamedTuple):
    """A program that writes kernel arguments to `file`, where `key` matches them."""

    name: str
    file: str
    key: re.Pattern[str]
    stop: str


class MemoryKnowledge(NamedTuple):
    """What shows that the memory of a GPU is full, as ids of fault classes and known issues, and what raises
    the limit of an APU: the share of the host's memory that it may then map, and a profile's setting for it
    on the targets `profile_gfx`."""

    faults: tuple[str, ...]
    issues: tuple[str, ...]
    share: float
    profile: str
    setting: str
    profile_gfx: tuple[str, ...]


class HostKnowledge(NamedTuple):
    """Knowledge about hosts. `target_variable` presents a GPU as another target, `choosers` choose among
    several GPUs. `without_kfd` are patterns of targets for which the kernel makes no /dev/kfd."""

    drivers: tuple[DriverRelease, ...]
    firmware: tuple[BadFirmware, ...]
    writers: tuple[Writer, ...]
    target_variable: str
    choosers: tuple[str, ...]
    without_kfd: tuple[str, ...]
    memory: MemoryKnowledge


@functools.cache
def host_knowledge() -> HostKnowledge:
    document = compiled.packaged("knowledge/data/hosts.toml")
    variables = document["variables"]
    return noun(
        HostKnowledge,
        document,
        target_variable=variables["target"],
        choosers=tuple(variables["choosers"]),
        without_kfd=tuple(document["targets"]["without_kfd"]),
    )
