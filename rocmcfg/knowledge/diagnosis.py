"""What `doctor` looks for: in logs the facts about their machine and the errors of driver and libraries; on a
host what does not fit together, and which other programs write there.

The files are ours and tests hold them right, so nothing is validated at run time.
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
    """`kind` says what group `group` of the pattern holds; heavier facts win over lighter ones."""

    kind: str
    pattern: str
    group: int = 1
    weight: int = 1


class ErrorPattern(NamedTuple):
    """`needs` are texts of which a line must hold one besides; `shared`: another vendor's software prints
    such a line too."""

    pattern: str
    needs: tuple[str, ...] = ()
    shared: bool = False


class LogKnowledge(NamedTuple):
    """`families`: the driver's name of a generation to gfx patterns. A kernel's command line has one of
    `boot_words`. `resets` are for a boot that is on trial: whatever came of them, they speak against it."""

    facts: tuple[FactPattern, ...]
    errors: tuple[ErrorPattern, ...]
    resets: tuple[str, ...]
    families: Mapping[str, tuple[str, ...]]
    boot_words: tuple[str, ...]
    collect: tuple[str, ...]


@functools.cache
def log_knowledge() -> LogKnowledge:
    document = compiled.packaged("knowledge/data/logs.toml")
    return noun(
        LogKnowledge,
        document,
        resets=tuple(row["pattern"] for row in document["reset"]),
        families={name: tuple(patterns) for name, patterns in document["family"].items()},
        boot_words=tuple(document["cmdline"]["boot_words"]),
        collect=tuple(document["unknown"]["collect"]),
    )


class DriverRelease(NamedTuple):
    """Versions of the DKMS driver that came with a ROCm release, and the releases that it supports."""

    version: VersionRange
    release: str
    rocm: RocmRange


class BadFirmware(NamedTuple):
    """`counted` are the bits of the number that the driver prints which tell the version; the upper ones say
    something else."""

    block: str
    gfx: tuple[str, ...]
    version: int
    issue: str
    counted: int

    def is_bad(self, printed: int) -> bool:
        return printed & self.counted == self.version


class Writer(NamedTuple):
    """A program that puts kernel arguments into `file`, where `key` finds them."""

    name: str
    file: str
    key: re.Pattern[str]
    stop: str


class HostKnowledge(NamedTuple):
    """`target_variable` passes a GPU off as another target, `choosers` choose among several GPUs."""

    drivers: tuple[DriverRelease, ...]
    firmware: tuple[BadFirmware, ...]
    writers: tuple[Writer, ...]
    target_variable: str
    choosers: tuple[str, ...]


@functools.cache
def host_knowledge() -> HostKnowledge:
    document = compiled.packaged("knowledge/data/hosts.toml")
    variables = document["variables"]
    choosers = tuple(variables["choosers"])
    return noun(HostKnowledge, document, target_variable=variables["target"], choosers=choosers)
