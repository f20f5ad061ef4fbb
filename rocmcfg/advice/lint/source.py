"""A text and the places in it.

Readers take quotes away and join continued lines, and still every token must be shown where it was written.
A `Span` is such a text together with the way back to the offsets of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from rocmcfg.model.shape import NamedTuple

_NO_END = 1 << 62
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how such a text says what it is
_LOOKED_AT = 4096  # bytes
_CONTROLS = bytes({*range(1, 32)} - {*b"\a\b\t\n\v\f\r\x1a\x1b"})


class Span(NamedTuple):
    """`runs` are pairs (offset in `text`, offset in the file), ascending: from there on both count alike."""

    text: str
    runs: tuple[tuple[int, int], ...]

    def at(self, offset: int) -> int:
        """The offset in the file of a character of `text`."""
        here, there = self.runs[bisect_right(self.runs, (offset, _NO_END)) - 1]
        return there + offset - here

    def range(self, start: int, stop: int) -> tuple[int, int]:
        """Where text[start:stop] stands in the file, with whatever was written inside it."""
        begin = self.at(start)
        return begin, self.at(stop - 1) + 1 if stop > start else begin

    @property
    def place(self) -> tuple[int, int]:
        """Where all of it stands in the file."""
        return self.range(0, len(self.text))

    def cut(self, start: int, stop: int | None = None) -> Span:
        stop = len(self.text) if stop is None else stop
        if len(self.runs) == 1:
            here, there = self.runs[0]
            return Span(self.text[start:stop], ((0, there + start - here),))
        first = bisect_right(self.runs, (start, _NO_END)) - 1
        last = bisect_right(self.runs, (max(start, stop - 1), _NO_END))
        here, there = self.runs[first]
        runs = [(0, there + start - here)]
        runs += [(offset - start, place) for offset, place in self.runs[first + 1 : last]]
        return Span(self.text[start:stop], tuple(runs))

    def sub(self, pattern: re.Pattern[str], text: Callable[[re.Match[str]], str]) -> Span:
        """As `re.sub`; what is put in stands where the match begins."""
        parts, at = [], 0
        for match in pattern.finditer(self.text):
            parts += [self.cut(at, match.start()), Span(text(match), ((0, self.at(match.start())),))]
            at = match.end()
        return joined([*parts, self.cut(at)])

    def lines(self, *, ends: bool = False) -> Iterator[Span]:
        """Each line; with `ends` together with its line break, whether LF or CRLF."""
        start = 0
        while start <= len(self.text):
            stop = self.text.find("\n", start)
            stop = behind = len(self.text) if stop < 0 else stop
            if ends:
                behind = min(stop + 1, len(self.text))
            elif stop > start and self.text[stop - 1] == "\r":
                behind = stop - 1
            yield self.cut(start, behind)
            start = stop + 1

    def logical_lines(self, comments: tuple[str, ...] = (), *, blanks_behind: bool = False) -> Iterator[Span]:
        """Lines, joined where a backslash at the end continues one that is not escaped itself; with
        `blanks_behind` also where blanks follow it. Those that begin with one of `comments` are left out,
        also between continued lines."""
        parts: list[Span] = []
        for line in self.lines():
            if line.text.lstrip().startswith(comments):
                continue
            content = line.text.rstrip() if blanks_behind else line.text
            continues = (len(content) - len(content.rstrip("\\"))) % 2 == 1
            parts.append(line.cut(0, len(content) - 1) if continues else line)
            if not continues:
                yield joined(parts) if len(parts) > 1 else parts[0]
                parts = []
        if parts:
            yield joined(parts)


def whole(text: str) -> Span:
    return Span(text, ((0, 0),))


def joined(parts: Iterable[Span]) -> Span:
    texts, runs, length = [], [], 0
    for part in parts:
        if part.text:
            runs += [(length + offset, place) for offset, place in part.runs]
            texts.append(part.text)
            length += len(part.text)
    return Span("".join(texts), tuple(runs) or ((0, 0),))


class Source:
    """A file's text; lines and columns count from 1, columns in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> tuple[int, int]:
        """The (start, stop) of a line, its line break included."""
        stop = self._starts[number] if number < len(self._starts) else len(self.text)
        return self._starts[number - 1], stop


def is_binary(content: bytes) -> bool:
    """Return whether its beginning holds more control characters than terminals and word processors leave in
    a text. A NUL alone stands between two variables of /proc/PID/environ."""
    head = content[:_LOOKED_AT]
    strange = len(head) - len(head.translate(None, _CONTROLS)) + head.count(b"\0\0")
    return strange * 50 > len(head) and not head.startswith(_UTF_16)


def decode(content: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 where it says so; bytes that are neither become U+FFFD.

    The mark at the beginning goes: editors do not count it as a column. So does the NUL between the
    variables of /proc/PID/environ, which stands for a line break.
    """
    if content.startswith(_UTF_16):
        return content.decode("utf-16", "replace").replace("\0", "\n")
    return content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\0", "\n")
