"""Load the decision table for a program that sees no GPU: the layers between the PCI bus and a program, and
the causes for which each can fail.

The file is ours and tests check it, so nothing is validated at run time.
"""

from __future__ import annotations

import functools

from rocmcfg.knowledge import compiled
from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.shape import NamedTuple


class AccessCause(NamedTuple):
    """A cause for which a layer fails. `command` shows more of it, `cure` ends it. `faults` and `issues` are
    the fault classes and known issues of a log that show it."""

    id: str
    title: str
    meaning: str
    command: str
    cure: str
    faults: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()


class AccessLayer(NamedTuple):
    """A layer between the PCI bus and a program. `passes` says what is so if it does not fail. The last cause
    is the answer if none of the others can be shown. `optional`: only programs of one kind have it."""

    id: str
    name: str
    passes: str
    causes: tuple[AccessCause, ...]
    optional: bool = False


@functools.cache
def access_layers() -> tuple[AccessLayer, ...]:
    """Return the layers from the bottom up."""
    rows = compiled.packaged("knowledge/data/no_gpu.toml")["layer"]
    return tuple(
        noun(AccessLayer, row, causes=tuple(noun(AccessCause, cause) for cause in row["cause"]))
        for row in rows
    )
