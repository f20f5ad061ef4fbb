"""The ends of a trial: kept, rejected, or over because another boot came after its own."""

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
from rocmcfg.model.facts import Facts
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal, receipt, steps
from rocmcfg.records.receipt import boot_id
from rocmcfg.state import reboot
from rocmcfg.state.values import trial_token


def proven(view: HostView) -> Trial:
    """Return the trial of this boot, with all that was agreed to. Raises RocmcfgError where there is none,
    where this boot is not the trial's, where nothing could take it back later, or where the kernel does not
    have its values."""
    trial = record.load(view)
    if trial is None:
        raise fail("RC4320", "there is no trial to confirm", hint="`rocmcfg apply … --trial` begins one")
    stage = record.stage(view, trial)
    if stage is Stage.ARMED:
        summary = "the trial has not begun: this is still the boot before it"
        raise fail("RC4321", summary, location=record.PATH, hint="reboot, look, then confirm")
    if stage is Stage.OVER:
        summary = "the trial is over: this boot has the old configuration again"
        hint = "`rocmcfg recover` takes away what is left of it; `rocmcfg history` says how it ended"
        raise fail("RC4322", summary, location=record.PATH, hint=hint)
    transaction = journal.read(view, trial.transaction)
    if transaction is None or transaction.header.trial is None:
        summary = "the trial's own journal is lost, so that nothing could take it back later"
        hint = "`rocmcfg reject` takes away what is left of it; then apply, or try it again"
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
    """Return an error for each setting of the trial that the kernel of this boot does not have."""
    report = record.verify_trial(view, trial, Stage.RUNNING, receipt.load(view))
    return [
        error(
            "RC4323",
            f"{check.name} is not in effect, so that the trial proves nothing: {check.detail}",
            detail=f"wanted {check.desired}, running {check.running}",
            hint="see `rocmcfg verify`; `rocmcfg reject` ends the trial",
        )
        for check in report.checks
        if check.status not in PASSES
    ]


def is_this_boot(view: HostView, transaction: steps.Journal) -> bool:
    """Return whether this boot is a trial's that was cut off between its last step and the line that says
    so."""
    return (
        transaction.header.trial is not None
        and bool(transaction.of(steps.ToolChanged))
        and not transaction.of(steps.UndoBegun)
        and trial_token(view) == transaction.header.trial.token
        and record.load(view) is not None
    )


def not_seen_yet(view: HostView) -> Trial | None:
    """Return the trial that this boot is, where nobody has noted that yet; else None."""
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
    """Put on record, once, which boot is the trial's: a later one may be handed the same command line."""
    trial = not_seen_yet(host)
    if trial is not None:
        journal.append(host, trial.transaction, steps.TrialEvent(steps.Event.BEGUN, boot_id=boot_id(host)))


def note_rejected(host: Host, undone: Sequence[steps.Journal]) -> None:
    """Note the end of each trial that is undone without the transaction that confirmed it."""
    confirmed = {transaction.header.confirms for transaction in undone}
    for transaction in undone:
        if transaction.header.trial is not None and transaction.id not in confirmed:
            journal.append(host, transaction.id, steps.TrialEvent(steps.Event.REJECTED))


def is_over(view: HostView) -> bool:
    """Return whether a trial is on record whose boot another one came after."""
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


def take_back(host: Host, progress: Progress) -> list[Undo]:
    """Take away what is left of a trial that is over, and keep what there is to know of its boot. No edit of
    its files stands in the way of a boot: a copy stays in the transaction's folder."""
    try:
        trial = record.load(host)
        transaction = journal.read(host, trial.transaction) if trial is not None else None
    except record.BadTrial:  # the journal knows what to take back
        trial, transaction = None, record.newest(host)
    if (
        transaction is None
        or transaction.state is not steps.JournalState.COMMITTED
        or transaction.header.trial is None
    ):
        return [sweep(host, standing.plan_without(host, force=True), progress)]
    remark = _note_end(host, trial, transaction)
    planned = plan_of(host, [transaction])._replace(diagnostics=(remark,))
    how = "was a trial that nobody confirmed, and is taken back"
    return [carry_out(host, planned, progress, logged_as=how, after_failure=True, force=True)]


def _note_end(host: Host, trial: Trial | None, transaction: steps.Journal) -> Diagnostic:
    """Write a trial's end into its journal, once, and return the remark on it."""
    from rocmcfg.change.trial.evidence import evidence

    damaged = steps.Evidence("none", "", "its record is damaged, so that nothing was looked for", ())
    seen = evidence(host, trial) if trial is not None else damaged
    loader = registry.trial(transaction.header.expect.backend)
    event = steps.Event.NOT_CONFIRMED
    if loader is not None and loader.keeper(host).held(host) and seen.source != "journal":
        event = steps.Event.NOT_TRIED
        text = "it never began: the boot loader still had its arguments (after kexec, or another entry)"
        seen = seen._replace(source="none", boot_id="", text=text, lines=())
    noted = {line.event for line in transaction.of(steps.TrialEvent)}
    if noted.isdisjoint((steps.Event.NOT_TRIED, steps.Event.NOT_CONFIRMED)):
        journal.append(host, transaction.id, steps.TrialEvent(event, evidence=seen))
    summary = f"the trial of transaction {transaction.id} was not confirmed, and is taken back"
    hint = "`rocmcfg doctor` checks your log; to try it again, apply it with --trial again"
    return info("RC4327", summary, detail="\n".join((seen.text, *seen.lines)).strip(), hint=hint)


def sweep(host: Host, made: Plan, progress: Progress) -> Undo:
    """Take away what a trial without a journal has left, in a transaction of its own, under the lock."""
    done = execute(host, Sweep(made), progress)
    summary = "what was left of a trial is taken away; its own journal is lost"
    hint = "`rocmcfg status` says what this host has"
    remark = warning("RC4334", summary, location=record.PATH, hint=hint)
    newest = tuple(journal.read_all(host)[:1])
    return Undo(newest, made.changes, done.activations, reboot.due_now(host), (remark,))


class Confirmation(Purpose):
    """Makes a trial permanent, which is on record no more afterwards."""

    def __init__(self, plan: Plan, request: Request, facts: Facts, confirms: Trial) -> None:
        super().__init__(plan, request, facts)
        self.confirms = confirms

    def header(self, host: Host) -> steps.Begin:
        return super().header(host)._replace(confirms=self.confirms.transaction)

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        return [*super().records(host, done), *_forgotten(host)]


class Sweep(Purpose):
    """Takes away what is left of a trial; what is applied stays on record as it is."""

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
