"""The languages in which files set variables of the environment, each read by its own rules.

Text in, assignments out; nothing here opens a file. `lint`, `verify`, `status`, `explain` and `doctor` read
every such file by these readers alone. What a reader cannot tell for certain, because a running shell decides
it or because releases of its program differ, has no value: no reader guesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from rocmcfg.model.shape import NamedTuple


class Effect(Enum):
    """What becomes of an assignment. NOT_EXPORTED: the shell that reads it has the variable, and programs do
    not get it. IGNORED: the program that reads the file passes over it. FORGETS: every variable that was set
    before is taken away, and the name is empty."""

    SETS = "sets"
    UNSETS = "unsets"
    NOT_EXPORTED = "not exported"
    IGNORED = "ignored"
    FORGETS = "forgets"


class Statement(NamedTuple):
    """A place that sets or takes away a variable.

    `value` is None where it cannot be told. `written` is the value where this place is reached, whatever
    decides that. `line` counts from 1. text[start:stop] is what stands there, from the name on up to the end
    of the value; nothing where no single place sets it.
    """

    name: str
    value: str | None
    line: int
    start: int
    stop: int
    effect: Effect = Effect.SETS
    written: str | None = None


def lines_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each line's number, its offset in characters and its text without the line feed. Only a line feed
    ends a line."""
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        yield number, start, line
        start += len(line) + 1


def without_values(statements: Iterable[Statement]) -> Iterator[Statement]:
    return (statement._replace(value=None) for statement in statements)


def is_damaged(text: str) -> bool:
    """Return whether a text holds a NUL or a byte that was no UTF-8: programs differ in what they do
    there."""
    return "\0" in text or "\ufffd" in text
