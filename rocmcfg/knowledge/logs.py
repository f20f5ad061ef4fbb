"""What is looked for in every log: facts about the machine that wrote it, and errors of driver and libraries.

The file is ours and tests hold it right, so nothing is validated at run time.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from rocmcfg.knowledge import compiled


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
def of_logs() -> LogKnowledge:
    document = compiled.packaged("knowledge/data/logs.toml")
    return LogKnowledge(
        tuple(compiled.noun(FactPattern, row) for row in document["fact"]),
        tuple(compiled.noun(ErrorPattern, row) for row in document["error"]),
        tuple(row["pattern"] for row in document["reset"]),
        {name: tuple(patterns) for name, patterns in document["family"].items()},
        tuple(document["cmdline"]["boot_words"]),
        tuple(document["unknown"]["collect"]),
    )
