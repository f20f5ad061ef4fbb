"""A trial and its three ends: kept, forgotten, or over because another boot came after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, error
from rocmcfg.model.plan import Plan
from rocmcfg.model.published import published
from rocmcfg.model.state import Kind
from rocmcfg.model.trial import Outcome, Stage, Trial
from rocmcfg.records import journal, trial
from rocmcfg.records.steps import ENDS, Committed, Event, Evidence, Journal, JournalState, TrialEvent
from rocmcfg.workflow.applying import Applied, apply
from rocmcfg.workflow.planning import Approved, Planned
from rocmcfg.workflow.undoing import Progress, Undone, UndoPlan, rollback


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
    found = trial.load(view)
    if found is None:
        return None
    stage = trial.stage(view, found)
    withheld = _withheld(view, found)
    after = found.terms.confirm_after
    begun = _boot_time(view)
    until = begun + after if stage is Stage.RUNNING and not withheld and begun and after else None
    waits = stage is not Stage.ARMED or trial.waits(view, found)
    return Standing(found, stage, until, withheld, waits, trial.repeated(view, found))


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


def confirm(
    host: Host, ask: Callable[[Planned], bool], progress: Progress, *, asks: bool = True
) -> Applied | None:
    """Apply for good what this boot tries; None where the user said no. Raises where there is no trial, where
    this boot is not its own, or where the kernel does not show what was to be tried."""
    found = trial.load(host)
    if found is None:
        raise RocmcfgError(
            error("RC4320", "there is no trial to confirm", hint="`rocmcfg apply … --trial` begins one")
        )
    _require_running(host, found)
    if not found.approved:
        raise RocmcfgError(
            error(
                "RC4341",
                "an older rocmcfg began this trial, and did not put on record all that was agreed to",
                location=trial.PATH,
                hint="end it with `rocmcfg reject`, then try it again",
            )
        )
    _require_whole(host, found)
    _require_in_effect(host)

    def as_tried(planned: Planned) -> bool:
        _require_stays(planned.plan)
        return ask(planned)

    approved = Approved(found.profiles, found.approved)
    return apply(host, found.request, as_tried, progress, asks=asks, approved=approved, confirms=found)


def _require_running(view: HostView, found: Trial) -> None:
    stage = trial.stage(view, found)
    if stage is Stage.ARMED:
        raise RocmcfgError(
            error(
                "RC4321",
                "the trial has not begun: this is still the boot before it",
                location=trial.PATH,
                hint="reboot, look whether all is well, then confirm",
            )
        )
    if stage is Stage.OVER:
        raise RocmcfgError(
            error(
                "RC4322",
                "the trial is over: this boot has the old configuration again",
                location=trial.PATH,
                hint="`rocmcfg recover` takes away what is left of it; `rocmcfg history` says how it ended",
            )
        )


def _require_whole(view: HostView, found: Trial) -> None:
    """Its journal is there, and its files are as it wrote them: both are needed for the way back."""
    from rocmcfg.transaction.recovery import ThirdPartyEdit, edited

    one = journal.read(view, found.transaction)
    if one is None or one.header.trial is None:
        raise RocmcfgError(
            error(
                "RC4335",
                "the trial's own journal is lost, so that nothing could take it back later",
                location=journal.folder(found.transaction),
                hint="`rocmcfg reject` takes away what is left of it; then apply, or try it again",
            )
        )
    foreign = edited(view, [one])
    if foreign:
        raise ThirdPartyEdit(foreign, ExitCode.ERROR)


def _require_in_effect(view: HostView) -> None:
    from rocmcfg.model.report import PASSES
    from rocmcfg.workflow.verifying import verify

    wrong = [check for check in verify(view).checks if check.status not in PASSES]
    if wrong:
        raise RocmcfgError(
            *(
                error(
                    "RC4323",
                    f"{check.name} is not in effect, so that the trial proves nothing: {check.detail}",
                    detail=f"wanted {check.desired}, running {check.running}",
                    hint="see `rocmcfg verify`; `rocmcfg reject` ends the trial",
                )
                for check in wrong
            )
        )


def _require_stays(made: Plan) -> None:
    """What was tried is what boots afterwards, also where the host has changed meanwhile."""
    beaten = [row for row in made.rows if row.outcome == "overridden" and row.setting.kind is not Kind.ENV]
    if beaten:
        raise RocmcfgError(
            *(
                error(
                    "RC4336",
                    f"{row.setting.id} would not stay: {row.source} sets {row.current} and wins",
                    location=row.source.partition(":")[0],
                    hint="take it out there, then confirm",
                )
                for row in beaten
            )
        )


def reject(
    host: Host, ask: Callable[[UndoPlan], bool], progress: Progress, *, force: bool = False
) -> Undone | None:
    """Forget the trial, whatever its stage: nothing of it is left but its journal. No journals in the answer
    where there is none; None where the user said no. `force` drops edits of its files."""
    if trial.newest(host) is None:  # the journal knows it, also where its record is damaged or gone
        from rocmcfg.records import receipt
        from rocmcfg.state import reboot
        from rocmcfg.workflow.sweeping import left, sweep

        if left(host):
            return _swept(host, ask, lambda: sweep(host, progress, force=force), force=force)

        known = receipt.load_quietly(host)
        due = reboot.due(host, known.settings if known else (), known, replaced=False)
        return Undone((), (), (), due)
    return rollback(host, to=None, force=force, confirm=ask, progress=progress)


def _swept(
    host: Host, ask: Callable[[UndoPlan], bool], sweep: Callable[[], Undone], *, force: bool
) -> Undone | None:
    """What is left of a trial that has no journal any more."""
    from rocmcfg.planning.trial_plan import nothing_of_trials

    with host.lock():
        journal.require_finished(host)
        made = nothing_of_trials(host, force=force)
        if not ask(UndoPlan((), made.changes, made.activations, False)):
            return None
        return sweep()


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
    outcome = Outcome.CONFIRMED if confirmed else trial.outcome(one, _stage(view, one))
    return Told(outcome, evidence, withheld)


def _stage(view: HostView, one: Journal) -> Stage | None:
    try:
        found = trial.load(view)
    except (trial.BadTrial, Unreadable):
        return None
    return trial.stage(view, found) if found is not None and found.transaction == one.id else None
