"""A change to a few bytes of a foreign file.

An edit is recorded by its exact bytes. It is undone by removing these bytes again, so that later changes
elsewhere in the file are kept. What an edit moved out of the file is put back by its words, so that this
succeeds after later changes too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from rocmcfg.model.shape import NamedTuple

# The characters of a value without quotes that are none of the shell's.
_BARE = rb"[A-Za-z0-9._,:@%+=/-]*"


class Moved(NamedTuple):
    """What an edit moved out of a file of the owner's: words of the value of the shell variable `variable`,
    or whole lines where `variable` is empty."""

    variable: str
    words: tuple[str, ...]

    def back_in(self, content: bytes) -> bytes:
        """Return the file with each of these words that is not in it. They come first, so that a value of the
        same name that others wrote since still wins. undo.sh does the same (`with_words`, `with_lines`)."""
        words = [word.encode() for word in self.words]
        return (
            _with_words(content, self.variable.encode(), words)
            if self.variable
            else _with_lines(content, words)
        )


class Edit(NamedTuple):
    """An edit: `inserted` replaces `removed`; either may be empty. A text without a place goes to the end of
    the file. `moved` is what the edit moved out of the file besides."""

    removed: bytes
    inserted: bytes
    moved: tuple[Moved, ...] = ()

    @property
    def only_moves(self) -> bool:
        """Return whether nothing of rocmcfg's is in the file by this edit."""
        return bool(self.moved) and not self.inserted

    def undone(self, content: bytes) -> bytes | None:
        """Return the content without this edit; None where the inserted bytes were altered."""
        left = _replaced(content, self.inserted, self.removed)
        for part in reversed(self.moved):
            left = None if left is None else part.back_in(left)
        return left


class Editor(Protocol):
    """An editor for our part of a foreign file: pure functions over bytes."""

    def own(self, content: bytes) -> bytes | None:
        """Return our part; None where the file has none."""

    def put(self, content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
        """Return the content with `wanted` as our part, or without our part, and the edit that produces
        it."""


def joined(parts: Sequence[Moved]) -> tuple[Moved, ...]:
    """Return the parts with one for each variable."""
    words: dict[str, list[str]] = {}
    for part in parts:
        words.setdefault(part.variable, []).extend(part.words)
    return tuple(Moved(variable, tuple(dict.fromkeys(every))) for variable, every in words.items())


def matches(path: str, pattern: str) -> bool:
    """Return whether a path is one that a pattern describes; the pattern has a * in its last part at most."""
    before, star, after = pattern.partition("*")
    if not star:
        return path == pattern
    name = path[len(before) : len(path) - len(after)]
    return path.startswith(before) and path.endswith(after) and name != "" and "/" not in name


def appended(content: bytes, lines: bytes) -> bytes:
    """Return the bytes that append whole lines to a content whose last line may have no line break."""
    return b"\n" + lines if content and not content.endswith(b"\n") else lines


def _replaced(content: bytes, old: bytes, new: bytes) -> bytes | None:
    if not old:
        return content if _stands_in(content, new) else _placed(content, new)
    if content.count(old) == 1:
        before, _, after = content.partition(old)
        if not old.startswith(b"\n") and not _inline(old) and before and not before.endswith(b"\n"):
            return None  # a text was inserted before it, in its first line
        # the line break that ended a foreign line is still needed if lines were added after ours since
        gap = b"\n" if old.startswith(b"\n") and after and not new else b""
        return before + gap + new + after
    if _stands_in(content, new):
        return content  # already undone
    # the first or last word of a part of a line shows that it is still there
    marks = {old.split()[0], old.split()[-1]}
    altered = marks & set(content.split()) if _inline(old) else _lines(old) & _lines(content)
    # if all of it was removed, only the former text is restored
    return None if altered else _placed(content, new)


def _placed(content: bytes, new: bytes) -> bytes:
    """Return the content with a text at its end, or at the end of its first line if the text begins with a
    blank."""
    if _inline(new):
        line, end, rest = content.partition(b"\n")
        return line + new + end + rest
    return content + (appended(content, new) if new else b"")


def _inline(part: bytes) -> bool:
    """Return whether the text is a part of a line, not whole lines."""
    return part.startswith(b" ")


def _stands_in(content: bytes, lines: bytes) -> bool:
    return bool(lines) and content.count(lines.lstrip(b"\n")) == 1


def _lines(content: bytes) -> set[bytes]:
    return {line.strip() for line in content.splitlines() if line.strip()}


def _with_words(content: bytes, variable: bytes, words: Sequence[bytes]) -> bytes:
    """The words stand first in the last assignment of the variable that can hold them, else in a new one."""
    assignments = _assignments(content, variable)
    present = {word for match in assignments for word in re.split(rb"[\s\"']+", match["value"])}
    missing = b" ".join(word for word in words if word not in present)
    if not missing:
        return content
    if not assignments:
        return content + appended(content, b'%s="%s${%s:+ $%s}"\n' % (variable, missing, variable, variable))
    at = assignments[-1].start("value")
    value = assignments[-1]["value"]
    if value[:1] in (b'"', b"'"):
        gap = b"" if value[1:2] == value[:1] else b" "
        return content[: at + 1] + missing + gap + content[at + 1 :]
    gap = b" " if value else b""
    return content[:at] + b'"' + missing + gap + value + b'"' + content[at + len(value) :]


def _assignments(content: bytes, variable: bytes) -> list[re.Match[bytes]]:
    """The lines that assign the variable, whose value is in quotes or plain. Those that rocmcfg appends are
    left out: `"${NAME:+$NAME }…"`."""
    pattern = rb"^[ \t]*(?:export[ \t]+)?%s=(?!\"\$\{%s:\+)(?P<value>[\"'][^\n]*|%s(?=[ \t\n]|\Z))" % (
        variable,
        variable,
        _BARE,
    )
    return list(re.finditer(pattern, content, re.MULTILINE))


def _with_lines(content: bytes, lines: Sequence[bytes]) -> bytes:
    """The lines stand at the beginning of the file."""
    present = set(content.split(b"\n"))
    return b"".join(line + b"\n" for line in lines if line not in present) + content
