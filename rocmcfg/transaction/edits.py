"""Edits of files that others own, as the journal has them, and what is left of such a file after an undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocmcfg.host.view import Host, HostView
from rocmcfg.model.edit import Edit
from rocmcfg.records.journal import Journal, Record
from rocmcfg.records.receipt import digest


def recorded(edit: Edit) -> Record:
    return {"removed": _text(edit.removed), "inserted": _text(edit.inserted)}


def of_step(step: Record) -> Edit | None:
    """The edit that a step made; None for a file that it wrote as a whole."""
    found = step.get("edit")
    return Edit(_bytes(found["removed"]), _bytes(found["inserted"])) if found else None


def left(content: bytes, journals: Sequence[Journal], path: str) -> bytes | None:
    """The file after the undo of these transactions, newest first. None where somebody altered our part."""
    found: bytes | None = content
    for one in journals:
        for step in reversed(one.of("file")):
            edit = of_step(step) if step["path"] == path else None
            if edit is not None and found is not None:
                found = edit.undone(found)
    return found


def altered(view: HostView, journals: Sequence[Journal]) -> list[str]:
    """The files that others own in which they altered our part as well; newest transaction first."""
    steps = (step for one in journals for step in one.of("file") if of_step(step) is not None)
    found = []
    for path in dict.fromkeys(step["path"] for step in steps):
        content = view.read(path)  # a file that is gone holds no edit that could be lost
        if view.is_symlink(path) or (content is not None and left(content, journals, path) is None):
            found.append(path)
    return found


def taken_back(host: Host, step: Record) -> bool:
    """Whether only our part of a file was taken back, because others wrote to the rest of it since."""
    edit, now = of_step(step), host.state(step["path"])
    if edit is None or now is None or digest(now.content) in (step["before"]["sha256"], step["after"]):
        return False
    left = edit.undone(now.content)
    if left is not None and left != now.content:
        host.write(step["path"], replace(now, content=left), keep_mtime=False)
    return left is not None


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
