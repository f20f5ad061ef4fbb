"""The end of a trial that nobody confirmed or rejected, as every boot looks for it."""

from __future__ import annotations

from rocmcfg.backends.boot import registry
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic, info
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal
from rocmcfg.records.receipt import boot_id
from rocmcfg.records.steps import Event, Journal, JournalState, ToolChanged, TrialEvent, UndoBegun
from rocmcfg.state.running import trial_token
from rocmcfg.trial import record


def is_this_boot(view: HostView, found: Journal) -> bool:
    """A trial that was cut off between its last step and the line that says so, and this is its boot."""
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
    return found if one is not None and one.state is JournalState.COMMITTED and not record.seen(one) else None


def is_over(view: HostView) -> bool:
    """Whether a trial is on record whose boot another one came after."""
    try:
        found = record.load(view)
    except record.BadTrial:
        one = record.newest(view)
        return one is not None and boot_id(view) != one.header.boot_id and trial_token(view) is None
    return found is not None and record.stage(view, found) is Stage.OVER


def note_end(host: Host, found: Trial, one: Journal) -> Diagnostic:
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
        record.note(host, one.id, TrialEvent(event, evidence=seen))
    again = ""
    if record.repeated(host, found):
        again = "kexec handed its arguments on to this boot: reboot through the firmware; "
    lines = "\n".join(seen.lines)
    return info(
        "RC4327",
        f"the trial of transaction {one.id} was not confirmed, and is taken back",
        detail=f"{seen.text}\n{lines}".strip(),
        hint=f"{again}`rocmcfg doctor` asks the logs; to try it again, apply it with --trial again",
    )
