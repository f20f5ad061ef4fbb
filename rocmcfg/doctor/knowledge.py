"""What doctor knows besides the known issues: facts in logs, what fits together on a host, kernel names.

The files are ours and tests hold them right, so nothing is validated at run time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocmcfg.doctor.probes import Probe, probe
from rocmcfg.knowledge import compiled
from rocmcfg.model.version import VersionRange, parse_range


@dataclass(frozen=True, slots=True)
class FactPattern:
    """`kind` says what group `group` of the pattern holds; heavier facts win over lighter ones."""

    kind: str
    probe: Probe
    group: int
    weight: int


@dataclass(frozen=True, slots=True)
class LogKnowledge:
    """`families`: the driver's name of a generation to gfx patterns. A kernel's command line has one of
    `boot_words`. `resets` are for a boot that is on trial: whatever came of them, they speak against it."""

    facts: tuple[FactPattern, ...]
    errors: tuple[Probe, ...]
    resets: tuple[Probe, ...]
    families: Mapping[str, tuple[str, ...]]
    boot_words: tuple[str, ...]
    collect: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DriverRelease:
    """Versions of the DKMS driver that came with a ROCm release, and the releases that it supports."""

    version: VersionRange
    release: str
    rocm: VersionRange


@dataclass(frozen=True, slots=True)
class BadFirmware:
    block: str
    gfx: tuple[str, ...]
    version: int
    issue: str


@dataclass(frozen=True, slots=True)
class Writer:
    """A program that puts kernel arguments into `file`, where `key` finds them. Those that `told` matches
    are told of also where they are in nobody's way, because few know that the program writes any."""

    name: str
    file: str
    key: re.Pattern[str]
    stop: str
    told: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Tuner:
    """A program whose settings in `file`, found by `key`, need a feature of the driver to be on."""

    name: str
    file: str
    key: re.Pattern[str]
    feature: str


@dataclass(frozen=True, slots=True)
class HostKnowledge:
    """What fits together on a host, and who else writes there."""

    drivers: tuple[DriverRelease, ...]
    firmware: tuple[BadFirmware, ...]
    writers: tuple[Writer, ...]
    tuners: tuple[Tuner, ...]


@functools.cache
def of_logs() -> LogKnowledge:
    document = _data("log")
    facts = []
    for number, row in enumerate(document["fact"]):
        made = probe("fact", row["pattern"], name=f"{row['kind']}.{number}")
        facts.append(FactPattern(row["kind"], made, row.get("group", 1), row.get("weight", 1)))
    errors = tuple(
        probe(
            "error",
            row["pattern"],
            needs=tuple(need.encode() for need in row.get("needs", ())),
            shared=row.get("shared", False),
        )
        for row in document["error"]
    )
    families = {name: tuple(patterns) for name, patterns in document["family"].items()}
    return LogKnowledge(
        tuple(facts),
        errors,
        tuple(probe("reset", row["pattern"], needs=(b"amdgpu",)) for row in document["reset"]),
        families,
        tuple(document["cmdline"]["boot_words"]),
        tuple(document["unknown"]["collect"]),
    )


@functools.cache
def of_hosts() -> HostKnowledge:
    document = _data("host")
    return HostKnowledge(
        tuple(
            DriverRelease(parse_range(row["version"]), row["release"], parse_range(row["rocm"]))
            for row in document["driver"]
        ),
        tuple(
            BadFirmware(row["block"], tuple(row["gfx"]), row["version"], row["issue"])
            for row in document["firmware"]
        ),
        tuple(
            Writer(
                row["name"],
                row["file"],
                re.compile(row["key"], re.M),
                row["stop"],
                re.compile(row["told"]) if "told" in row else None,
            )
            for row in document["writer"]
        ),
        tuple(
            Tuner(row["name"], row["file"], re.compile(row["key"], re.M), row["feature"])
            for row in document["tuner"]
        ),
    )


@functools.cache
def of_kernel_names() -> dict[str, Any]:
    return _data("kernel_names")


def _data(name: str) -> dict[str, Any]:
    return compiled.packaged(f"doctor/data/{name}.toml")
