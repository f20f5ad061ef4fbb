"""Determine how a stopped command has left the host, from the records before and after it."""

from __future__ import annotations

from enum import Enum

from rocmcfg.change.trial import record as trial
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, info
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records import journal, receipt


class HostAfter(str, Enum):
    """The states of a host after a stopped command. `RECOVERY_REQUIRED` means that the host is in between
    until `rocmcfg recover` has run."""

    NOTHING_CHANGED = "nothing_changed"
    ROLLED_BACK = "rolled_back"
    CHANGED = "changed"
    RECOVERY_REQUIRED = "recovery_required"


class OnRecord(NamedTuple):
    """The open transaction, and the receipt and the trial as bytes. `seen` says whether they could be
    read."""

    open: int | None = None
    applied: tuple[bytes | None, bytes | None] = (None, None)
    seen: bool = True


def on_record(view: HostView) -> OnRecord:
    try:
        unfinished = journal.open_transaction(view)
        return OnRecord(
            unfinished.id if unfinished else None, (view.read(receipt.PATH), view.read(trial.PATH))
        )
    except RocmcfgError:
        return OnRecord(seen=False)


class Aftermath(NamedTuple):
    outcome: HostAfter
    code: ExitCode
    remarks: tuple[Diagnostic, ...] = ()


def aftermath(view: HostView, before: OnRecord, code: ExitCode) -> Aftermath:
    """Return how the host was left, with the exit code and remarks. `code` is the exit code of the error that
    stopped the command."""
    now = on_record(view)
    # Another rocmcfg's, which is running now.
    others = now.open == before.open and view.locked_by() is not None
    if now.open is not None and not others:
        remarks = () if code is ExitCode.RECOVERY_REQUIRED else journal.RecoveryRequired(now.open).diagnostics
        return Aftermath(HostAfter.RECOVERY_REQUIRED, ExitCode.RECOVERY_REQUIRED, remarks)
    if code is ExitCode.RECOVERY_REQUIRED or (before.seen and not now.seen):
        return Aftermath(HostAfter.RECOVERY_REQUIRED, ExitCode.RECOVERY_REQUIRED)
    if code is ExitCode.ROLLED_BACK:
        return Aftermath(HostAfter.ROLLED_BACK, code)
    if now.applied != before.applied:
        remark = info("RC9003", "the changes made before that remain", hint="see `rocmcfg history`")
        return Aftermath(HostAfter.CHANGED, code, (remark,))
    return Aftermath(HostAfter.NOTHING_CHANGED, code)
