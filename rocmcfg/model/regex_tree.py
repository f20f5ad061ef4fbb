"""Read patterns for logs into trees, which show the texts that a pattern requires and the parts that it
repeats. The reader knows the syntax that Python's `re` and `grep -E` share, and `(?:…)`; `re` does the
matching."""

from __future__ import annotations

import re
import sys

from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_OFTEN = 8  # from this many repeats on, a part that can match in several ways has too many of them
_COUNT = regex(r"\{([0-9]*)(,?)([0-9]*)\}")
_SIGNS = {"*": (0, sys.maxsize), "+": (1, sys.maxsize), "?": (0, 1)}
_SET = regex(r"\[\^?\]?(?:\\.|[^]\\])*\]", re.DOTALL)
_SINGLE = regex(r"\[(?:\\([^A-Za-z0-9])|([^\\^]))\]")
_CLASSES = "dDsSwW"
_POSITIONS = "AbBZ"


class Literal(NamedTuple):
    character: str


class Characters(NamedTuple):
    """A set of characters that match, as a pattern: a bracket expression, a class such as `\\w`, or
    alternatives of one character each."""

    source: str


class Other(NamedTuple):
    """A position, or any character but some, as it is written."""

    source: str


class Group(NamedTuple):
    body: Tree


class Branch(NamedTuple):
    branches: tuple[Tree, ...]


class Repeat(NamedTuple):
    least: int
    most: int
    body: Tree


Node = Literal | Characters | Other | Group | Branch | Repeat
Tree = tuple[Node, ...]


def parsed(pattern: str) -> Tree:
    """Return the parts of a pattern in their order. A prefix that all alternatives share comes before them,
    and alternatives of one character each are a set. Raises re.error for other syntax, and RecursionError."""
    tree, end = _alternatives(pattern, 0)
    if end < len(pattern):
        raise re.error("unbalanced parenthesis", pattern, end)
    return tree


def alternatives(pattern: str) -> list[tuple[int, int]]:
    """Return where the alternatives of a pattern begin and end: a text has a match of the pattern if it has
    one of an alternative. A group around all of them counts as none."""
    start, end = 0, len(pattern)
    while pattern[start:end].startswith("(") and not pattern.startswith("(?", start):
        _, after = _group(pattern, start)
        if after != end:
            break
        start, end = start + 1, end - 1
    parts, at = [], start
    while True:
        _, after = _sequence(pattern, at)
        parts.append((at, after))
        if after >= end:
            return parts
        at = after + 1


def _alternatives(pattern: str, at: int) -> tuple[Tree, int]:
    """Return the alternatives from an offset on, and the offset of the parenthesis or the end after them."""
    branches = []
    while True:
        branch, at = _sequence(pattern, at)
        branches.append(branch)
        if pattern[at : at + 1] != "|":
            return _joined(branches), at
        at += 1


def _joined(branches: list[Tree]) -> Tree:
    if len(branches) == 1:
        return branches[0]
    shared: Tree = ()
    while all(branches) and _are_equal([branch[0] for branch in branches]):
        shared += branches[0][:1]
        branches = [branch[1:] for branch in branches]
    nodes = [branch[0] for branch in branches if len(branch) == 1]
    singles = [
        re.escape(node.character) if isinstance(node, Literal) else node.source
        for node in nodes
        if isinstance(node, (Literal, Characters))
    ]
    if len(singles) == len(branches):
        return (*shared, Characters("|".join(singles)))
    return (*shared, Branch(tuple(branches)))


def _are_equal(nodes: list[Node]) -> bool:
    first = nodes[0]
    return isinstance(first, (Literal, Characters, Other)) and all(
        type(node) is type(first) and node == first for node in nodes
    )


def _sequence(pattern: str, at: int) -> tuple[Tree, int]:
    tree: list[Node] = []
    while at < len(pattern) and pattern[at] not in "|)":
        part, at = _part(pattern, at)
        limits, at = _repeat(pattern, at)
        if limits is None:
            tree += part
            continue
        if limits[0] > limits[1] or _repeat(pattern, at)[0] is not None:
            raise re.error("unsupported repeat", pattern, at - 1)
        tree.append(Repeat(*limits, part))
    return tuple(tree), at


def _part(pattern: str, at: int) -> tuple[Tree, int]:
    """Return one character, set, position or group, and the offset after it."""
    first = pattern[at]
    if first == "(":
        return _group(pattern, at)
    if first == "[":
        match = _SET.match(pattern, at)
        if match is None:
            raise re.error("unterminated character set", pattern, at)
        return (_set(match[0]),), match.end()
    if first == "\\":
        return (_escape(pattern, at),), at + 2
    if first in _SIGNS:
        raise re.error("nothing to repeat", pattern, at)
    return (Other(first) if first in ".^$" else Literal(first),), at + 1


def _group(pattern: str, at: int) -> tuple[Tree, int]:
    plain = not pattern.startswith("(?", at)
    if not plain and not pattern.startswith("(?:", at):
        raise re.error("unsupported group", pattern, at)
    body, end = _alternatives(pattern, at + (1 if plain else 3))
    if pattern[end : end + 1] != ")":
        raise re.error("missing ), unterminated subpattern", pattern, at)
    return (Group(body),) if plain else body, end + 1


def _set(source: str) -> Node:
    if single := _SINGLE.fullmatch(source):
        return Literal(single[1] or single[2])
    return Other(source) if source.startswith("[^") else Characters(source)


def _escape(pattern: str, at: int) -> Node:
    escaped = pattern[at + 1 : at + 2]
    if escaped in (*_CLASSES, *_POSITIONS):
        return (Characters if escaped in _CLASSES else Other)(f"\\{escaped}")
    if not escaped or escaped.isalnum():
        raise re.error(f"unsupported escape \\{escaped}", pattern, at)
    return Literal(escaped)


def _repeat(pattern: str, at: int) -> tuple[tuple[int, int] | None, int]:
    """Return the least and the greatest number of repeats, and the offset after them; None without a
    repeat."""
    if (sign := pattern[at : at + 1]) in _SIGNS:
        return _SIGNS[sign], at + 1
    match = _COUNT.match(pattern, at)
    if match is None or match[0] == "{}":
        return None, at
    least, comma, most = match.groups()
    return (int(least or 0), int(most or sys.maxsize) if comma else int(least)), match.end()


def repeats_a_repeat(pattern: str) -> bool:
    """Return whether the pattern often repeats a part that itself repeats or has alternatives, at any depth:
    `((a+)b?)+` tries every way to divide a line. Raises ValueError for a pattern that cannot be analysed."""
    try:
        return _any_repeat(parsed(pattern), within=False)
    except RecursionError as problem:
        raise ValueError(f"{pattern[:80]!r}… is nested too deeply") from problem
    except re.error as problem:
        raise ValueError(f"{pattern!r} has syntax that is not for logs: {problem}") from problem


def _any_repeat(tree: Tree, *, within: bool) -> bool:
    """Return whether a tree has such a repeat. `within`: the tree itself is repeated."""
    for node in tree:
        if isinstance(node, Repeat):
            often = within or node.most >= _OFTEN
            if (within and node.least != node.most) or _any_repeat(node.body, within=often):
                return True
        if isinstance(node, Group) and _any_repeat(node.body, within=within):
            return True
        if isinstance(node, Branch) and (within or any(_any_repeat(b, within=False) for b in node.branches)):
            return True
    return False
