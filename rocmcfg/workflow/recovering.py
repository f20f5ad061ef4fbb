"""What every boot asks for, and anybody may: finish what a crash interrupted, end a trial that is over."""

from __future__ import annotations

from dataclasses import replace

from rocmcfg.host import interrupts
from rocmcfg.host.view import Host, HostView, Locked
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.records import journal
from rocmcfg.records.journal import require_sight
from rocmcfg.records.steps import (
    Committed,
    Event,
    Evidence,
    JournalState,
    TrialEvent,
)
from rocmcfg.transaction.recovery import cause
from rocmcfg.trial import ends
from rocmcfg.trial import record as trial
from rocmcfg.workflow.undoing import Progress, Undone, plan_of, undone


def recover(host: Host, *, force: bool, progress: Progress) -> Undone:
    """Undo what a crash interrupted; nothing to do is fine, and needs neither the lock nor a disk that can be
    written: every boot asks."""
    require_sight(host)
    if not _due(host):
        return _nothing_to_recover(host)
    try:
        with host.lock(), interrupts.held():
            done = _finish_all(host, progress, force=force)
            running = ends.not_seen_yet(host)
            if running is not None:
                trial.note_begin(host, running)
            # what was cut off may have been the confirmation of a trial that is over now
            ended = _end_trial(host, progress) if ends.is_over(host) else None
            interrupts.done()
    except Locked:
        raise
    except (
        RocmcfgError,
        KeyboardInterrupt,
    ) as problem:  # and be it a read-only disk
        if isinstance(problem, KeyboardInterrupt) and not _due(host):
            raise
        raise RocmcfgError(*cause(problem), exit_code=ExitCode.RECOVERY_REQUIRED) from problem
    done += [ended] if ended is not None else []
    return _together(done) if done else _nothing_to_recover(host)


def _due(view: HostView) -> bool:
    return (
        journal.open_transaction(view) is not None
        or ends.is_over(view)
        or ends.not_seen_yet(view) is not None
    )


def _finish_all(host: Host, progress: Progress, *, force: bool) -> list[Undone]:
    """Undo every transaction that is open: a rollback of several may have been cut off among them."""
    from rocmcfg.transaction import programs, recovery

    done = []
    while (found := journal.open_transaction(host)) is not None:
        programs.wait_for_survivors(host, found.header.mark, progress)
        recovery.begin_together(host, recovery.begun_with(found))
        if ends.is_this_boot(host, found):
            journal.append(host, found.id, Committed())
            host.log(
                f"transaction {found.id}, a trial, was cut off at its last step, and this boot is its own"
            )
            continue
        planned = plan_of(host, [found])
        taken = recovery.undo(host, found, progress, after_failure=True, force=force)
        host.log(f"transaction {found.id} was interrupted and is undone, by {host.user()}")
        done.append(undone(planned, [taken]))
    return done


def _together(done: list[Undone]) -> Undone:
    """Several that were undone one after the other, as one."""
    return replace(
        done[-1],
        transactions=tuple(id for one in done for id in one.transactions),
        changes=tuple({change.path: change for one in done for change in one.changes}.values()),
        activations=tuple({step.tool: step for one in done for step in one.activations}.values()),
        diagnostics=tuple(remark for one in done for remark in one.diagnostics),
    )


def _end_trial(host: Host, progress: Progress) -> Undone | None:
    """Take away what is left of a trial that fell back, and keep what there is to know of its boot. No edit
    of its files stands in the way of a boot: a copy stays in the transaction's folder."""
    from rocmcfg.transaction import recovery
    from rocmcfg.workflow.trying import sweep

    try:
        found = trial.load(host)
    except trial.BadTrial:
        return _end_by_journal(host, progress)
    if found is None:
        return None
    one = journal.read(host, found.transaction)
    if one is None or one.state is not JournalState.COMMITTED or one.header.trial is None:
        return sweep(host, progress, force=True)
    remark = ends.note_end(host, found, one)
    planned = plan_of(host, [one])
    taken = undone(planned, [recovery.undo(host, one, progress, after_failure=True, force=True)])
    host.log(f"the trial of transaction {one.id} was not confirmed and is taken back")
    return replace(taken, diagnostics=(remark, *taken.diagnostics))


def _end_by_journal(host: Host, progress: Progress) -> Undone | None:
    """The record is damaged, and the journal knows what to take back."""
    from rocmcfg.transaction import recovery

    one = trial.newest(host)
    if one is None:
        return None
    seen = Evidence("none", "", "its record is damaged, so that nothing was looked for", ())
    trial.note(host, one.id, TrialEvent(Event.NOT_CONFIRMED, evidence=seen))
    planned = plan_of(host, [one])
    return undone(planned, [recovery.undo(host, one, progress, after_failure=True, force=True)])


def _nothing_to_recover(view: HostView) -> Undone:
    from rocmcfg.state import reboot

    return Undone((), (), (), reboot.due_now(view))
