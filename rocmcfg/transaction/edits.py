"""What is left, after an undo, of files that others own and that we edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocmcfg.host.view import Host, HostView
from rocmcfg.records.receipt import digest
from rocmcfg.records.steps import FileChanged, Journal


def left(content: bytes, journals: Sequence[Journal], path: str) -> bytes | None:
    """The file after the undo of these transactions, newest first. None where somebody altered our part."""
    found: bytes | None = content
    for one in journals:
        for step in reversed(one.of(FileChanged)):
            if step.path == path and step.edit is not None and found is not None:
                found = step.edit.undone(found)
    return found


def altered(view: HostView, journals: Sequence[Journal]) -> list[str]:
    """The files that others own in which they altered our part as well; newest transaction first."""
    steps = (step for one in journals for step in one.of(FileChanged) if step.edit is not None)
    found = []
    for path in dict.fromkeys(step.path for step in steps):
        content = view.read(path)  # a file that is gone holds no edit that could be lost
        if view.is_symlink(path) or (content is not None and left(content, journals, path) is None):
            found.append(path)
    return found


def taken_back(host: Host, step: FileChanged) -> bool:
    """Whether only our part of a file was taken back, because others wrote to the rest of it since."""
    now = host.state(step.path)
    before = step.before.sha256 if step.before is not None else ""
    if step.edit is None or now is None or digest(now.content) in (before, step.after):
        return False
    left = step.edit.undone(now.content)
    if left is not None and left != now.content:
        host.write(step.path, replace(now, content=left), keep_mtime=False)
    return left is not None
