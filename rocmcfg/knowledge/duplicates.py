"""Find names that a file of knowledge defines twice where TOML allows it: in the rows of a list of tables,
and in families of variables. The last definition would silently win."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rocmcfg.knowledge import toml
from rocmcfg.model.shape import NamedTuple

_NAMES = ("name", "prefix")  # the keys that name a row of a list of tables
_OF_FAMILIES = ("family", "names")


class Duplicate(NamedTuple):
    """A name with the lines of its first and of a later definition."""

    name: str
    first: int
    line: int

    @property
    def words(self) -> str:
        return f"{self.name} is defined twice, first in line {self.first}"


def duplicates(text: str, document: dict[str, Any]) -> Iterator[Duplicate]:
    """Yield each name that is defined again, in the order of the file."""
    first: dict[tuple[str, str], int] = {}
    for kind, name, line in _definitions(text, document):
        if (kind, name) in first:
            yield Duplicate(name, first[kind, name], line)
        first.setdefault((kind, name), line)


def _definitions(text: str, document: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, the name and the line of each definition."""
    values = {
        (table, key): iter([row[key] for row in rows if isinstance(row, dict) and key in row])
        for table, rows in document.items()
        if isinstance(rows, list)
        for key in _NAMES
    }
    for path, line in toml.keys(text):
        if len(path) == 1 and isinstance(document.get(path[0]), dict):
            yield "table", path[0], line
        elif path[:-1] == _OF_FAMILIES:
            yield "table", path[-1], line
        elif path in values and (value := next(values[path], None)) is not None:
            yield path[0], str(value), line
