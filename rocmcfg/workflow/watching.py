"""What the unit rocmcfg-trial.service does in a trial's boot: it waits, looks, and then keeps the settings or
says why not. Nothing here asks anybody, so that whatever cannot be told speaks against keeping them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rocmcfg.host.view import Host, HostView, Locked, Unreadable
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records.steps import Event, TrialEvent
from rocmcfg.trial import health
from rocmcfg.trial import record as trial
from rocmcfg.workflow.applying import Applied
from rocmcfg.workflow.planning import Planned

Progress = Callable[[str], None]
# Seconds. One step of waiting is short, because a machine that slept meanwhile has to notice it.
STEP = 10.0
# A machine that slept longer than this in one step gets this much more to show what the waking did.
_ASLEEP, _AFTER_SLEEP = 30.0, 60.0
_BUSY_TIME = 900.0  # another rocmcfg at work: update-initramfs may take that long


class NotKept(RocmcfgError):
    """The trial goes on until somebody confirms or rejects it, or until the next boot ends it."""

    def __init__(self, found: Trial, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(
            error(
                "RC4340",
                f"the trial (transaction {found.transaction}) did not confirm itself",
                detail="\n".join(reasons),
                location=trial.PATH,
                hint="`rocmcfg confirm` keeps its settings all the same, `rocmcfg reject` ends it; so does "
                "the next boot",
            )
        )


@dataclass(frozen=True, slots=True)
class Watched:
    """How the watch ended, where it did not end with NotKept: what was applied, or why nothing was to do."""

    idle: str
    applied: Applied | None = None


def watch(
    host: Host, sleep: Callable[[float], None], ask: Callable[[Planned], bool], progress: Progress
) -> Watched:
    """Wait until the trial's time has come, then confirm it where all is well. `ask` gets the plan before it
    is carried out. Raises NotKept, with every reason, on record by then."""
    found = trial.load(host)
    if found is None or trial.stage(host, found) is not Stage.RUNNING:
        return Watched("no trial runs in this boot")
    after = found.terms.confirm_after
    if after is None:
        return Watched("the trial waits for `rocmcfg confirm`: it was not to confirm itself")
    progress(f"trial of transaction {found.transaction}: it is looked at {after} seconds after the boot")
    due = float(after)
    while (left := due - uptime(host)) > 0:
        before, step = uptime(host), min(left, STEP)
        sleep(step)
        if uptime(host) - before > step + _ASLEEP:
            due = max(due, uptime(host) + _AFTER_SLEEP)
        if trial.load(host) != found:
            return Watched("the trial was confirmed or rejected meanwhile")
    reasons = tuple(_reasons(host, found, progress))
    if trial.load(host) != found:
        return Watched("the trial was confirmed or rejected meanwhile")
    if reasons:
        _withhold(host, found, reasons)
    late: list[str] = []

    def still(planned: Planned) -> bool:
        """Asked with the lock in hand, which may have taken a while."""
        late.extend(_against(host, found))
        return not late and ask(planned)

    try:
        applied = _when_free(lambda: _confirm(host, still, progress), sleep)
    except RocmcfgError as problem:
        if trial.load(host) != found:
            return Watched("the trial was confirmed or rejected meanwhile")
        _withhold(host, found, [diagnostic.summary for diagnostic in problem.diagnostics], problem)
    if late:
        _withhold(host, found, late)
    host.log(f"trial of transaction {found.transaction} confirmed itself")
    return Watched("", applied)


def uptime(view: HostView) -> float:
    """Seconds since the kernel began, those asleep among them (/proc/uptime, CLOCK_BOOTTIME)."""
    try:
        return float((view.text("/proc/uptime") or "").split()[0])
    except (IndexError, ValueError) as problem:
        raise Unreadable("/proc/uptime", "it holds no number") from problem


def objections(view: HostView, gpus_before: Sequence[str]) -> tuple[str, ...]:
    """What GPUs and the kernel's log of this boot say against keeping the settings."""
    from rocmcfg.doctor.judging.origin import Options
    from rocmcfg.workflow.diagnosing import diagnose

    seen = diagnose(view, (), Options(), {}, this_boot=True)
    issues = [(found.match, found.evidence) for found in seen.found]
    return (
        *health.unbound(view, gpus_before),
        *health.in_log(seen.logs, seen.resets, issues, begins=bool(seen.where.log.kernels)),
    )


# -- the conditions ---------------------------------------------------------------------------------------


def _reasons(host: Host, found: Trial, progress: Progress) -> Iterator[str]:
    """All of them, so that nobody mends one to learn of the next. What fails to look is a reason itself."""
    # first what works the GPU, then what that left behind
    yield from _each(
        lambda: (
            health.unhealthy(host, found.terms.health_check, progress)
            if found.terms.health_check
            else health.nobody(host)
        )
    )
    yield from _against(host, found)


def _against(host: Host, found: Trial) -> Iterator[str]:
    from rocmcfg.workflow.verifying import verify

    yield from _each(lambda: health.not_in_effect(verify(host)), lambda: iter(objections(host, found.gpus)))


def _each(*checks: Callable[[], Iterator[str]]) -> Iterator[str]:
    """What fails to look is a reason itself."""
    for check in checks:
        try:
            yield from check()
        except RocmcfgError as problem:
            yield from (diagnostic.summary for diagnostic in problem.diagnostics)


# -- what follows -----------------------------------------------------------------------------------------


def _confirm(host: Host, ask: Callable[[Planned], bool], progress: Progress) -> Applied | None:
    from rocmcfg.workflow.trying import confirm

    return confirm(host, ask, progress, asks=False)


def _withhold(host: Host, found: Trial, reasons: Sequence[str], cause: RocmcfgError | None = None) -> None:
    """Put it on record and raise NotKept. A record that cannot be written takes nothing from the reasons."""
    host.log(f"trial of transaction {found.transaction} not confirmed: {'; '.join(reasons)}")
    try:
        with host.lock():
            if trial.load(host) == found:
                trial.note(host, found.transaction, TrialEvent(Event.WITHHELD, reasons=tuple(reasons)))
    except RocmcfgError as problem:
        reasons = [*reasons, *(f"not on record: {d.summary}" for d in problem.diagnostics)]
    stop = NotKept(found, reasons)
    if cause is not None:
        stop.exit_code = cause.exit_code
    raise stop from cause


def _when_free(act: Callable[[], Applied | None], sleep: Callable[[float], None]) -> Applied | None:
    """Another rocmcfg may be at work just then."""
    waited = 0.0
    while True:
        try:
            return act()
        except Locked:
            if waited >= _BUSY_TIME:
                raise
            sleep(STEP)
            waited += STEP
