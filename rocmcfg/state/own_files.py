"""Whether the files that an apply wrote are as it left them."""

from __future__ import annotations

from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.request import command_line
from rocmcfg.records.journal import digest
from rocmcfg.records.receipt import PATH, Receipt
from rocmcfg.state import edits

_UNFINISHED = f"{STATE_DIR}/undo.unfinished"  # the files that packaging/undo.sh takes, until it has ended


def changed_files(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    changed: list[Diagnostic] = []
    for path in receipt.files if receipt else ():
        if receipt and not as_left(view, receipt, path):
            summary = f"{path} is not as rocmcfg left it"
            detail, hint = _way_back(view, receipt, path)
            changed.append(warning("RC5001", summary, location=path, detail=detail, hint=hint))
    return changed


def _way_back(view: HostView, receipt: Receipt, path: str) -> tuple[str, str]:
    """Say what became of a file, and what to do."""
    if _taken_back(view, path):
        programs = (tool for tool in receipt.activations if registry.entry_writer(tool) is None)
        due = " and ".join(sorted(programs))
        until = f"the next boot may have the settings still, until {due} has been run; " if due else ""
        hint = f"undo.sh is not finished: {until}`sudo rocmcfg rollback` finishes it, or undo.sh, run again"
        return "undo.sh took it back", hint
    if view.read(path) is not None:
        return "its content was changed", (
            "`sudo rocmcfg rollback --force` undoes that apply, and keeps a copy of the file; what is to "
            "stay of the edit belongs into a file of your own"
        )
    gone = "it is gone"
    if edits.editor_of(path) is not None:
        return gone, "put it back, from its package or a copy; then `rocmcfg apply` restores its lines in it"
    again = command_line(receipt.request)
    return gone, f"`sudo {again}` writes it again; `sudo rocmcfg rollback` takes back what is left"


def _taken_back(view: HostView, path: str) -> bool:
    """Return whether an undo.sh took the file that began after the apply and came to no end; its mark stays
    until another ends."""
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
