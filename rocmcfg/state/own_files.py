"""Whether the files that an apply wrote are as it left them."""

from __future__ import annotations

from collections.abc import Collection

from rocmcfg.backends import edits
from rocmcfg.backends.boot import registry
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.state import command_line
from rocmcfg.records.journal import STATE_DIR, digest
from rocmcfg.records.receipt import PATH, Receipt

_UNFINISHED = f"{STATE_DIR}/undo.unfinished"  # the files that packaging/undo.sh takes, until it has ended


def changed_files(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    if receipt is None:
        return []
    changed = [path for path in receipt.files if not as_left(view, receipt, path)]
    taken = _taken_back(view) if changed else ()
    return [_changed(view, receipt, path, taken) for path in changed]


def _changed(view: HostView, receipt: Receipt, path: str, taken: Collection[str]) -> Diagnostic:
    detail = "it is gone" if view.read(path) is None else "its content was changed"
    hint = _way_back(view, receipt, path)
    if path in taken:
        detail, hint = "undo.sh took it back", _finish(receipt)
    return warning("RC5001", f"{path} is not as rocmcfg left it", location=path, detail=detail, hint=hint)


def _taken_back(view: HostView) -> Collection[str]:
    """What an undo.sh that came to no end took since the apply; its mark stays until another ends."""
    try:
        mark, applied = view.state(_UNFINISHED), view.state(PATH)
    except Unreadable:
        return ()
    if mark is None or applied is None or mark.mtime_ns < applied.mtime_ns:
        return ()
    listed = mark.content.decode("utf-8", "replace").split("\n")
    return [path for path in listed if path in edits.EDITORS or not view.exists(path)]


def _finish(receipt: Receipt) -> str:
    due = " and ".join(sorted(receipt.activations.keys() - registry.WRITERS))
    until = f"the next boot may have the settings still, until {due} has been run; " if due else ""
    return f"undo.sh is not finished: {until}`sudo rocmcfg rollback` finishes it, or undo.sh, run again"


def _way_back(view: HostView, receipt: Receipt, path: str) -> str:
    if view.read(path) is not None:
        return (
            "`sudo rocmcfg rollback --force` undoes that apply, and keeps a copy of the file; what is to "
            "stay of the edit belongs into a file of your own"
        )
    if path in edits.EDITORS:
        return "put it back, from its package or a copy; then `rocmcfg apply` restores its lines in it"
    again = command_line(receipt.request)
    return f"`sudo {again}` writes it again; `sudo rocmcfg rollback` takes back what is left"


def as_left(view: HostView, receipt: Receipt | None, path: str) -> bool:
    if receipt is None or path not in receipt.files:
        return True
    try:
        content, recorded = view.read(path), receipt.files[path]
        return digest(content) == recorded or digest(edits.own_part(path, content)) == recorded
    except Unreadable:
        return True
