"""End a trial: it is kept, it is rejected, or it is over because another boot followed the trial boot."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.change.transaction import recovery
from rocmcfg.change.transaction.programs import Progress
from rocmcfg.change.transaction.transaction import Done, Purpose, execute
from rocmcfg.change.transaction.undo import Undo, carry_out, plan_of
from rocmcfg.change.trial import record, standing
from rocmcfg.host.view import Host, HostView
from rocmcfg.loaders import registry
from rocmcfg.model.checks import PASSES
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, error, fail, info, warning
from rocmcfg.model.experiment import boots_name
from rocmcfg.model.facts import Facts
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal, receipt, steps
from rocmcfg.records.receipt import boot_id
from rocmcfg.state import reboot
from rocmcfg.state.values import trial_token


def proven(view: HostView) -> Trial:
    """Return the trial of this boot, with everything that was agreed to. Raise RocmcfgError if there is no
    trial, if this boot is not the trial boot, if the trial could not be rolled back later, or if the kernel
    does not have its values."""
    trial = record.load(view)
    if trial is None:
        raise fail("RC4320", "there is no trial to confirm", hint="start one with `rocmcfg apply … --trial`")
    if trial.terms.of_try is not None:
        raise fail(
            "RC4348",
            f"this trial is a boot of try {boots_name(trial.terms.of_try)}, which keeps none",
            location=record.PATH,
            hint="wait for its verdict, which names the command that keeps the settings, or end it with "
            "`rocmcfg reject`",
        )
    stage = record.stage(view, trial)
    if stage is Stage.ARMED:
        summary = "the trial has not begun: this is still the boot before the trial boot"
        raise fail("RC4321", summary, location=record.PATH, hint="reboot, check the system, then confirm")
    if stage is Stage.OVER:
        summary = "the trial is over: this boot has the old configuration again"
        hint = "remove what is left of it with `rocmcfg recover`; `rocmcfg history` shows how it ended"
        raise fail("RC4322", summary, location=record.PATH, hint=hint)
    transaction = journal.read(view, trial.transaction)
    if transaction is None or transaction.header.trial is None:
        summary = "the trial's journal is lost, so the trial could not be rolled back later"
        hint = "remove what is left of it with `rocmcfg reject`; then apply the settings, or try them again"
        raise fail("RC4335", summary, location=journal.folder(trial.transaction), hint=hint)
    foreign = recovery.edited(view, [transaction])
    if foreign:
        raise recovery.ThirdPartyEdit(foreign, ExitCode.ERROR)
    journal.require_finished(view)
    wrong = not_in_effect(view, trial)
    if wrong:
        raise RocmcfgError(*wrong)
    return trial


def not_in_effect(view: HostView, trial: Trial) -> list[Diagnostic]:
    """Return an error for each setting of the trial that the running kernel does not have."""
    report = record.verify_trial(view, trial, Stage.RUNNING, receipt.load(view))
    return [
        error(
            "RC4323",
            f"{check.name} is not in effect, so the trial proves nothing: {check.detail}",
            detail=f"wanted: {check.desired}, running: {check.running}",
            hint="run `rocmcfg verify` to see more; `rocmcfg reject` ends the trial",
        )
        for check in report.checks
        if check.status not in PASSES
    ]


def is_this_boot(view: HostView, transaction: steps.Journal) -> bool:
    """Return whether this boot is the trial boot of a transaction that was cut off between its last step and
    the line that says so."""
    return (
        transaction.header.trial is not None
        and bool(transaction.of(steps.ToolChanged))
        and not transaction.of(steps.UndoBegun)
        and trial_token(view) == transaction.header.trial.token
        and record.load(view) is not None
    )


def not_seen_yet(view: HostView) -> Trial | None:
    """Return the trial whose boot this is, if that is not on record yet; else None."""
    try:
        trial = record.load(view)
    except record.BadTrial:
        return None
    if trial is None or record.stage(view, trial) is not Stage.RUNNING:
        return None
    transaction = journal.read(view, trial.transaction)
    if transaction is None or transaction.state is not steps.JournalState.COMMITTED:
        return None
    return None if record.begun(transaction.of(steps.TrialEvent)) else trial


def note_begin(host: Host) -> None:
    """Record, once, which boot is the trial boot: a later boot may get the same command line."""
    trial = not_seen_yet(host)
    if trial is not None:
        journal.append(host, trial.transaction, steps.TrialEvent(steps.Event.BEGUN, boot_id=boot_id(host)))


def note_rejected(host: Host, undone: Sequence[steps.Journal]) -> None:
    """Record the end of each trial that is rolled back without the transaction that confirmed it."""
    confirmed = {transaction.header.confirms for transaction in undone}
    for transaction in undone:
        if transaction.header.trial is not None and transaction.id not in confirmed:
            journal.append(host, transaction.id, steps.TrialEvent(steps.Event.REJECTED))


def is_over(view: HostView) -> bool:
    """Return whether a trial is on record although another boot has followed the trial boot."""
    try:
        trial = record.load(view)
    except record.BadTrial:
        transaction = record.newest(view)
        return (
            transaction is not None
            and boot_id(view) != transaction.header.boot_id
            and trial_token(view) is None
        )
    return trial is not None and record.stage(view, trial) is Stage.OVER


def end_trial(host: Host, progress: Progress) -> list[Undo]:
    """Remove what is left of a trial that is over, and keep what is known about the trial boot. Edits of its
    files do not stop this; a copy stays in the transaction's folder."""
    try:
        trial = record.load(host)
        transaction = journal.read(host, trial.transaction) if trial is not None else None
    except record.BadTrial:  # the journal knows what to roll back
        trial, transaction = None, record.newest(host)
    if (
        transaction is None
        or transaction.state is not steps.JournalState.COMMITTED
        or transaction.header.trial is None
    ):
        return [sweep(host, standing.plan_without(host, force=True), progress)]
    remark = _note_end(host, trial, transaction)
    planned = plan_of(host, [transaction])._replace(diagnostics=(remark,))
    how = "was a trial that was not confirmed, and was rolled back"
    return [carry_out(host, planned, progress, logged_as=how, after_failure=True, force=True)]


def _note_end(host: Host, trial: Trial | None, transaction: steps.Journal) -> Diagnostic:
    """Write the end of a trial into its journal, once, and return the remark on it."""
    from rocmcfg.change.trial.evidence import evidence

    damaged = steps.Evidence("none", "", "its record is damaged, so no evidence was looked for", ())
    seen = evidence(host, trial) if trial is not None else damaged
    loader = registry.trial(transaction.header.expect.backend)
    event = steps.Event.NOT_CONFIRMED
    if loader is not None and loader.keeper(host).held(host) and seen.source != "journal":
        event = steps.Event.NOT_TRIED
        text = (
            "it never began: the boot loader still had its arguments (because of kexec, or "
            "because another entry was booted)"
        )
        seen = seen._replace(source="none", boot_id="", text=text, lines=())
    noted = {line.event for line in transaction.of(steps.TrialEvent)}
    if noted.isdisjoint((steps.Event.NOT_TRIED, steps.Event.NOT_CONFIRMED)):
        journal.append(host, transaction.id, steps.TrialEvent(event, evidence=seen))
    summary = f"the trial of transaction {transaction.id} was not confirmed, and is rolled back"
    hint = "check your log with `rocmcfg doctor`; to try the settings again, apply them with --trial again"
    return info("RC4327", summary, detail="\n".join((seen.text, *seen.lines)).strip(), hint=hint)


def sweep(host: Host, made: Plan, progress: Progress) -> Undo:
    """Remove what a trial without a journal has left behind, in a transaction of its own. The caller holds
    the lock."""
    done = execute(host, Sweep(made), progress)
    summary = "what was left of a trial has been removed; its own journal is lost"
    hint = "see `rocmcfg status` for the settings of this host"
    remark = warning("RC4334", summary, location=record.PATH, hint=hint)
    newest = tuple(journal.read_all(host)[:1])
    return Undo(newest, made.changes, done.activations, reboot.due_now(host), (remark,))


class Confirmation(Purpose):
    """Make a trial permanent, and remove its record."""

    def __init__(self, plan: Plan, request: Request, facts: Facts, confirms: Trial) -> None:
        super().__init__(plan, request, facts)
        self.confirms = confirms

    def header(self, host: Host) -> steps.Begin:
        return super().header(host)._replace(confirms=self.confirms.transaction)

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        return [*super().records(host, done), *_forgotten(host)]


class Sweep(Purpose):
    """Remove what is left of a trial. The record of what is applied does not change."""

    clears = True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, Request())

    def header(self, host: Host) -> steps.Begin:
        return super().header(host)._replace(swept=True)

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:  # noqa: ARG002
        return _forgotten(host)


def _forgotten(host: Host) -> list[FileChange]:
    if host.is_symlink(record.PATH):
        host.remove(record.PATH)
    state = host.state(record.PATH)
    return [FileChange(record.PATH, state, None, "trial")] if state is not None else []
