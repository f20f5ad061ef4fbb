"""Undo what was applied, what a crash interrupted, and a trial that the user does not want to keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocmcfg.change.planning.refusals import refused
from rocmcfg.change.planning.resolve import modules_of
from rocmcfg.change.transaction import noting, programs, recovery
from rocmcfg.change.transaction.programs import Progress, generators
from rocmcfg.change.transaction.undo import (
    Undo,
    carry_out,
    joined,
    plan_of,
    plan_rollback,
    receipt_left,
    unfinished,
)
from rocmcfg.change.trial import ends, record, standing
from rocmcfg.host import interrupts
from rocmcfg.host.view import Host, HostView, Locked
from rocmcfg.knowledge import catalogue
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, Severity, error
from rocmcfg.records import journal, receipt
from rocmcfg.records.steps import Committed, UndoBegun
from rocmcfg.state import reboot


def rollback(
    host: Host, *, to: int | None, force: bool, confirm: Callable[[Undo], bool], progress: Progress
) -> Undo | None:
    """Undo the last transaction, or all after `to`. Return None if the user declined."""
    journal.require_sight(host)
    host.wait_for_package_manager(progress, generators())
    with host.lock():
        planned = plan_rollback(host, to=to, force=force)
        if not force:
            _require_kernels_take(host, planned)
        if (planned.journals or planned.activations) and not confirm(planned):
            return None
        if not force:  # a kernel may have been installed while the user was asked
            _require_kernels_take(host, planned)
        # it may have started while the user read the plan
        host.require_no_package_manager(generators())
        with interrupts.held():
            ends.note_rejected(host, planned.journals)
            done = carry_out(host, planned, progress, logged_as="rolled back", force=force)
            interrupts.done()
    return done


def _require_kernels_take(view: HostView, planned: Undo) -> None:
    """Raise RocmcfgError if a kernel installed since then refuses a setting that would return."""
    left = receipt_left(view, planned.journals) if planned.brings_back else None
    back = [setting for setting in left.settings if setting.spelled in planned.brings_back] if left else []
    refusals = _refused_by_kernels(view, back)
    if refusals:
        summary = "this rollback would restore settings that stop the driver of a kernel installed since then"
        hint = "roll back everything: `rocmcfg rollback --pristine`; or restore them anyway with --force"
        raise RocmcfgError(error("RC4037", summary, hint=hint), *refusals)


def _refused_by_kernels(view: HostView, settings: Sequence[DesiredSetting]) -> list[Diagnostic]:
    """Return an error for each of these settings that would keep the driver of an installed kernel from
    loading."""
    if not settings:
        return []
    from rocmcfg.workflow.planning import collect_facts

    facts = collect_facts(view, modules=modules_of(settings), name_system=False)
    return refused(settings, facts, catalogue.load())


def has_trial(view: HostView) -> bool:
    """Return whether there is anything to reject."""
    return record.newest(view) is not None or standing.anything_left(view)


def reject(
    host: Host, confirm: Callable[[Undo], bool], progress: Progress, *, force: bool = False
) -> Undo | None:
    """Roll back the trial, whatever its stage: only its journal stays. Return an undo without journals if
    there is no trial, or None if the user declined. `force` drops edits of its files."""
    if record.newest(host) is not None:  # the journal knows the trial even if its record is damaged or gone
        return rollback(host, to=None, force=force, confirm=confirm, progress=progress)
    if not standing.anything_left(host):
        return _nothing_undone(host)
    host.wait_for_package_manager(progress, generators())
    with host.lock():
        journal.require_finished(host)
        made = standing.plan_without(host, force=force)
        if not confirm(Undo((), made.changes, made.activations, False)):
            return None
        return ends.sweep(host, made, progress)


def recover(host: Host, *, force: bool, progress: Progress) -> Undo:
    """Undo what a crash interrupted, and end a trial that is over. This runs at every boot: it is fine if
    there is nothing to do, and then neither the lock nor a writable disk is needed."""
    journal.require_sight(host)
    if not _recovery_due(host):
        return _nothing_undone(host)
    try:
        with host.lock(), interrupts.held():
            done = _undo_unfinished(host, progress, force=force)
            ends.note_begin(host)
            # the interrupted transaction may have been the confirmation of a trial that is over now
            done += ends.end_trial(host, progress) if ends.is_over(host) else []
            noting.drop_copies(host)
            interrupts.done()
            applied = receipt.load_quietly(host) if done else None
            refusals = _refused_by_kernels(host, applied.settings) if applied else []
            warnings = [refusal._replace(severity=Severity.WARNING) for refusal in refusals]
    except Locked:
        raise
    except (RocmcfgError, KeyboardInterrupt) as problem:  # even on a read-only disk
        if isinstance(problem, KeyboardInterrupt) and not _recovery_due(host):
            raise
        raise RocmcfgError(*recovery.cause(problem), exit_code=ExitCode.RECOVERY_REQUIRED) from problem
    if not done:
        return _nothing_undone(host)
    recovered = joined(done)
    return recovered._replace(diagnostics=(*recovered.diagnostics, *warnings))


def _recovery_due(view: HostView) -> bool:
    cut_off = journal.open_transaction(view) is not None or bool(noting.with_copies(view))
    return cut_off or ends.is_over(view) or ends.not_seen_yet(view) is not None


def _undo_unfinished(host: Host, progress: Progress, *, force: bool) -> list[Undo]:
    """Undo every open transaction: a rollback of several may have been interrupted."""
    done = []
    while (cut_off := journal.open_transaction(host)) is not None:
        programs.wait_for_survivors(host, cut_off.header.mark, progress)
        recovery.begin_undos(host, [id for line in cut_off.of(UndoBegun) for id in line.together])
        if ends.is_this_boot(host, cut_off):
            journal.append(host, cut_off.id, Committed())
            reason = "a trial, was cut off at its last step; this is its boot"
            host.log(f"transaction {cut_off.id}, {reason}")
            continue
        recovery.make_readable(host, cut_off)
        planned, how = plan_of(host, [cut_off]), "was interrupted and was undone"
        done.append(carry_out(host, planned, progress, logged_as=how, after_failure=True, force=force))
    return done


def _nothing_undone(view: HostView) -> Undo:
    return Undo((), (), (), reboot.due_now(view), unfinished(view))
