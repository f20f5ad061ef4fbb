"""What a shell variable holds, with the places that wrote it.

A value that expands another one holds that one itself, and no copy: a file of n lines may append to a
variable in each of them, or double it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST = 64 << 10  # characters; a kernel takes 2,048 bytes of what GRUB's variables hold together


class Segment(NamedTuple):
    """A piece of a value and the `file:line` that wrote it."""

    text: str
    source: str


class Value:
    """Iterates over its segments. None of its parts is empty, so that their number is bounded by `length`."""

    __slots__ = ("_parts", "length")

    def __init__(self, parts: Sequence[Segment | Value] = ()) -> None:
        self._parts = _merged(parts)
        self.length: int = sum(len(p.text) if isinstance(p, Segment) else p.length for p in self._parts)

    def __iter__(self) -> Iterator[Segment]:
        pending: list[Segment | Value] = [self]
        while pending:
            part = pending.pop()
            if isinstance(part, Segment):
                yield part
            else:
                pending += reversed(part._parts)

    def __str__(self) -> str:
        return "".join(segment.text for segment in self)


def _merged(parts: Sequence[Segment | Value]) -> tuple[Segment | Value, ...]:
    """Neighbours of one line as one segment; without what is empty, and without a value in a value alone."""
    found: list[Segment | Value] = []
    texts: list[str] = []
    source = ""

    def flush() -> None:
        if texts:
            found.append(Segment("".join(texts), source))
            texts.clear()

    for part in parts:
        if isinstance(part, Value):
            if part.length:
                flush()
                found.append(part)
        elif part.text:
            if part.source != source:
                flush()
                source = part.source
            texts.append(part.text)
    flush()
    only = found[0] if len(found) == 1 else None
    return only._parts if isinstance(only, Value) else tuple(found)
