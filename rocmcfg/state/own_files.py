"""Whether the files that an apply wrote are as it left them."""

from __future__ import annotations

from rocmcfg.backends import edits
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.records.journal import digest
from rocmcfg.records.receipt import Receipt


def changed_files(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    return [
        warning(
            "RC5001",
            f"{path} is not as rocmcfg left it",
            location=path,
            detail="it is gone" if view.read(path) is None else "its content was changed",
            hint="`sudo rocmcfg rollback` takes back what is left; `rocmcfg plan` with your profile shows "
            "the difference, and `sudo rocmcfg apply` with what was applied restores it"
            if view.read(path) is not None or path not in edits.EDITORS
            else "put it back, from its package or a copy; then `rocmcfg apply` restores its lines in it",
        )
        for path in (receipt.files if receipt else ())
        if not as_left(view, receipt, path)
    ]


def as_left(view: HostView, receipt: Receipt | None, path: str) -> bool:
    if receipt is None or path not in receipt.files:
        return True
    try:
        content, recorded = view.read(path), receipt.files[path]
        return digest(content) == recorded or digest(edits.own_part(path, content)) == recorded
    except Unreadable:
        return True
