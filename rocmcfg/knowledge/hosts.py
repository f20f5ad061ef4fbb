"""What fits together on a host, and who else writes there: driver releases, firmware, other programs.

The file is ours and tests hold it right, so nothing is validated at run time.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from rocmcfg.knowledge import compiled
from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.version import VersionRange, parse_range


class DriverRelease(NamedTuple):
    """Versions of the DKMS driver that came with a ROCm release, and the releases that it supports."""

    version: VersionRange
    release: str
    rocm: VersionRange


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
    """A program that puts kernel arguments into `file`, where `key` finds them. Those that `told` matches
    are told of also where they are in nobody's way, because few know that the program writes any."""

    name: str
    file: str
    key: re.Pattern[str]
    stop: str
    told: re.Pattern[str] | None = None


class Tuner(NamedTuple):
    """A program whose settings in `file`, found by `key`, need a feature of the driver to be on."""

    name: str
    file: str
    key: re.Pattern[str]
    feature: str


class HostKnowledge(NamedTuple):
    """What fits together on a host, and who else writes there. `target_variable` passes a GPU off as another
    target, `choosers` are variables that choose among several GPUs."""

    drivers: tuple[DriverRelease, ...]
    firmware: tuple[BadFirmware, ...]
    writers: tuple[Writer, ...]
    tuners: tuple[Tuner, ...]
    target_variable: str
    choosers: tuple[str, ...]


@functools.cache
def of_hosts() -> HostKnowledge:
    document = compiled.packaged("knowledge/data/hosts.toml")
    return HostKnowledge(
        tuple(
            DriverRelease(parse_range(row["version"]), row["release"], parse_range(row["rocm"]))
            for row in document["driver"]
        ),
        tuple(noun(BadFirmware, row) for row in document["firmware"]),
        tuple(noun(Writer, row, **_patterns(row)) for row in document["writer"]),
        tuple(noun(Tuner, row, **_patterns(row)) for row in document["tuner"]),
        document["variables"]["target"],
        tuple(document["variables"]["choosers"]),
    )


def _patterns(row: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(row[name], re.M) for name in ("key", "told") if name in row}
