"""Append our lines to a foreign file, between two comments that mark them. The lines are found again by the
first of these comments. This is for files in which each line stands alone."""

from __future__ import annotations

import re

from rocmcfg.files import templates
from rocmcfg.model.edit import Edit, appended
from rocmcfg.model.regex import regex

BEGIN = "# rocmcfg begin: written by rocmcfg apply. Undo: sudo rocmcfg rollback"
END = "# rocmcfg end"
_OWN = regex(rf"^{re.escape(BEGIN)}\n(?:(?!#)[^\n]+\n)*?(?:{END}(?:\n|\Z)|(?=#|\n|\Z))".encode(), re.M)


def part(lines: str) -> bytes:
    return templates.marked_lines(begin=BEGIN, lines=lines, end=END).encode()


def own(content: bytes) -> bytes | None:
    match = _OWN.search(content)
    return match[0] if match else None


def put(content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
    match = _OWN.search(content)
    if match is None:
        edit = Edit(b"", appended(content, wanted) if wanted else b"")
        return content + edit.inserted, edit
    edit = Edit(match[0], wanted or b"")
    return content[: match.start()] + edit.inserted + content[match.end() :], edit
