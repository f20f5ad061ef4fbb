"""Loads the known issues, one file each. Tests hold them right, so nothing is validated here."""

from __future__ import annotations

import functools
import os
from typing import Any

from rocmcfg.knowledge import compiled
from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.issue import KnownIssue, Signature, Workaround
from rocmcfg.model.spelling import split
from rocmcfg.model.version import parse_range

_FOLDER = "knowledge/data/issues"
_RANGES = ("kernel", "rocm", "fixed_kernels", "fixed_rocm")


@functools.cache
def load() -> tuple[KnownIssue, ...]:
    """All of them, in the order of their ids."""
    names = sorted(n for n in os.listdir(f"{compiled.PACKAGE}/{_FOLDER}") if n.endswith(".toml"))
    return tuple(issue(name[:-5], compiled.packaged(f"{_FOLDER}/{name}")) for name in names)


def issue(id: str, row: dict[str, Any]) -> KnownIssue:
    cure = row.get("workaround", {})
    return noun(
        KnownIssue,
        row,
        id=id,
        signatures=tuple(noun(Signature, signature) for signature in row.get("signature", ())),
        workaround=noun(Workaround, cure, settings=tuple(map(split, cure.get("settings", ())))),
        **{key: parse_range(row[key]) for key in _RANGES if key in row},
    )
