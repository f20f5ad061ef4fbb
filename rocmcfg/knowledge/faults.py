"""Load the fault classes, their layers, and what a report needs.

The files are ours and tests check them with `fault_schema`, so nothing is validated at run time.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

from rocmcfg.knowledge import compiled
from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.fault import Collected, Fault, FaultLine, Layer

FOLDER = "knowledge/data/faults"
LAYERS, COLLECT = "layers.toml", "collect.toml"


@functools.cache
def faults() -> Mapping[str, Fault]:
    """Return the fault classes by id, in the order of their numbers."""
    names = (name for name in os.listdir(f"{compiled.PACKAGE}/{FOLDER}") if name.endswith(".toml"))
    files = (compiled.packaged(f"{FOLDER}/{name}") for name in names if name not in (LAYERS, COLLECT))
    made = [
        noun(
            Fault,
            row,
            layer=document["layer"],
            lines=tuple(FaultLine(line["text"], line["from"]) for line in row["line"]),
        )
        for document in files
        for row in document["fault"]
    ]
    return {fault.id: fault for fault in sorted(made, key=lambda fault: number(fault.id))}


def number(id: str) -> int:
    return int(id.rpartition("-")[2])


@functools.cache
def layers() -> Mapping[str, Layer]:
    rows = compiled.packaged(f"{FOLDER}/{LAYERS}")["layer"]
    return {row["name"]: noun(Layer, row) for row in rows}


@functools.cache
def collectibles() -> Mapping[str, Collected]:
    rows = compiled.packaged(f"{FOLDER}/{COLLECT}")["collect"]
    return {row["key"]: noun(Collected, row) for row in rows}
