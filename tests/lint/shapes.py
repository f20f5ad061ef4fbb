"""The shapes in which people set things, from tests/lint/data/shapes: own examples, after the structure of
public files that each names. They are sorted by what reads them; five at most are of one format."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rocmcfg.advice.lint.assignment import What
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.model.shape import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = Path(__file__).parent / "data/shapes"


class Shape(NamedTuple):
    """`read` are the settings that lint must read, and no others: NAME=VALUE, or NAME=? where only a running
    program knows the value. `language` names the parser that the text is valid for."""

    name: str
    source: str
    file: str
    language: str
    text: str
    read: list[str]


@cache
def shapes() -> dict[str, Shape]:
    return {shape.name: shape for shape in _all()}


def _all() -> Iterator[Shape]:
    for file in sorted(_FOLDER.glob("*.toml")):
        for table in tomllib.loads(file.read_text())["shape"]:
            yield Shape(**table)


def settings(checked: Checked) -> list[str]:
    """Return what a text sets, sorted; a parameter's file that is only read sets nothing."""
    return sorted(
        f"{each.name}={'?' if each.opaque else each.value}" if each.value is not None else each.name
        for each in checked.assignments
        if each.what is not What.PATH or each.value is not None
    )
