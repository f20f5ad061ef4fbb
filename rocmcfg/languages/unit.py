"""Read Environment= and DefaultEnvironment= in units and system.conf of systemd (systemd.syntax(7),
systemd.exec(5); src/shared/conf-parser.c, `config_parse`; src/core/load-fragment.c, `config_parse_environ`;
src/basic/extract-word.c)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from rocmcfg.languages import BYTE_ORDER_MARK, Effect, Statement, is_damaged, without_values
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_SECTIONS = {"Environment": "Service", "DefaultEnvironment": "Manager"}
_BLANKS = " \t\n\r"
_NO_END = 1 << 62
# A unit with such a header is not loaded.
_MALFORMED = regex(r"^[ \t]*\[(?![^\n\r]*\][ \t]*\r?$)", re.MULTILINE)
_LINE_END = regex(r"\r\n|\n\r|[\r\n]")  # src/basic/fileio.c, `read_line_full`


class Word(NamedTuple):
    """A word of a value. `value` is the text without quotes; with a backslash, whose meaning only the manager
    knows, a single `%` in it marks it as unknown. text[start:stop] is the word as it is written, with its
    quotes, and `parts` are the ranges of its text without them."""

    value: str
    start: int
    stop: int
    parts: tuple[tuple[int, int], ...]


class Directive(NamedTuple):
    """A directive. `value` has its continued lines joined by a blank, without comments between those lines.
    text[start:stop] are the lines of the directive. `places` are pairs (offset in `value`, offset in the
    text), one for each line."""

    section: str
    key: str
    value: str
    line: int
    start: int = 0
    stop: int = 0
    places: tuple[tuple[int, int], ...] = ((0, 0),)

    def at(self, offset: int) -> int:
        """Return the offset in the text of a character of `value`."""
        here, there = self.places[bisect_right(self.places, (offset, _NO_END)) - 1]
        return there + offset - here

    def split(self) -> tuple[list[Word], int]:
        """Return the words up to the first unclosed quote, after which systemd ignores the text, and the
        offset in the text of the word with that quote; -1 if there is none."""
        at, text, words = 0, self.value, list[Word]()
        while at < len(text):
            if text[at] in _BLANKS:
                at += 1
                continue
            start, value, quote, kept = at, "", "", list[int]()
            while at < len(text) and (quote or text[at] not in _BLANKS):
                character = text[at]
                if character == "\\":
                    value += "%\\" + text[at + 1 : at + 2]
                    kept += range(at, min(at + 2, len(text)))
                    at += 1
                elif character == quote:
                    quote = ""
                elif not quote and character in "'\"":
                    quote = character
                else:
                    value += character
                    kept.append(at)
                at += 1
            if quote:
                return words, self.at(start)
            stop = self.at(min(at, len(text)) - 1) + 1
            words.append(Word(value, self.at(start), stop, _ranges(self.at(here) for here in kept)))
        return words, -1


def _ranges(offsets: Iterable[int]) -> tuple[tuple[int, int], ...]:
    ranges: list[tuple[int, int]] = []
    for at in offsets:
        if ranges and ranges[-1][1] == at:
            ranges[-1] = ranges[-1][0], at + 1
        else:
            ranges.append((at, at + 1))
    return tuple(ranges)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for end in _LINE_END.finditer(text):
        yield start, text[start : end.start()]
        start = end.end()
    yield start, text[start:]


def directives(text: str) -> Iterator[Directive]:
    """Yield each directive. A backslash continues a line if it is the last character, even before a blank,
    and not the second of a pair."""
    section, pieces = "", list[tuple[int, str]]()
    number, counted = 1, 0
    for start, line in _lines(text):
        if line.lstrip(_BLANKS)[:1] in ("#", ";") and line.strip(_BLANKS):
            continue
        continues = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if not pieces:
            number += text.count("\n", counted, start)
            counted = start
        pieces.append((start, f"{line[:-1]} " if continues else line))
        if continues:
            continue
        whole = "".join(piece for _, piece in pieces).strip(_BLANKS)
        if whole.startswith("["):
            section = whole[1:-1] if whole.endswith("]") else ""
        elif "=" in whole:
            yield _directive(section, pieces, number)
        pieces = []
    if pieces and "=" in "".join(piece for _, piece in pieces):
        yield _directive(section, pieces, number)


def _directive(section: str, pieces: list[tuple[int, str]], line: int) -> Directive:
    whole = "".join(piece for _, piece in pieces)
    key, _, value = whole.partition("=")
    begin = len(key) + 1 + len(value) - len(value.lstrip(_BLANKS))
    places, length = list[tuple[int, int]](), 0
    for start, piece in pieces:
        if length + len(piece) > begin:
            skipped = max(0, begin - length)
            places.append((length + skipped - begin, start + skipped))
        length += len(piece)
    first, last = pieces[0], pieces[-1]
    stop = last[0] + len(last[1])
    return Directive(
        section, key.strip(_BLANKS), value.strip(_BLANKS), line, first[0], stop, tuple(places) or ((0, stop),)
    )


def read(text: str) -> Iterator[Statement]:
    """Yield the variables that are set. What UnsetEnvironment= removes, it removes at the end."""
    statements = _statements(text)
    return without_values(statements) if is_damaged(text) or _MALFORMED.search(text) else statements


def _statements(text: str) -> Iterator[Statement]:
    for directive in directives(text.removeprefix(BYTE_ORDER_MARK)):
        if _SECTIONS.get(directive.key) != directive.section:
            continue
        if not directive.value:
            yield Statement("", "", directive.line, 0, 0, Effect.FORGETS)
        for word in directive.split()[0]:
            name, equals, value = word.value.partition("=")
            if equals and _NAME.fullmatch(name):
                yield Statement(name, without_specifiers(value), directive.line, word.start, word.stop)


def without_specifiers(value: str) -> str | None:
    """Return a value as the manager passes it on; None where specifiers in it depend on the unit or the
    host."""
    parts = value.split("%%")
    return None if any("%" in part for part in parts) else "%".join(parts)
