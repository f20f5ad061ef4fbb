"""How a trial stands, and what history says of one."""

from __future__ import annotations

from dataclasses import dataclass

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.published import published
from rocmcfg.model.trial import Outcome, Stage, Trial
from rocmcfg.records import journal
from rocmcfg.records.journal import NewerRecord
from rocmcfg.records.steps import ENDS, Committed, Event, Evidence, Journal, JournalState, TrialEvent
from rocmcfg.trial import record


@published(
    "transaction=trial.transaction",
    "stage",
    "profiles=trial.profiles",
    "settings=trial.settings.spelled",
    "arguments=trial.arguments",
    "*trial.terms",
    "until=until_text",
    "waits",
    "withheld",
)
@dataclass(frozen=True, slots=True)
class Standing:
    """The trial on record. `until` is when it confirms itself, in seconds since 1970; None: it does not, or
    its boot has not begun. `withheld` is why it did not; empty also where only root can tell. `waits` is
    False where the boot loader has lost it before its boot; `repeated`: its boot is over, and kexec gave this
    one the same arguments."""

    trial: Trial
    stage: Stage
    until: float | None
    withheld: tuple[str, ...]
    waits: bool = True
    repeated: bool = False

    @property
    def until_text(self) -> str | None:
        """In ISO 8601, UTC."""
        from datetime import datetime, timezone

        if self.until is None:
            return None
        return datetime.fromtimestamp(self.until, timezone.utc).isoformat(timespec="seconds")


def standing(view: HostView) -> Standing | None:
    """None where no trial is on record. Raises BadTrial, or Unreadable without the right to read it."""
    found = record.load(view)
    if found is None:
        return None
    stage = record.stage(view, found)
    withheld = _withheld(view, found)
    after = found.terms.confirm_after
    begun = _boot_time(view)
    until = begun + after if stage is Stage.RUNNING and not withheld and begun and after else None
    waits = stage is not Stage.ARMED or record.waits(view, found)
    return Standing(found, stage, until, withheld, waits, record.repeated(view, found))


def _withheld(view: HostView, found: Trial) -> tuple[str, ...]:
    try:
        one = journal.read(view, found.transaction)
    except (Unreadable, journal.BadJournal):
        return ()
    events = one.of(TrialEvent) if one is not None else ()
    looks = [line.reasons for line in events if line.event is Event.WITHHELD]
    return looks[-1] if looks else ()  # of the last look: the unit can be started again


def _boot_time(view: HostView) -> float | None:
    """When this boot began, in seconds since 1970 (proc(5), /proc/stat, btime)."""
    try:
        lines = (view.text("/proc/stat") or "").splitlines()
    except Unreadable:
        return None
    return next((float(line.split()[1]) for line in lines if line.startswith("btime ")), None)


@dataclass(frozen=True, slots=True)
class Told:
    """What history says of a trial."""

    outcome: Outcome
    evidence: Evidence | None
    withheld: tuple[str, ...]


def told(view: HostView, one: Journal, every: list[Journal]) -> Told | None:
    """None for what is no trial. `every` are all journals, newest first."""
    if one.header.trial is None:
        return None
    events = one.of(TrialEvent)
    ended = any(line.event in ENDS for line in events)
    confirmed = any(
        other.header.confirms == one.id
        and other.of(Committed)
        and (other.state is JournalState.COMMITTED or (one.state is JournalState.ROLLED_BACK and not ended))
        for other in every
    )
    evidence = next((line.evidence for line in reversed(events) if line.evidence), None)
    withheld = tuple(x for line in events if line.event is Event.WITHHELD for x in line.reasons)
    outcome = Outcome.CONFIRMED if confirmed else record.outcome(one, _stage(view, one))
    return Told(outcome, evidence, withheld)


def _stage(view: HostView, one: Journal) -> Stage | None:
    try:
        found = record.load(view)
    except (record.BadTrial, NewerRecord, Unreadable):
        return None
    return record.stage(view, found) if found is not None and found.transaction == one.id else None
