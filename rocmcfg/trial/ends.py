"""The end of a trial that is not kept: rejected, or over because another boot came after its own."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import registry
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic, info, warning
from rocmcfg.model.plan import Plan
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal
from rocmcfg.records.receipt import boot_id
from rocmcfg.records.steps import Event, Evidence, Journal, JournalState, ToolChanged, TrialEvent, UndoBegun
from rocmcfg.state import reboot
from rocmcfg.state.running import trial_token
from rocmcfg.transaction.programs import Progress
from rocmcfg.transaction.undo import Undo, carry_out, plan_of
from rocmcfg.trial import record, standing


def is_this_boot(view: HostView, found: Journal) -> bool:
    """Whether a transaction is a trial that was cut off between its last step and the line that says so, and
    this boot is the trial's."""
    return (
        found.header.trial is not None
        and bool(found.of(ToolChanged))
        and not found.of(UndoBegun)
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
    if one is None or one.state is not JournalState.COMMITTED or record.begun(one.of(TrialEvent)):
        return None
    return found


def note_begin(host: Host) -> None:
    """Put on record, once, which boot is the trial's: a later one may be handed the same command line."""
    found = not_seen_yet(host)
    if found is not None:
        journal.append(host, found.transaction, TrialEvent(Event.BEGUN, boot_id=boot_id(host)))


def note_rejected(host: Host, undone: Sequence[Journal]) -> None:
    """Of each trial that is undone without the transaction that confirmed it."""
    confirmed = {one.header.confirms for one in undone}
    for one in undone:
        if one.header.trial is not None and one.id not in confirmed:
            journal.append(host, one.id, TrialEvent(Event.REJECTED))


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
    except record.BadTrial:  # the journal knows what to take back
        one = record.newest(host)
        if one is None:
            return []
        said = Evidence("none", "", "its record is damaged, so that nothing was looked for", ())
        journal.append(host, one.id, TrialEvent(Event.NOT_CONFIRMED, evidence=said))
        return [_undone(host, one, (), progress)]
    one = journal.read(host, found.transaction) if found is not None else None
    if found is None or one is None or one.state is not JournalState.COMMITTED or one.header.trial is None:
        return [sweep(host, standing.plan_without(host, force=True), progress)]
    return [_undone(host, one, (_note_end(host, found, one),), progress)]


def _undone(host: Host, one: Journal, remarks: tuple[Diagnostic, ...], progress: Progress) -> Undo:
    planned = plan_of(host, [one])._replace(diagnostics=remarks)
    how = "was a trial that nobody confirmed, and is taken back"
    return carry_out(host, planned, progress, logged_as=how, after_failure=True, force=True)


def _note_end(host: Host, found: Trial, one: Journal) -> Diagnostic:
    """How it ended, put into its journal once."""
    from rocmcfg.trial.evidence import evidence

    seen = evidence(host, found)
    loader = registry.trial(found.boot_backend)
    event = Event.NOT_CONFIRMED
    if loader is not None and loader.held(host) and seen.source != "journal":
        event = Event.NOT_TRIED
        text = "it never began: the boot loader still had its arguments"
        seen = seen._replace(source="none", boot_id="", text=text, lines=())
    if not any(line.event in (Event.NOT_TRIED, Event.NOT_CONFIRMED) for line in one.of(TrialEvent)):
        journal.append(host, one.id, TrialEvent(event, evidence=seen))
    again = ""
    if record.repeated(host, found):
        again = "kexec handed its arguments on to this boot: reboot through the firmware; "
    return info(
        "RC4327",
        f"the trial of transaction {one.id} was not confirmed, and is taken back",
        detail="\n".join((seen.text, *seen.lines)).strip(),
        hint=f"{again}`rocmcfg doctor` asks the logs; to try it again, apply it with --trial again",
    )


def sweep(host: Host, made: Plan, progress: Progress) -> Undo:
    """Take away what is left of a trial whose journal is lost, by `standing.plan_without`. The caller holds
    the lock. It is a transaction of its own, all or nothing, and never rolled back."""
    from rocmcfg.transaction import transaction
    from rocmcfg.trial.purposes import Sweep

    done = transaction.execute(host, Sweep(made), progress)
    remark = warning(
        "RC4334",
        "what was left of a trial is taken away; its own journal is lost",
        location=record.PATH,
        hint="`rocmcfg status` says what this host has",
    )
    newest = tuple(journal.read_all(host)[:1])
    return Undo(newest, made.changes, done.activations, reboot.due_now(host), (remark,))
