"""Fault classes: numbered kinds of failure that a log may show, each with its layer, its meaning and the next
step."""

from __future__ import annotations

from typing import Literal

from rocmcfg.model.shape import NamedTuple

Severity = Literal["fatal", "error", "degraded", "note"]
Party = Literal["program", "library", "driver", "firmware", "host", "hardware"]
Continues = Literal["yes", "no", "after-reset", "after-reboot"]
Action = Literal[
    "retry",
    "smaller-work",
    "fix-rights",
    "fix-setup",
    "update",
    "reset",
    "reboot",
    "drain",
    "replace",
    "report",
]


class Layer(NamedTuple):
    """A layer of the system in which faults are. `number` are the hundreds of the ids of its classes;
    `tracker` is where its faults are reported. `of_kernel`: the kernel prints its lines, not a program."""

    name: str
    number: int
    title: str
    tracker: str
    of_kernel: bool = False


class FaultPattern(NamedTuple):
    """A pattern of a fault's lines. A line must also contain one of the texts in `needs`. `shared`: software
    of another vendor prints such a line, too."""

    pattern: str
    needs: tuple[str, ...] = ()
    shared: bool = False


class FaultLine(NamedTuple):
    """A line that a fault prints. `origin` is the address of a log with it, or `made: FILE` for a line that
    was made of a format string in this file of the sources."""

    text: str
    origin: str


class Fault(NamedTuple):
    """A fault class. `blame` are the parties that may be at fault, the likely ones first. `continues` says
    whether work can go on. `collect` are keys of things that a report needs. `general`: the class of all
    lines of a layer that have no class of their own. `after` are classes of which it can be a consequence,
    `issues` known issues that it may be."""

    id: str
    layer: str
    title: str
    severity: Severity
    blame: tuple[Party, ...]
    continues: Continues
    action: Action
    meaning: str
    step: str
    patterns: tuple[FaultPattern, ...]
    lines: tuple[FaultLine, ...]
    collect: tuple[str, ...] = ()
    general: bool = False
    after: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()


class Collected(NamedTuple):
    """Something that a report of a fault needs, and the command that prints or saves it."""

    key: str
    what: str
    command: str
