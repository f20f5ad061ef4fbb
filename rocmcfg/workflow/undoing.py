"""The way back: rollback, recover, and the journals behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rocmcfg.backends.boot import registry
from rocmcfg.engine import journal, trial
from rocmcfg.engine.journal import Journal, read_all, require_finished, require_sight
from rocmcfg.host.view import Host, HostView, Locked
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, Severity, error, info
from rocmcfg.model.plan import Activation, FileChange
from rocmcfg.model.trial import Stage

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
    from rocmcfg.engine import recovery

    require_finished(view)
    committed = [j for j in read_all(view) if j.state == "committed"]
    known = {j.id for j in committed} | {0}
    if to is not None and to not in known:
        raise RocmcfgError(
            error(
                "RC4024",
                f"there is no applied transaction {to}",
                hint="see `rocmcfg history`; 0 is the start",
            )
        )
    if to is not None and any(trial.of_journal(j) and j.id == to for j in committed):
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
    planned = _planned(view, chosen)
    return replace(planned, diagnostics=_left_after(view, committed, chosen, planned.changes))


def _last(committed: Sequence[Journal]) -> list[Journal]:
    """The newest transaction; with one that confirmed a trial goes the trial."""
    if not committed:
        return []
    confirmed = committed[0].header.get("confirms")
    return [committed[0], *(j for j in committed[1:] if j.id == confirmed)]


def _planned(view: HostView, chosen: Sequence[Journal]) -> UndoPlan:
    from rocmcfg.engine import reboot, undo_plan
    from rocmcfg.engine.owned import replaces

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
    from rocmcfg.engine import recovery

    with host.lock():
        planned = plan_rollback(host, to=to, force=force)
        if planned.journals and not confirm(planned):
            return None
        activations: dict[str, Activation] = {}
        for one in planned.journals:
            if trial.of_journal(one) and not one.of("trial"):
                trial.note(host, one.id, "rejected")
            for activation in recovery.undo(host, one, progress, force=force):
                activations[activation.tool] = activation
            host.log(f"transaction {one.id} rolled back by {host.user()}")
    return _undone(planned, activations.values())


def recover(host: Host, *, force: bool, progress: Progress) -> Undone:
    """Undo what a crash interrupted; nothing to do is fine, and needs neither the lock nor a disk that can be
    written: every boot asks."""
    require_sight(host)
    if journal.open_transaction(host) is None and not _trial_over(host):
        return _nothing_to_recover(host)
    from rocmcfg.engine import recovery

    try:
        with host.lock():
            id = journal.open_transaction(host)
            recovery.wait_for_survivors(host, progress)
            done = _finish(host, id, progress, force=force) if id is not None else None
            # what was cut off may have been the confirmation of a trial that is over now
            ended = _end_trial(host, progress) if _trial_over(host) else None
    except Locked:
        raise
    except RocmcfgError as problem:  # whatever it was, and be it a disk that is read-only: it is still open
        raise RocmcfgError(*problem.diagnostics, exit_code=ExitCode.RECOVERY_REQUIRED) from problem
    if done is None and ended is None:
        return _nothing_to_recover(host)
    return _both(ended, done) if ended and done else (ended or done or _nothing_to_recover(host))


def _finish(host: Host, id: int, progress: Progress, *, force: bool) -> Undone | None:
    """Undo it; None for the one thing that is finished instead."""
    from rocmcfg.engine import recovery

    found = recovery.read_existing(host, id)
    if _begun_after_all(host, found):
        journal.append(host, id, "commit")
        host.log(f"transaction {id}, a trial, was cut off at its last step, and this boot is its own")
        return None
    planned = _planned(host, [found])
    activations = recovery.undo(host, found, progress, after_failure=True, force=force)
    host.log(f"transaction {id} was interrupted and is undone, by {host.user()}")
    return _undone(planned, activations)


def _both(last: Undone, first: Undone) -> Undone:
    """Two that were undone one after the other, as one."""
    changes = {change.path: change for change in (*first.changes, *last.changes)}
    activations = {activation.tool: activation for activation in (*first.activations, *last.activations)}
    return replace(
        last,
        transactions=(*first.transactions, *last.transactions),
        changes=tuple(changes.values()),
        activations=tuple(activations.values()),
        diagnostics=(*first.diagnostics, *last.diagnostics),
    )


def _begun_after_all(view: HostView, found: Journal) -> bool:
    """A trial that was cut off between its last step and the line that says so, and this is its boot."""
    return (
        trial.armed_at_last(found)
        and not found.of("undo")
        and trial.carried(view, found.header["trial"]["token"])
        and trial.load(view) is not None
    )


def _trial_over(view: HostView) -> bool:
    """Whether a trial is on record whose boot another one came after."""
    try:
        found = trial.load(view)
    except trial.BadTrial:
        return False
    return found is not None and trial.stage(view, found) is Stage.OVER


def _end_trial(host: Host, progress: Progress) -> Undone | None:
    """Take away what is left of a trial that fell back, and keep what there is to know of its boot."""
    from dataclasses import asdict

    from rocmcfg.doctor import fallen_boot
    from rocmcfg.engine import recovery

    found = trial.load(host)
    one = recovery.read_existing(host, found.transaction) if found is not None else None
    if found is None or one is None or one.state != "committed":
        return None
    evidence = fallen_boot.evidence(host, found)
    loader = registry.trial(found.boot_backend)
    waits = loader is not None and bool(loader.armed(host))
    event = "not_tried" if waits and evidence.source == "none" else "not_confirmed"
    if not one.last("undo"):
        trial.note(host, one.id, event, evidence=asdict(evidence))
    planned = _planned(host, [one])
    activations = recovery.undo(host, one, progress, after_failure=True)
    host.log(f"the trial of transaction {one.id} was not confirmed and is taken back: {evidence.text}")
    lines = "\n".join(evidence.lines)
    remark = info(
        "RC4327",
        f"the trial of transaction {one.id} was not confirmed, and is taken back",
        detail=f"{evidence.text}\n{lines}".strip(),
        hint="`rocmcfg doctor` asks the logs; to try it again, apply it with --trial again",
    )
    return replace(_undone(planned, activations), diagnostics=(remark,))


def _nothing_to_recover(view: HostView) -> Undone:
    from rocmcfg.engine import reboot, receipt

    left = receipt.load_quietly(view)
    due = reboot.due(view, left.settings if left else (), left, replaced=False)
    return Undone((), (), (), due)


def _undone(planned: UndoPlan, activations: Iterable[Activation]) -> Undone:
    ids = tuple(j.id for j in planned.journals)
    return Undone(ids, planned.changes, tuple(activations), planned.reboot_required, planned.diagnostics)


def read_journals(view: HostView) -> list[Journal]:
    """All transactions that changed anything, newest first. Raises Unreadable for want of rights."""
    return read_all(view)


def _require_no_trace(view: HostView, committed: Sequence[Journal]) -> None:
    """Our files without a record of them: somebody removed the state directory, and nothing can be undone."""
    from rocmcfg.engine.unrecorded import beyond_undo, left_behind

    left = left_behind(view)
    if left and not committed:
        raise RocmcfgError(beyond_undo(left))


def _left_after(
    view: HostView, committed: Sequence[Journal], chosen: Sequence[Journal], changes: Sequence[FileChange]
) -> tuple[Diagnostic, ...]:
    """Where all is taken back, files of ours that were there before the first record stay."""
    if not chosen or len(chosen) < len(committed):
        return ()
    from rocmcfg.engine.unrecorded import beyond_undo, left_behind

    gone = {change.path for change in changes if change.after is None}
    left = tuple(path for path in left_behind(view) if path not in gone)
    return (replace(beyond_undo(left), severity=Severity.WARNING),) if left else ()
