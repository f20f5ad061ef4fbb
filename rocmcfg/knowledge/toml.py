"""Read TOML with places: syntax errors by line and column, and the line of any key for other errors."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.regex import regex

# Blanks inside the brackets belong to the name: two adjacent parts that both match blanks would backtrack.
_HEADER = regex(r"^\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$")
_KEY = regex(
    r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*="""
)
# Multi-line texts, in which a line may look like a key; before them, tokens that may hold their quotes.
_TEXT = regex(
    r"""#[^\n]*|(\"{3}(?:[^\\]|\\.)*?\"{3,5}|'{3}.*?'{3,5})|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""", re.DOTALL
)
_PART = regex(r""""([^"]*)"|'([^']*)'|([^.\s"']+)""")
# A key of so many parts, anywhere: TOML's reader copies them once for each part, and for each key below them.
_DEEP = regex(r"""(?<![\w"'-])(?:[\w"'-]+[ \t]*\.[ \t]*){64}""")
# How to correct a mistake, by a part of the message of Python's reader.
_HINTS = {
    "Invalid value": "put a text into quotes",
    "Illegal character": "close the quotes in the line where they begin",
    "defined twice": "keep one of the two",
    "Cannot ": "write each key and each table once",
    "Expected '='": "write KEY = VALUE",
    "Unclosed": "close it",
    "Expected newline or end of document": "begin a new line for each key",
}
_PLACE = regex(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")


def parse(content: bytes, name: str) -> dict[str, Any] | Diagnostic:
    """Return the document, or the one syntax error that TOML readers report."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        return error("RC1001", "the file is not UTF-8", location=f"{name}:{line}", hint="save it as UTF-8")
    deep = _DEEP.search(text)
    if deep is not None:
        return _syntax("a key has too many parts", f"{name}:{_line(text, deep)}")
    tomllib = _reader()
    try:
        return loads(text)
    except tomllib.TOMLDecodeError as problem:
        message = str(problem)
        place = _PLACE.search(message)
        mistake = _PLACE.sub("", message).strip()[:200]
        at_end = str(len(text.splitlines()) or 1)
        where = f"{place.group(1)}:{place.group(2)}" if place and place.group(1) else at_end
        if mistake.startswith("Cannot "):
            mistake = _defined_before(text, int(where.partition(":")[0])) or mistake
    except RecursionError:
        mistake, where = "lists or tables are nested too deeply", "1"
    except ValueError as problem:  # an integer of thousands of digits
        digits = re.search(r"[0-9][0-9_]{999}", text)
        mistake, where = str(problem).partition(";")[0], str(_line(text, digits) if digits else 1)
    return _syntax(mistake, f"{name}:{where}")


def _syntax(mistake: str, location: str) -> Diagnostic:
    summary = f"TOML syntax: {mistake}"
    hint = next((hint for sign, hint in _HINTS.items() if sign in mistake), "see https://toml.io")
    return error("RC1002", summary, location=location, hint=hint)


def _defined_before(text: str, line: int) -> str:
    """Return a sentence about a key of a line that is also defined above it; empty where there is no such
    key. Another row of a list of tables has keys of its own."""
    target: tuple[str, ...] = next((path for path, number in keys(text) if number == line), ())
    first = 0
    for path, number in keys(text):
        if number >= line:
            break
        if path == target:
            first = number
        elif path == target[: len(path)]:
            first = 0
    return f"{'.'.join(target)} is defined twice, first in line {first}" if first else ""


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


def loads(text: str) -> dict[str, Any]:
    """Return a document of our own, which is known to be valid."""
    document: dict[str, Any] = _reader().loads(text)
    return document


def _reader() -> Any:
    """Return Python's own reader, loaded only when a file is read."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib


@functools.cache
def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the first line of each key and table header. A key inside an inline table has the line of the
    table."""
    lines: dict[tuple[str, ...], int] = {}
    for path, number in keys(text):
        lines.setdefault(path, number)
    return lines


def keys(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each key and table header with its line, in the order of the text."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(_TEXT.sub(_lines_alone, text).splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            table = _parts(header.group(1))
            yield table, number
            continue
        key = _KEY.match(line)
        if key:
            yield table + _parts(key.group(1)), number


def _lines_alone(text: re.Match[str]) -> str:
    """Return only the line breaks of a multi-line text, so that later lines keep their numbers; return any
    other text unchanged."""
    return "\n" * text[0].count("\n") if text[1] else text[0]


def line_of(lines: dict[tuple[str, ...], int], path: Sequence[str | int]) -> int:
    """Return the line of a key path, or of the nearest enclosing table; 1 where none is known."""
    names = tuple(str(part) for part in path)
    for end in range(len(names), 0, -1):
        if names[:end] in lines:
            return lines[names[:end]]
    return 1


def _parts(text: str) -> tuple[str, ...]:
    return tuple(a or b or c for a, b, c in _PART.findall(text))
