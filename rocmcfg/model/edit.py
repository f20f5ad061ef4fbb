"""A change to a few bytes of a foreign file.

An edit is recorded by its exact bytes. It is undone by removing these bytes again, so that later changes
elsewhere in the file are kept.
"""

from __future__ import annotations

from typing import Protocol

from rocmcfg.model.shape import NamedTuple


class Edit(NamedTuple):
    """An edit: `inserted` replaces `removed`; either may be empty. A text without a place goes to the end of
    the file."""

    removed: bytes
    inserted: bytes

    def undone(self, content: bytes) -> bytes | None:
        """Return the content without this edit; None where the inserted bytes were altered."""
        return _replaced(content, self.inserted, self.removed)


class Editor(Protocol):
    """An editor for our part of a foreign file: pure functions over bytes."""

    def own(self, content: bytes) -> bytes | None:
        """Return our part; None where the file has none."""

    def put(self, content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
        """Return the content with `wanted` as our part, or without our part, and the edit that produces
        it."""


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
