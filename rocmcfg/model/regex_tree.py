"""Analyse patterns as parsed by `re` itself, so that no second grammar can disagree."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_OFTEN = 8  # from this many repeats on, a part that can match in several ways has too many of them


def parsed(pattern: str) -> Sequence[Any]:
    """Return pairs of an operator and its argument. Raises re.error and RecursionError."""
    nodes: Sequence[Any] = _parser().parse(pattern)
    return nodes


def _parser() -> Any:
    try:
        return importlib.import_module("re._parser")
    except ImportError:  # Python 3.10
        return importlib.import_module("sre_parse")


def repeats_a_repeat(pattern: str) -> bool:
    """Return whether the pattern often repeats a part that itself repeats or has alternatives, at any depth:
    `((a+)b?)+` tries every way to divide a line. Raises ValueError for a pattern that is nested too deeply to
    be analysed."""
    try:
        return _any_repeat(parsed(pattern), within=False)
    except RecursionError as problem:
        raise ValueError(f"{pattern[:80]!r}… is nested too deeply") from problem


def _any_repeat(tree: Sequence[Any], *, within: bool) -> bool:
    """Return whether a tree has such a repeat. `within`: the tree itself is repeated."""
    for operator, argument in tree:
        name = str(operator)
        if name == "BRANCH":
            if within or any(_any_repeat(branch, within=within) for branch in argument[1]):
                return True
        elif name in _REPEATS:
            least, most, body = argument
            if (within and least != most) or _any_repeat(body, within=within or most >= _OFTEN):
                return True
        elif any(_any_repeat(part, within=within) for part in _parts(name, argument)):
            return True
    return False


def _parts(name: str, argument: Any) -> Iterator[Sequence[Any]]:
    if name == "SUBPATTERN":
        yield argument[-1]
    elif name in ("ASSERT", "ASSERT_NOT"):
        yield argument[1]
    elif name == "ATOMIC_GROUP":
        yield argument
