"""A change to a few bytes of a file that somebody else owns.

An edit is recorded by its exact bytes. It is taken back by taking these bytes out again, so that what others
wrote elsewhere in the file since stays.
"""

from __future__ import annotations

from typing import Protocol

from rocmcfg.model.shape import NamedTuple


class Edit(NamedTuple):
    """`removed` stood in the file and goes, `inserted` takes its place; either may be empty. What has no
    place of its own goes to the end of the file."""

    removed: bytes
    inserted: bytes

    def undone(self, content: bytes) -> bytes | None:
        """The file without this edit. None where somebody altered the bytes that the edit inserted."""
        return _replaced(content, self.inserted, self.removed)


class Editor(Protocol):
    """Knows our part of a file that somebody else owns. Pure, over bytes."""

    def own(self, content: bytes) -> bytes | None:
        """Our part; None where the file has none."""

    def put(self, content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
        """The file with `wanted` as our part, or without any, and the edit that makes it so."""


def appended(content: bytes, lines: bytes) -> bytes:
    """The bytes that put whole lines behind a file, whose last line may lack its end."""
    return b"\n" + lines if content and not content.endswith(b"\n") else lines


def _replaced(content: bytes, old: bytes, new: bytes) -> bytes | None:
    if not old:
        return content if _stands_in(content, new) else _placed(content, new)
    if content.count(old) == 1:
        before, _, after = content.partition(old)
        if not old.startswith(b"\n") and not _inline(old) and before and not before.endswith(b"\n"):
            return None  # somebody wrote in front of it, in its first line
        # the line break that closed a foreign line still has to, where others wrote behind us since
        gap = b"\n" if old.startswith(b"\n") and after and not new else b""
        return before + gap + new + after
    if _stands_in(content, new):
        return content  # taken back already
    # of a part of a line, the word that it begins or ends with tells that it is still there
    marks = {old.split()[0], old.split()[-1]}
    altered = marks & set(content.split()) if _inline(old) else _lines(old) & _lines(content)
    # where others took all of it out, only what was there before is to be put back
    return None if altered else _placed(content, new)


def _placed(content: bytes, new: bytes) -> bytes:
    """At the end of the file; what begins with a blank belongs to its first line."""
    if _inline(new):
        line, end, rest = content.partition(b"\n")
        return line + new + end + rest
    return content + (appended(content, new) if new else b"")


def _inline(part: bytes) -> bool:
    """Say whether the text is a part of a line, and not whole lines."""
    return part.startswith(b" ")


def _stands_in(content: bytes, lines: bytes) -> bool:
    return bool(lines) and content.count(lines.lstrip(b"\n")) == 1


def _lines(content: bytes) -> set[bytes]:
    return {line.strip() for line in content.splitlines() if line.strip()}
