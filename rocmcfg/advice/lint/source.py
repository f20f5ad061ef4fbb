"""A text and the places in it.

Readers remove quotes and join continued lines, and still every token must be shown where it was written. A
`Span` is such a text together with a map to the offsets of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator

from rocmcfg.model.shape import NamedTuple

_NO_END = 1 << 62
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the byte order marks with which such a text begins
_LOOKED_AT = 4096  # bytes
_CONTROLS = bytes({*range(1, 32)} - {*b"\a\b\t\n\v\f\r\x1a\x1b"})


class Span(NamedTuple):
    """A piece of text with its places in the file. `runs` are ascending pairs (offset in `text`, offset in
    the file); up to the next pair both offsets advance together."""

    text: str
    runs: tuple[tuple[int, int], ...]

    def at(self, offset: int) -> int:
        """Return the offset in the file of a character of `text`."""
        here, there = self.runs[bisect_right(self.runs, (offset, _NO_END)) - 1]
        return there + offset - here

    def range(self, start: int, stop: int) -> tuple[int, int]:
        """Return the range of text[start:stop] in the file, including characters that `text` leaves out."""
        begin = self.at(start)
        return begin, self.at(stop - 1) + 1 if stop > start else begin

    @property
    def place(self) -> tuple[int, int]:
        """The range of the whole text in the file."""
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
        """Replace like `re.sub`; a replacement gets the place where its match begins."""
        parts, at = [], 0
        for match in pattern.finditer(self.text):
            parts += [self.cut(at, match.start()), Span(text(match), ((0, self.at(match.start())),))]
            at = match.end()
        return joined([*parts, self.cut(at)])

    def lines(self, *, ends: bool = False) -> Iterator[Span]:
        """Yield each line; with `ends` together with its line break, LF or CRLF."""
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
        """Yield logical lines: a line that ends with an unescaped backslash is joined with the next one; with
        `blanks_behind` blanks may follow the backslash. Lines that begin with one of `comments` are left out,
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
        """Return the start and stop of a line, including its line break."""
        stop = self._starts[number] if number < len(self._starts) else len(self.text)
        return self._starts[number - 1], stop


def is_binary(content: bytes) -> bool:
    """Return whether the beginning of a file has more control characters than terminals and word processors
    leave in a text. Single NULs are no sign: they separate the variables in /proc/PID/environ."""
    head = content[:_LOOKED_AT]
    strange = len(head) - len(head.translate(None, _CONTROLS)) + head.count(b"\0\0")
    return strange * 50 > len(head) and not head.startswith(_UTF_16)


def decode(content: bytes) -> str:
    """Decode a file in UTF-8, or in UTF-16 if it begins with that byte order mark; invalid bytes become
    U+FFFD.

    The mark of UTF-8 stays, because some programs do not skip it. The NUL between the variables of
    /proc/PID/environ becomes a line break.
    """
    if content.startswith(_UTF_16):
        return content.decode("utf-16", "replace").replace("\0", "\n")
    return content.decode("utf-8", "replace").replace("\0", "\n")


class Ranges:
    """Ranges of a text, for a quick look whether another one overlaps them."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans: list[tuple[int, int]] = []
        for start, stop in sorted({*spans}):
            if self._spans and start <= self._spans[-1][1]:
                self._spans[-1] = (self._spans[-1][0], max(stop, self._spans[-1][1]))
            else:
                self._spans.append((start, stop))
        self._starts = [start for start, _ in self._spans]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._spans)

    def overlap(self, start: int, stop: int) -> bool:
        number = bisect_left(self._starts, stop)
        return number > 0 and self._spans[number - 1][1] > start

    def add(self, start: int, stop: int) -> None:
        """Add a range, unless one of these overlaps it."""
        if not self.overlap(start, stop):
            number = bisect_left(self._starts, start)
            self._starts.insert(number, start)
            self._spans.insert(number, (start, stop))
