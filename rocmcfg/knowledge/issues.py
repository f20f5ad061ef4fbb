"""Loads the known issues, one file each. Tests hold them right, so nothing is validated here."""

from __future__ import annotations

import functools
import os
from typing import Any

from rocmcfg.knowledge import compiled
from rocmcfg.model.issue import KnownIssue, Signature, Workaround
from rocmcfg.model.spelling import split
from rocmcfg.model.version import VersionRange, parse_range

_FOLDER = "knowledge/data/issues"


@functools.cache
def load() -> tuple[KnownIssue, ...]:
    """All of them, in the order of their ids."""
    names = sorted(n for n in os.listdir(f"{compiled.PACKAGE}/{_FOLDER}") if n.endswith(".toml"))
    return tuple(issue(name[:-5], compiled.packaged(f"{_FOLDER}/{name}")) for name in names)


def issue(id: str, row: dict[str, Any]) -> KnownIssue:
    workaround = row.get("workaround", {})
    return KnownIssue(
        id=id,
        kind=row["kind"],
        title=row["title"],
        summary=row["summary"],
        gfx=tuple(row.get("gfx", ())),
        kernel=_range(row, "kernel"),
        rocm=_range(row, "rocm"),
        firmware=row.get("firmware", ""),
        signatures=tuple(_signature(s) for s in row.get("signature", ())),
        stages=tuple(row.get("stages", ())),
        workaround=Workaround(
            tuple(map(split, workaround.get("settings", ()))),
            tuple(workaround.get("unset", ())),
            tuple(workaround.get("steps", ())),
            workaround.get("profile", ""),
        ),
        does_not_help=tuple(row.get("does_not_help", ())),
        cost=row.get("cost", ""),
        fixed_in=row.get("fixed_in", ""),
        fixed_kernels=_range(row, "fixed_kernels"),
        fixed_rocm=_range(row, "fixed_rocm"),
        evidence=tuple(row["evidence"]),
        confidence=row["confidence"],
        notes=tuple(row.get("notes", ())),
        several_gpus=row.get("several_gpus", False),
        lacks_fix=row.get("lacks_fix", ""),
        fixed_by=row.get("fixed_by", "either"),
    )


def _range(row: dict[str, Any], key: str) -> VersionRange | None:
    return parse_range(row[key]) if row.get(key) else None


def _signature(row: dict[str, Any]) -> Signature:
    return Signature(
        row["pattern"],
        row["strength"],
        tuple(row["samples"]),
        row.get("name", ""),
        row.get("beside", ""),
    )
