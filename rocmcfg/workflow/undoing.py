"""The way back: rollback, and the journals behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocmcfg.host import interrupts
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, Severity, error
from rocmcfg.model.plan import Activation, FileChange
from rocmcfg.records.journal import read_all, require_finished, require_sight
from rocmcfg.records.steps import Event, Journal, JournalState, TrialEvent
from rocmcfg.trial import record as trial

if TYPE_CHECKING:
    from rocmcfg.transaction.recovery import Undo

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What a rollback would do, and the journals it would do it from, newest first."""

    journals: tuple[Journal, ...]
    changes: tuple[FileChange, ...]
    activations: tuple[Activation, ...]
    reboot_required: bool
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Undone:
    transactions: tuple[int, ...]
    changes: tuple[FileChange, ...]
    activations: tuple[Activation, ...]
    reboot_required: bool
    diagnostics: tuple[Diagnostic, ...] = ()


def plan_rollback(view: HostView, *, to: int | None, force: bool) -> UndoPlan:
    """What undoing the last transaction, or all after `to`, means here. Reads only; raises every refusal that
    the rollback itself would."""
    from rocmcfg.transaction import recovery

    require_finished(view)
    committed = [j for j in read_all(view) if j.state is JournalState.COMMITTED and not j.header.swept]
    known = {j.id for j in committed} | {0}
    if to is not None and to not in known:
        raise RocmcfgError(
            error(
                "RC4024",
                f"there is no applied transaction {to}",
                hint="see `rocmcfg history`; 0 is the start",
            )
        )
    if to is not None and any(j.header.trial and j.id == to for j in committed):
        raise RocmcfgError(
            error(
                "RC4325",
                f"transaction {to} is a trial, and nobody can go back into one",
                hint=f"to what was before it: `rocmcfg rollback --to {max(k for k in known if k < to)}`",
            )
        )
    chosen = _last(committed) if to is None else [j for j in committed if j.id > to]
    if not chosen:
        _require_no_trace(view, committed)
    foreign = recovery.edited(view, chosen)
    if foreign and not force:
        raise recovery.ThirdPartyEdit(foreign, ExitCode.ERROR)
    planned = plan_of(view, chosen)
    return replace(planned, diagnostics=_left_after(view, committed, chosen, planned.changes))


def _last(committed: Sequence[Journal]) -> list[Journal]:
    """The newest transaction; with one that confirmed a trial goes the trial."""
    if not committed:
        return []
    confirmed = committed[0].header.confirms
    return [committed[0], *(j for j in committed[1:] if j.id == confirmed)]


def plan_of(view: HostView, chosen: Sequence[Journal]) -> UndoPlan:
    """Raises BadJournal where one of them is none of ours."""
    from rocmcfg.planning.owned import replaces
    from rocmcfg.state import reboot
    from rocmcfg.transaction import undo_plan
    from rocmcfg.transaction.recovery import require_ours

    for one in chosen:
        require_ours(view, one)
    changes = undo_plan.changes(view, chosen)
    left = undo_plan.receipt_left(view, chosen)
    wanted = left.settings if left else ()
    due = reboot.due(view, wanted, left, replaced=replaces(changes))
    return UndoPlan(tuple(chosen), changes, undo_plan.activations(view, chosen), due)


def rollback(
    host: Host,
    *,
    to: int | None,
    force: bool,
    confirm: Callable[[UndoPlan], bool],
    progress: Progress,
) -> Undone | None:
    """Undo the last transaction, or all after `to`. None where the user said no."""
    from rocmcfg.transaction import recovery

    require_sight(host)
    with host.lock():
        planned = plan_rollback(host, to=to, force=force)
        if planned.journals and not confirm(planned):
            return None
        done = []
        with interrupts.held():
            for one in planned.journals:
                if one.header.trial and all(j.header.confirms != one.id for j in planned.journals):
                    trial.note(host, one.id, TrialEvent(Event.REJECTED))
            if len(planned.journals) > 1:
                recovery.begin_together(host, [one.id for one in planned.journals])
            for one in planned.journals:
                done.append(recovery.undo(host, one, progress, force=force))
                host.log(f"transaction {one.id} rolled back by {host.user()}")
            interrupts.done()
    return undone(planned, done)


def undone(planned: UndoPlan, done: Sequence[Undo]) -> Undone:
    """Each program once, though several undos ran it."""
    activations = {a.tool: a for one in done for a in one.activations}
    remarks = dict.fromkeys(remark for one in done for remark in one.remarks)
    return Undone(
        tuple(j.id for j in planned.journals),
        planned.changes,
        tuple(activations.values()),
        planned.reboot_required,
        (*planned.diagnostics, *remarks),
    )


def read_journals(view: HostView) -> list[Journal]:
    """All transactions that changed anything, newest first. Raises Unreadable for want of rights."""
    return read_all(view)


def _require_no_trace(view: HostView, committed: Sequence[Journal]) -> None:
    """Our files without a record of them: somebody removed the state directory, and nothing can be undone."""
    from rocmcfg.transaction.unrecorded import beyond_undo, left_behind

    left = left_behind(view)
    if left and not committed:
        raise RocmcfgError(beyond_undo(view, left))


def _left_after(
    view: HostView, committed: Sequence[Journal], chosen: Sequence[Journal], changes: Sequence[FileChange]
) -> tuple[Diagnostic, ...]:
    """Where all is taken back, files of ours that were there before the first record stay."""
    if not chosen or len(chosen) < len(committed):
        return ()
    from rocmcfg.backends.boot import registry
    from rocmcfg.transaction.unrecorded import beyond_undo, left_behind

    gone = {change.path for change in changes if registry.own_part(change.path, change.after) is None}
    left = tuple(path for path in left_behind(view) if path not in gone)
    return (replace(beyond_undo(view, left), severity=Severity.WARNING),) if left else ()
