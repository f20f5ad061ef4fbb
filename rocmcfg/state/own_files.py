"""Check whether the files that an apply wrote are unchanged."""

from __future__ import annotations

from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.request import command_line
from rocmcfg.records.journal import digest
from rocmcfg.records.receipt import PATH, Receipt
from rocmcfg.state import edits

_UNFINISHED = f"{STATE_DIR}/undo.unfinished"  # the files that undo.sh is removing, until it has finished


def changed_files(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    changed: list[Diagnostic] = []
    for path in receipt.files if receipt else ():
        if receipt and not as_left(view, receipt, path):
            summary = f"{path} was changed or removed since rocmcfg wrote it"
            detail, hint = _way_back(view, receipt, path)
            changed.append(warning("RC5001", summary, location=path, detail=detail, hint=hint))
    return changed


def _way_back(view: HostView, receipt: Receipt, path: str) -> tuple[str, str]:
    """Return what happened to a file, and what to do about it."""
    if _removed_by_undo_script(view, path):
        programs = (tool for tool in receipt.activations if registry.entry_writer(tool) is None)
        due = " and ".join(sorted(programs))
        until = f"the next boot may still have the settings until {due} has been run; " if due else ""
        hint = (
            f"undo.sh has not finished: {until}finish it with `sudo rocmcfg rollback`, or run undo.sh again"
        )
        return "undo.sh removed rocmcfg's changes", hint
    if view.read(path) is not None:
        return "its content was changed", (
            "undo that apply with `sudo rocmcfg rollback --force`, which keeps a copy of the "
            "file; put the changes that you want to keep into a file of your own"
        )
    gone = "it no longer exists"
    if edits.editor_of(path) is not None:
        return (
            gone,
            "restore it from its package or a copy; then `rocmcfg apply` writes its lines into it again",
        )
    again = command_line(receipt.request)
    return gone, f"write it again with `sudo {again}`, or roll back what is left with `sudo rocmcfg rollback`"


def _removed_by_undo_script(view: HostView, path: str) -> bool:
    """Return whether the file was removed by an undo.sh that started after the apply and did not finish. Its
    mark stays until an undo.sh finishes."""
    try:
        mark, applied = view.state(_UNFINISHED), view.state(PATH)
    except Unreadable:
        return False
    if mark is None or applied is None or mark.mtime_ns < applied.mtime_ns:
        return False
    return path.encode() in mark.content.split(b"\n") and (
        edits.editor_of(path) is not None or not view.exists(path)
    )


def as_left(view: HostView, receipt: Receipt | None, path: str) -> bool:
    if receipt is None or path not in receipt.files:
        return True
    try:
        content, recorded = view.read(path), receipt.files[path]
        return digest(content) == recorded or digest(edits.own_part(path, content)) == recorded
    except Unreadable:
        return True
