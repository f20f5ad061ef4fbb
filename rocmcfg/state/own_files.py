"""Whether the files that an apply wrote are as it left them."""

from __future__ import annotations

from rocmcfg.backends import edits
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.records.journal import TRANSACTIONS, digest
from rocmcfg.records.receipt import PATH, Receipt


def changed_files(view: HostView, receipt: Receipt | None) -> list[Diagnostic]:
    files = tuple(receipt.files) if receipt else ()
    if receipt and files and not any(_is_anything_left(view, receipt, path) for path in files):
        return [
            warning(
                "RC5004",
                "of what rocmcfg wrote nothing is there any more, as undo.sh leaves a host",
                location=PATH,
                hint="`sudo rocmcfg rollback` forgets what was applied, `sudo rocmcfg apply` makes it anew",
            )
        ]
    unsure = view.hidden(TRANSACTIONS)
    return [
        warning(
            "RC5001",
            f"{path} is not as rocmcfg left it",
            location=path,
            detail="it is gone" if view.read(path) is None else "its content was changed",
            hint="run verify as root: only root can tell whether an apply was interrupted"
            if unsure
            else "`sudo rocmcfg rollback` takes back what is left; `rocmcfg plan` with your profile shows "
            "the difference, `sudo rocmcfg apply` restores it"
            if view.read(path) is not None or path not in edits.EDITORS
            else "put it back, from its package or a copy; then `rocmcfg apply` restores its lines in it",
        )
        for path in files
        if not as_left(view, receipt, path)
    ]


def _is_anything_left(view: HostView, receipt: Receipt, path: str) -> bool:
    """Also of lines without what marked them as ours. undo.sh removes no file of others."""
    try:
        content = view.read(path)
    except Unreadable:
        return True
    of_others = path in edits.EDITORS
    if content is None or not of_others:
        return content is not None or of_others
    written = (setting.karg.encode() for setting in receipt.settings if not setting.adopted_from)
    return bool(edits.own_part(path, content)) or any(text in content for text in written)


def as_left(view: HostView, receipt: Receipt | None, path: str) -> bool:
    if receipt is None or path not in receipt.files:
        return True
    try:
        content, recorded = view.read(path), receipt.files[path]
        return digest(content) == recorded or digest(edits.own_part(path, content)) == recorded
    except Unreadable:
        return True
