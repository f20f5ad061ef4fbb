"""Outlines of lines: what is left of a line when its digits, or its hexadecimal numbers too, are made equal;
and which patterns cannot tell lines of one outline apart.

Both kinds of outline have as many characters as the line. In the first, all digits are alike, except that
`0x` stays apart from `1x`. In the second, all words that are a hexadecimal number are alike, too: `0x1f3a`,
and words of four letters from a to f and digits or more that have both, such as hashes.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rocmcfg.model import regex_tree
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

DIGITS = b"0123456789"
_ZEROS = bytes.maketrans(DIGITS, b"0" * len(DIGITS))
_LETTERS = b"abcdef"
# How many kinds of outline there are that a pattern may be blind to: those of digits, then of numbers.
NONE, DECIMAL, HEXADECIMAL = range(3)
# Hexadecimal numbers in the first kind of outline. The word before or after must not continue it.
_HEXADECIMAL = regex(
    rb"(?<![\w\0])(?:\0x[0a-f]{1,256}|(?=0*[a-f])(?=[a-f]*0)[0a-f]{4,256})(?![\w\0])", re.ASCII
)


def outline(line: bytes) -> bytes:
    """Return the line with all its digits alike. No line holds a line feed, so it stands for NUL here, and
    NUL for the zero of `0x`: two lines that differ in more than digits have two outlines."""
    return line.replace(b"\0", b"\n").replace(b"0x", b"\0x").translate(_ZEROS)


def outlines(lines: bytes) -> list[bytes]:
    """Return the outlines of lines that are joined by line feeds."""
    if b"\0" in lines:
        return [outline(line) for line in lines.split(b"\n")]
    return lines.replace(b"0x", b"\0x").translate(_ZEROS).split(b"\n")


def without_hexadecimal(of_line: bytes) -> tuple[bytes, int]:
    """Return the second kind of outline for one of the first kind, and how many numbers it has."""
    return _HEXADECIMAL.subn(_alike, of_line)


def _alike(number: re.Match[bytes]) -> bytes:
    size = len(number[0])
    return (b"\0x" if number[0].startswith(b"\0") else b"f0").ljust(size, b"0")


# -- which patterns are blind to what an outline leaves out ------------------------------------------------

_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_DECIMAL = frozenset(DIGITS)
_HEX = frozenset(DIGITS + _LETTERS)
_X, _END = b"x\n"
_DOUBTFUL = regex(rb"[0-9]|\A[a-fx]+(?!\w)|(?<!\w)[a-fx]+\Z", re.ASCII)
_POSITIONS = ("^", "$", r"\A", r"\b", r"\B", r"\Z")


class _Step(NamedTuple):
    """One character of a match, or several in a row if `repeats`: the bytes that it may be."""

    bytes: frozenset[int]
    repeats: bool = False


_Run = Sequence[_Step]


def blindness(pattern: str, needs: Sequence[str] = ()) -> int:
    """Return the last kind of outline of which a pattern, together with the texts that a line needs, matches
    all lines or none. Raises re.error and RecursionError for a pattern that cannot be analysed."""
    runs = [*_runs(regex_tree.parsed(pattern)), *(_of_text(text.encode()) for text in needs)]
    if not all(map(_is_digit_blind, runs)):
        return NONE
    return HEXADECIMAL if all(map(_is_apart, runs)) else DECIMAL


@functools.cache
def shown(text: bytes, kind: int) -> bytes:
    """Return the longest part of a text that a line's outline of this kind shows if the line has the text, as
    it stands in `bare_of` the outline."""
    if kind == HEXADECIMAL and _DOUBTFUL.search(text):
        run = _of_text(text)
        apart = bytes(text[at] if _is_step_apart(run, at) else _END for at in range(len(text)))
        text = max(apart.split(bytes((_END,))), key=len)
    return text.translate(None, DIGITS)


def bare_of(of_line: bytes) -> bytes:
    """Return an outline without its digits."""
    return of_line.translate(None, b"0\0").replace(b"\n", b"\0")


def _of_text(text: bytes) -> _Run:
    return [_Step(frozenset((byte,))) for byte in text]


def _runs(tree: regex_tree.Tree) -> Iterator[_Run]:
    """Yield the steps of a pattern, those together that follow directly one upon the other."""
    run: list[_Step] = []
    for node in tree:
        step = _step(node)
        if step is not None:
            run.append(step)
        elif not isinstance(node, regex_tree.Other):  # a position separates nothing
            yield run
            run = []
            for inner in _inner(node):
                yield from _runs(inner)
    yield run


def _step(node: regex_tree.Node) -> _Step | None:
    if isinstance(node, regex_tree.Literal):
        return _Step(frozenset(node.character.encode()))
    if isinstance(node, (regex_tree.Characters, regex_tree.Other)):
        return None if node.source in _POSITIONS else _Step(bytes_of(node.source))
    if isinstance(node, regex_tree.Repeat) and node.least > 0 and len(node.body) == 1:
        step = _step(node.body[0])
        return None if step is None else step._replace(repeats=True)
    return None


def _inner(node: regex_tree.Node) -> Sequence[regex_tree.Tree]:
    if isinstance(node, regex_tree.Branch):
        return node.branches
    return (node.body,) if isinstance(node, (regex_tree.Group, regex_tree.Repeat)) else ()


@functools.cache
def bytes_of(source: str) -> frozenset[int]:
    """Return the bytes that a set matches."""
    matches = re.compile(source.encode(), re.DOTALL).fullmatch
    return frozenset(byte for byte in range(256) if matches(bytes((byte,))))


def _is_digit_blind(run: _Run) -> bool:
    return all(
        step.bytes.isdisjoint(_DECIMAL) or step.bytes >= _DECIMAL or _is_prefix(run[at : at + 2])
        for at, step in enumerate(run)
    )


def _is_prefix(steps: _Run) -> bool:
    return steps == [_Step(frozenset(b"0")), _Step(frozenset(b"x"))]


def _is_apart(run: _Run) -> bool:
    """Return whether each step matches all hexadecimal digits or none, or lies outside of the numbers that
    the second kind of outline makes equal."""
    return all(_is_step_apart(run, at) for at in range(len(run)))


def _is_step_apart(run: _Run, at: int) -> bool:
    return (
        run[at].bytes.isdisjoint(_HEX)
        or run[at].bytes >= _HEX
        or _is_in_word(run[at + 1 :], _WORD - _HEX)
        or _is_in_word(run[at - 1 :: -1] if at else (), _WORD - _HEX - {_X})
        or _is_between(run, at)
    )


def _is_in_word(steps: _Run, others: frozenset[int]) -> bool:
    """Return whether the steps go on with the same word up to a character that no number has."""
    for step in steps:
        if not step.bytes <= _WORD:
            return False
        if step.bytes <= others:
            return True
    return False


def _is_between(run: _Run, at: int) -> bool:
    """Return whether the word of a step has an end on both sides and either no digits or nothing else: a
    number that is made equal has digits and letters."""
    ends = [number for number, step in enumerate(run) if step.bytes.isdisjoint(_WORD)]
    index = bisect_left(ends, at)
    if index in (0, len(ends)):
        return False
    between = [step.bytes for step in run[ends[index - 1] + 1 : ends[index]]]
    return all(map(_DECIMAL.isdisjoint, between)) or all(map(_DECIMAL.issuperset, between))
