"""The way back: what was applied, what a crash interrupted, and a trial that nobody wants to keep."""

from __future__ import annotations

from collections.abc import Callable

from rocmcfg.host import interrupts
from rocmcfg.host.view import Host, HostView, Locked
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.records import journal
from rocmcfg.records.steps import Committed, UndoBegun
from rocmcfg.state import reboot
from rocmcfg.transaction import noting, programs, recovery
from rocmcfg.transaction.programs import Progress
from rocmcfg.transaction.undo import Undo, carry_out, joined, plan_of, plan_rollback, unfinished
from rocmcfg.trial import ends, record, standing


def rollback(
    host: Host, *, to: int | None, force: bool, confirm: Callable[[Undo], bool], progress: Progress
) -> Undo | None:
    """Undo the last transaction, or all after `to`. None where the user said no."""
    journal.require_sight(host)
    with host.lock():
        planned = plan_rollback(host, to=to, force=force)
        if (planned.journals or planned.activations) and not confirm(planned):
            return None
        with interrupts.held():
            ends.note_rejected(host, planned.journals)
            done = carry_out(host, planned, progress, logged_as="rolled back", force=force)
            interrupts.done()
    return done


def has_trial(view: HostView) -> bool:
    """Whether there is anything to reject."""
    return record.newest(view) is not None or standing.anything_left(view)


def reject(
    host: Host, confirm: Callable[[Undo], bool], progress: Progress, *, force: bool = False
) -> Undo | None:
    """Forget the trial, whatever its stage: nothing of it is left but its journal. No journals in the answer
    where there is none; None where the user said no. `force` drops edits of its files."""
    if record.newest(host) is not None:  # the journal knows it, also where its record is damaged or gone
        return rollback(host, to=None, force=force, confirm=confirm, progress=progress)
    if not standing.anything_left(host):
        return _nothing_undone(host)
    with host.lock():
        journal.require_finished(host)
        made = standing.plan_without(host, force=force)
        if not confirm(Undo((), made.changes, made.activations, False)):
            return None
        return ends.sweep(host, made, progress)


def recover(host: Host, *, force: bool, progress: Progress) -> Undo:
    """Undo what a crash interrupted, and end a trial that is over. Every boot asks for it: nothing to do is
    fine, and needs neither the lock nor a disk that can be written."""
    journal.require_sight(host)
    if not _recovery_due(host):
        return _nothing_undone(host)
    try:
        with host.lock(), interrupts.held():
            done = _undo_unfinished(host, progress, force=force)
            ends.note_begin(host)
            # what was cut off may have been the confirmation of a trial that is over now
            done += ends.take_back(host, progress) if ends.is_over(host) else []
            noting.drop_copies(host)
            interrupts.done()
    except Locked:
        raise
    except (RocmcfgError, KeyboardInterrupt) as problem:  # and be it a read-only disk
        if isinstance(problem, KeyboardInterrupt) and not _recovery_due(host):
            raise
        raise RocmcfgError(*recovery.cause(problem), exit_code=ExitCode.RECOVERY_REQUIRED) from problem
    return joined(done) if done else _nothing_undone(host)


def _recovery_due(view: HostView) -> bool:
    cut_off = journal.open_transaction(view) is not None or bool(noting.with_copies(view))
    return cut_off or ends.is_over(view) or ends.not_seen_yet(view) is not None


def _undo_unfinished(host: Host, progress: Progress, *, force: bool) -> list[Undo]:
    """Every transaction that is open: a rollback of several may have been cut off among them."""
    done = []
    while (found := journal.open_transaction(host)) is not None:
        programs.wait_for_survivors(host, found.header.mark, progress)
        recovery.begin_undos(host, [id for line in found.of(UndoBegun) for id in line.together])
        if ends.is_this_boot(host, found):
            journal.append(host, found.id, Committed())
            said = "a trial, was cut off at its last step, and this boot is its own"
            host.log(f"transaction {found.id}, {said}")
            continue
        planned, how = plan_of(host, [found]), "was interrupted and is undone,"
        done.append(carry_out(host, planned, progress, logged_as=how, after_failure=True, force=force))
    return done


def _nothing_undone(view: HostView) -> Undo:
    return Undo((), (), (), reboot.due_now(view), unfinished(view))
