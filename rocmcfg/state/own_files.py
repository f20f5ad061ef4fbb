"""Whether the files that an apply wrote are as it left them."""

from __future__ import annotations

from rocmcfg.backends import edits
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.state import command_line
from rocmcfg.records.journal import digest
from rocmcfg.records.receipt import Receipt


def changed_files(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    if receipt is None:
        return []
    return [
        warning(
            "RC5001",
            f"{path} is not as rocmcfg left it",
            location=path,
            detail="it is gone" if view.read(path) is None else "its content was changed",
            hint=_way_back(view, receipt, path),
        )
        for path in receipt.files
        if not as_left(view, receipt, path)
    ]


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
