"""Describe a trial: its state, its history, and what is left of a trial whose journal is lost."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.change.planning.owned import OwnedFile, changes_to
from rocmcfg.change.trial import record
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared.contract import BootTrial
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.trial import Outcome, Stage, Trial
from rocmcfg.records.journal import NewerRecord
from rocmcfg.records.steps import ENDS, Committed, Event, Evidence, Journal, JournalState, TrialEvent
from rocmcfg.state import edits


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
class TrialOnRecord(NamedTuple):
    """The state of the trial on record. `until` is when it will confirm itself; None if it will not, or if
    the trial boot has not begun. `withheld` says why it did not confirm itself; it is empty also if only root
    can find out. `waits` is False if the boot loader lost the trial's arguments before the trial boot."""

    trial: Trial
    stage: Stage
    until: float | None
    withheld: tuple[str, ...]
    waits: bool = True

    @property
    def until_text(self) -> str | None:
        """Return `until` in ISO 8601, UTC."""
        from datetime import datetime, timezone

        if self.until is None:
            return None
        return datetime.fromtimestamp(self.until, timezone.utc).isoformat(timespec="seconds")


def trial_on_record(view: HostView) -> TrialOnRecord | None:
    """Return the state of the trial on record, or None if there is no trial. Raise BadTrial, or Unreadable if
    the user may not read it."""
    trial = record.load(view)
    if trial is None:
        return None
    stage = record.stage(view, trial)
    looks = [line.reasons for line in record.events(view, trial) if line.event is Event.WITHHELD]
    withheld = looks[-1] if looks else ()  # of the last check: the unit can be started again
    after = trial.terms.confirm_after
    until = None
    if stage is Stage.RUNNING and not withheld and after:  # since 1970 (proc(5), /proc/stat, btime)
        begun = re.search(r"^btime ([0-9]{1,18})$", text_or_empty(view, "/proc/stat"), re.M)
        until = float(begun[1]) + after if begun else None
    waits = stage is not Stage.ARMED or record.waits(view, trial)
    return TrialOnRecord(trial, stage, until, withheld, waits)


class PastTrial(NamedTuple):
    outcome: Outcome
    evidence: Evidence | None
    withheld: tuple[str, ...]


def past_trial(view: HostView, transaction: Journal, every: Sequence[Journal]) -> PastTrial | None:
    """Return the history of a transaction that was a trial, or None if it was not a trial. `every` are all
    journals, newest first."""
    if transaction.header.trial is None:
        return None
    events = transaction.of(TrialEvent)
    ends = [line.event for line in events if line.event in ENDS]
    undone = transaction.state is JournalState.ROLLED_BACK
    confirmed = any(
        other.header.confirms == transaction.id
        and other.of(Committed)
        and (other.state is JournalState.COMMITTED or (undone and not ends))
        for other in every
    )
    outcome = Outcome.CONFIRMED
    if not confirmed and undone:  # no end is recorded for an apply that failed or was cut off
        outcome = Outcome(ends[-1].value) if ends else Outcome.NOT_TRIED
    elif not confirmed:
        outcome = Outcome(_stage(view, transaction).value)
    evidence = next((line.evidence for line in reversed(events) if line.evidence), None)
    withheld = tuple(x for line in events if line.event is Event.WITHHELD for x in line.reasons)
    return PastTrial(outcome, evidence, withheld)


def _stage(view: HostView, transaction: Journal) -> Stage:
    """Return the stage of the trial that this journal began. It is over if another trial, or none, is on
    record."""
    try:
        trial = record.load(view)
    except (record.BadTrial, NewerRecord, Unreadable):
        return Stage.OVER
    return (
        record.stage(view, trial) if trial is not None and trial.transaction == transaction.id else Stage.OVER
    )


def plan_without(view: HostView, *, force: bool) -> Plan:
    """Return a plan that only removes what trials leave on a host. Raise RocmcfgError if rocmcfg's files were
    changed by someone else, unless `force` says to remove them anyway."""
    left = [name for name, loader in registry.trials().items() if _there(view, loader)]
    here = [name for name in left if (menu := registry.reader(name)) is not None and menu.here(view)]
    place = next(iter((*here, *left)), "")  # two loaders may share a file
    loader = registry.trial(place)
    files = loader.FILES if loader is not None else ()
    owned = [OwnedFile(path, None, "what is left of a trial") for path in files]
    for path in filter(edits.editor_of, registry.paths(place)):
        applied = edits.own_part(path, view.read(path))
        owned.append(OwnedFile(path, applied, "what is left of a trial"))
    changes, wrong = changes_to(view, owned, None)
    if wrong and not force:
        raise RocmcfgError(*wrong)
    if wrong:
        changes = [
            FileChange(file.path, state, None, file.reason)
            for file in owned
            if not view.is_symlink(file.path) and (state := view.state(file.path)) is not None
        ]
    steps = registry.backend(place).activations(view, "the files that it reads are gone") if changes else ()
    return Plan((), tuple(changes), steps, (), (), (), None, False, place)


def anything_left(view: HostView) -> bool:
    """Return whether anything of a trial is on this host: a record, files, or arguments for the next boot."""
    return view.exists(record.PATH) or any(_there(view, loader) for loader in registry.trials().values())


def _there(view: HostView, loader: BootTrial) -> bool:
    try:
        armed = bool(loader.keeper(view).held(view))
    except Unreadable:
        armed = False
    return armed or any(view.exists(path) or view.is_symlink(path) for path in loader.FILES)
