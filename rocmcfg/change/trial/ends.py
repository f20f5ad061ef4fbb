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
    """The trial of this boot, with all that was agreed to. Raises where there is none, where this boot is not
    the trial's, where nothing could take it back later, or where the kernel does not have its values."""
    found = record.load(view)
    if found is None:
        raise fail("RC4320", "there is no trial to confirm", hint="`rocmcfg apply … --trial` begins one")
    stage = record.stage(view, found)
    if stage is Stage.ARMED:
        said = "the trial has not begun: this is still the boot before it"
        raise fail("RC4321", said, location=record.PATH, hint="reboot, look, then confirm")
    if stage is Stage.OVER:
        said = "the trial is over: this boot has the old configuration again"
        hint = "`rocmcfg recover` takes away what is left of it; `rocmcfg history` says how it ended"
        raise fail("RC4322", said, location=record.PATH, hint=hint)
    one = journal.read(view, found.transaction)
    if one is None or one.header.trial is None:
        said = "the trial's own journal is lost, so that nothing could take it back later"
        hint = "`rocmcfg reject` takes away what is left of it; then apply, or try it again"
        raise fail("RC4335", said, location=journal.folder(found.transaction), hint=hint)
    foreign = recovery.edited(view, [one])
    if foreign:
        raise recovery.ThirdPartyEdit(foreign, ExitCode.ERROR)
    journal.require_finished(view)
    wrong = not_in_effect(view, found)
    if wrong:
        raise RocmcfgError(*wrong)
    return found


def not_in_effect(view: HostView, found: Trial) -> list[Diagnostic]:
    """Of the trial that this boot is, what the kernel does not have."""
    report = record.verify_trial(view, found, Stage.RUNNING, receipt.load(view))
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


def is_this_boot(view: HostView, found: steps.Journal) -> bool:
    """Whether this boot is a trial's that was cut off between its last step and the line that says so."""
    return (
        found.header.trial is not None
        and bool(found.of(steps.ToolChanged))
        and not found.of(steps.UndoBegun)
        and trial_token(view) == found.header.trial.token
        and record.load(view) is not None
    )


def not_seen_yet(view: HostView) -> Trial | None:
    """The trial that this boot is, where nobody has noted that yet."""
    try:
        found = record.load(view)
    except record.BadTrial:
        return None
    if found is None or record.stage(view, found) is not Stage.RUNNING:
        return None
    one = journal.read(view, found.transaction)
    if one is None or one.state is not steps.JournalState.COMMITTED or record.begun(one.of(steps.TrialEvent)):
        return None
    return found


def note_begin(host: Host) -> None:
    """Put on record, once, which boot is the trial's: a later one may be handed the same command line."""
    found = not_seen_yet(host)
    if found is not None:
        journal.append(host, found.transaction, steps.TrialEvent(steps.Event.BEGUN, boot_id=boot_id(host)))


def note_rejected(host: Host, undone: Sequence[steps.Journal]) -> None:
    """Note the end of each trial that is undone without the transaction that confirmed it."""
    confirmed = {one.header.confirms for one in undone}
    for one in undone:
        if one.header.trial is not None and one.id not in confirmed:
            journal.append(host, one.id, steps.TrialEvent(steps.Event.REJECTED))


def is_over(view: HostView) -> bool:
    """Whether a trial is on record whose boot another one came after."""
    try:
        found = record.load(view)
    except record.BadTrial:
        one = record.newest(view)
        return one is not None and boot_id(view) != one.header.boot_id and trial_token(view) is None
    return found is not None and record.stage(view, found) is Stage.OVER


def take_back(host: Host, progress: Progress) -> list[Undo]:
    """Take away what is left of a trial that is over, and keep what there is to know of its boot. No edit of
    its files stands in the way of a boot: a copy stays in the transaction's folder."""
    try:
        found = record.load(host)
        one = journal.read(host, found.transaction) if found is not None else None
    except record.BadTrial:  # the journal knows what to take back
        found, one = None, record.newest(host)
    if one is None or one.state is not steps.JournalState.COMMITTED or one.header.trial is None:
        return [sweep(host, standing.plan_without(host, force=True), progress)]
    remark = _note_end(host, found, one)
    planned = plan_of(host, [one])._replace(diagnostics=(remark,))
    how = "was a trial that nobody confirmed, and is taken back"
    return [carry_out(host, planned, progress, logged_as=how, after_failure=True, force=True)]


def _note_end(host: Host, found: Trial | None, one: steps.Journal) -> Diagnostic:
    """What is said of a trial's end, which goes into its journal once."""
    from rocmcfg.change.trial.evidence import evidence

    damaged = steps.Evidence("none", "", "its record is damaged, so that nothing was looked for", ())
    seen = evidence(host, found) if found is not None else damaged
    loader = registry.trial(one.header.expect.backend)
    event = steps.Event.NOT_CONFIRMED
    if loader is not None and loader.keeper(host).held(host) and seen.source != "journal":
        event = steps.Event.NOT_TRIED
        text = "it never began: the boot loader still had its arguments (after kexec, or another entry)"
        seen = seen._replace(source="none", boot_id="", text=text, lines=())
    noted = {line.event for line in one.of(steps.TrialEvent)}
    if noted.isdisjoint((steps.Event.NOT_TRIED, steps.Event.NOT_CONFIRMED)):
        journal.append(host, one.id, steps.TrialEvent(event, evidence=seen))
    said = f"the trial of transaction {one.id} was not confirmed, and is taken back"
    hint = "`rocmcfg doctor` checks your log; to try it again, apply it with --trial again"
    return info("RC4327", said, detail="\n".join((seen.text, *seen.lines)).strip(), hint=hint)


def sweep(host: Host, made: Plan, progress: Progress) -> Undo:
    """Take away what a trial without a journal has left, in a transaction of its own, under the lock."""
    done = execute(host, Sweep(made), progress)
    said = "what was left of a trial is taken away; its own journal is lost"
    hint = "`rocmcfg status` says what this host has"
    remark = warning("RC4334", said, location=record.PATH, hint=hint)
    newest = tuple(journal.read_all(host)[:1])
    return Undo(newest, made.changes, done.activations, reboot.due_now(host), (remark,))


class Confirmation(Purpose):
    """It makes a trial permanent, which is on record no more afterwards."""

    def __init__(self, plan: Plan, request: Request, facts: Facts, confirms: Trial) -> None:
        super().__init__(plan, request, facts)
        self.confirms = confirms

    def header(self, host: Host) -> steps.Begin:
        return super().header(host)._replace(confirms=self.confirms.transaction)

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        return [*super().records(host, done), *_forgotten(host)]


class Sweep(Purpose):
    """It takes away what is left of a trial; what is applied stays on record as it is."""

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
