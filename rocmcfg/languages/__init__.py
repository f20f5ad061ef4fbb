"""The languages in which files set environment variables, each read by its own rules.

The readers turn text into assignments and open no files. `lint`, `verify`, `status`, `explain` and `doctor`
use only these readers. A variable whose value is not certain, because a running shell decides it or because
releases of its program differ, has no value: no reader guesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from rocmcfg.model.shape import NamedTuple

BYTE_ORDER_MARK = "\ufeff"  # as editors of Windows write it at the beginning of a file


class Effect(Enum):
    """The effect of an assignment. NOT_EXPORTED: the shell that reads it has the variable, but programs do
    not get it. IGNORED: the program that reads the file skips it. FORGETS: every variable that was set before
    is removed, and the name is empty."""

    SETS = "sets"
    UNSETS = "unsets"
    NOT_EXPORTED = "not exported"
    IGNORED = "ignored"
    FORGETS = "forgets"


class Statement(NamedTuple):
    """A place that sets or unsets a variable.

    `value` is None where it is not known. `written` is the value if this place is reached. `line` counts from
    1. text[start:stop] is the text there, from the name to the end of the value; empty if no single place
    sets the variable.
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
    """Return whether a text holds a NUL or a byte that was not UTF-8, which programs treat differently."""
    return "\0" in text or "\ufffd" in text
