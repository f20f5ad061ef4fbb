"""refind_linux.conf: rows of a title and the kernel's arguments, each in double quotes.

Read as rEFInd 0.14.2 reads it (refind/config.c, ReadTokenLine): blanks, `=` and `,` separate, `#` outside
of quotes ends a line, `""` inside of them is one quote. The second word of a row is what the kernel gets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rocmcfg.backends.boot import marked_arguments

_QUOTED = r'"((?:[^"\r\n]|"")*)"'
_ROW = re.compile(rf"^[ \t]*(?:{_QUOTED}|([^\s\"#=,]+))[ \t=,]+{_QUOTED}[ \t]*(?:#.*)?$")
_NO_ROW = re.compile(r"^[ \t]*(?:#.*)?$")


class Row(NamedTuple):
    """`at` is the line, counted from 0; `start` and `end` are where the arguments stand in it."""

    title: str
    arguments: str
    at: int
    start: int
    end: int


def rows(text: str) -> Iterator[Row]:
    for at, line in enumerate(text.split("\n")):
        found = _ROW.match(line.rstrip("\r"))
        if found:
            title = (found[1] or found[2] or "").replace('""', '"')
            yield Row(title, found[3].replace('""', '"'), at, *found.span(3))


def unread(text: str) -> Iterator[int]:
    """The lines, counted from 1, that are no row of two quoted texts."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not _ROW.match(line.rstrip("\r")) and not _NO_ROW.match(line.rstrip("\r")):
            yield number


def with_arguments(content: bytes, ours: bytes | None, normal: Callable[[Row], bool | None]) -> bytes:
    """The file with our part in every normal row, and without it in the others, but for those of which
    `normal` says None: they stay as they are."""
    text = content.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    for row in rows(text):
        if (wanted := normal(row)) is None:
            continue
        line = lines[row.at]
        arguments = line[row.start : row.end].encode("utf-8", "surrogateescape")
        part = ours.replace(b'"', b'""') if ours and wanted else b""
        found, end = marked_arguments.in_place(arguments, part), len(arguments.rstrip())
        arguments = arguments[:end] + part + arguments[end:] if found is None else found
        lines[row.at] = line[: row.start] + arguments.decode("utf-8", "surrogateescape") + line[row.end :]
    return "\n".join(lines).encode("utf-8", "surrogateescape")
