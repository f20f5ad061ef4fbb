"""Carry a try with reboots from boot to boot: see what this boot is, run the program once, put the outcome on
the disk, arm the next boot, reboot. At its end, and after a fault, the host is what it was before."""

from __future__ import annotations

from typing import Protocol

from rocmcfg.change.transaction.programs import Progress
from rocmcfg.change.trial import record
from rocmcfg.experiments.kinds import course
from rocmcfg.host.user_state import UserState
from rocmcfg.host.view import Host
from rocmcfg.host.waiting import when_free
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, fail
from rocmcfg.model.experiment import CONTROL, Finding, Obstacle, Outcome, boots_name
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.trial import Terms
from rocmcfg.records import reboots, tries
from rocmcfg.records.journal import now
from rocmcfg.records.reboots import RootTries
from rocmcfg.records.receipt import boot_id
from rocmcfg.records.tries import Armed, Boots, Concluded, Lost, Ran, Restored, Resumed, Started, Try
from rocmcfg.state.boot_files import boot_files, differing
from rocmcfg.workflow import boot_arms, undoing
from rocmcfg.workflow.applying import apply
from rocmcfg.workflow.boot_arms import Judged
from rocmcfg.workflow.one_run import Start, run_once
from rocmcfg.workflow.planning import Approved, Planned
from rocmcfg.workflow.run_log import RunLog

MOST_LOST = 4  # boots that are repeated
_CONTROLS_DOWN = 2  # boots without the settings that get nowhere or go down: then the machine is not fit


class Machine(Protocol):
    """What a try does with the machine beside changing files."""

    def starter(self, attempt: Try) -> Start:
        """Return how the program of a try is run."""

    def reboot(self) -> None:
        """Reboot. Returns before the machine goes down. Raises RocmcfgError."""


class Taken(NamedTuple):
    """The step that a boot took. `attempt` is the try with it; `text` says what was done."""

    attempt: Try
    text: str
    rebooting: bool = False


def go_on(host: Host, machine: Machine, progress: Progress) -> Taken | None:
    """Take the next step of the try that is under way, as rocmcfg-try.service does in each boot; None where
    none is. A fault ends the trial that is armed or running, and nothing goes on by itself any more. Raises
    RocmcfgError, or Stopped where the host is shut down during the run."""
    number = reboots.under_way(host)
    if number is None:
        return None
    state = RootTries(host)
    with state.locked():
        try:
            return _step(host, state, tries.load(state, number), machine, progress)
        except RocmcfgError as problem:
            raise RocmcfgError(*problem.diagnostics, *_halt(host, number, progress)) from problem


def begin_boots(host: Host, state: UserState, attempt: Try, machine: Machine, progress: Progress) -> Taken:
    """Arm the first boot of a try that is on record, and reboot. The caller holds the lock of the tries."""
    return _arm(host, state, attempt, machine, progress)


def resume(host: Host, number: int, machine: Machine, progress: Progress) -> Taken:
    """Go on with a try that has stopped. This boot counts for nothing: the next one is armed. Raises
    RocmcfgError."""
    state = RootTries(host)
    with state.locked():
        attempt = tries.load(state, number)
        require_under_way(attempt)
        under_way = reboots.under_way(host)
        if under_way not in (None, number):
            raise RocmcfgError(reboots.under_way_already(under_way))
        last = attempt.last_step
        if isinstance(last, Started) or (isinstance(last, Armed) and last.boot != boot_id(host)):
            attempt = _with(state, attempt, Lost(now(), last.arm, "cut-off"))
        attempt = _with(state, attempt, Resumed(now()))
        reboots.begin(host, number)
        try:
            return _arm(host, state, attempt, machine, progress)
        except RocmcfgError as problem:
            raise RocmcfgError(*problem.diagnostics, *_halt(host, number, progress)) from problem


def require_under_way(attempt: Try) -> None:
    """Raise RocmcfgError for a try that is over."""
    if attempt.finding is not None:
        hint = f"`sudo rocmcfg tries show {attempt.name}` shows what it found"
        raise fail("RC4508", f"try {attempt.name} has ended", hint=hint)


def _halt(host: Host, number: int, progress: Progress) -> tuple[Diagnostic, ...]:
    """Take back what a try has armed, and let nothing go on by itself. Return why that failed."""
    problems: tuple[Diagnostic, ...] = ()
    try:
        _end_trial(host, number, progress)
    except RocmcfgError as problem:
        problems += problem.diagnostics
    try:
        reboots.halt(host)
    except RocmcfgError as problem:
        problems += problem.diagnostics
    name = boots_name(number)
    host.log(f"try {name} has stopped; `rocmcfg tries resume {name}` goes on")
    return problems


def _step(host: Host, state: UserState, attempt: Try, machine: Machine, progress: Progress) -> Taken:
    boots, last, boot = _boots(attempt), attempt.last_step, boot_id(host)
    if attempt.finding is not None:  # a power cut right after the end
        return _leave(host, attempt, machine)
    if isinstance(last, Armed) and last.boot == boot:
        return Taken(attempt, "the reboot is still to come")
    # rocmcfg-recover.service has done that, where it is enabled
    when_free(lambda: undoing.recover(host, force=False, progress=progress))
    if isinstance(last, Armed):
        judged = boot_arms.of_armed(host, attempt.number, boots, last)
        attempt = _with(state, attempt, *_lines_of(last.arm, judged))
        if judged.here and not _too_many_lost(attempt):
            attempt = _run(host, state, attempt, last.arm, machine)
    elif isinstance(last, Started):
        judged = Judged(lost="cut-off")
        if last.boot != boot:
            judged = boot_arms.of_cut_off(host, boots, last)
        attempt = _with(state, attempt, *_lines_of(last.arm, judged))
    return _arm(host, state, attempt, machine, progress)


def _lines_of(arm: int, judged: Judged) -> list[NamedTuple]:
    """Return the lines for a boot, and for those before it that got nowhere."""
    lines: list[NamedTuple] = [Lost(now(), arm, "did-not-come-up") for _ in range(judged.got_nowhere)]
    if judged.failure:
        lines.append(Ran(now(), Outcome(arm, judged.failure, judged.detail, 0)))
    elif judged.lost:
        lines.append(Lost(now(), arm, judged.lost))
    return lines


def _run(host: Host, state: UserState, attempt: Try, arm: int, machine: Machine) -> Try:
    """Run the program once in this boot, and put its outcome on record."""
    environment = reboots.environment(host, attempt.number)
    log = RunLog(state, attempt)
    mark = log.start(arm, boot_id(host))
    evidence = run_once(
        host, attempt.begun, arm, environment, mark, log.reference, start=machine.starter(attempt)
    )
    log.require_runnable(evidence)
    log.add(evidence)
    return tries.load(state, attempt.number)


def _arm(host: Host, state: UserState, attempt: Try, machine: Machine, progress: Progress) -> Taken:
    """Arm the next boot and reboot into it, or end the try. The trial of this boot ends first."""
    _end_trial(host, attempt.number, progress)
    step = course(attempt.design, attempt.outcomes).next
    changed = _changed(host, attempt)
    obstacle: Obstacle = "host-changed" if changed else _too_many_lost(attempt)
    if isinstance(step, Finding) or obstacle:
        finding = step if isinstance(step, Finding) else Finding("undecided", attempt.design.all, obstacle)
        return conclude(host, state, attempt, finding, changed, machine)
    attempt = _with(state, attempt, Armed(now(), step.arm, boot_id(host)))
    if step.arm != CONTROL:
        _apply(host, attempt, progress)
    machine.reboot()
    return Taken(attempt, f"boot {len(attempt.outcomes) + 1} of {2 * attempt.design.boots} comes next", True)


def _apply(host: Host, attempt: Try, progress: Progress) -> None:
    """Make the next boot a trial of what root agreed to. No profile is read."""
    boots = _boots(attempt)
    approved, terms = Approved(boots.profiles, boots.approved), Terms(of_try=attempt.number)

    def arm() -> Planned | None:
        return apply(
            host, boots.request, lambda _: True, progress, asks=False, terms=terms, approved=approved
        )

    done = when_free(arm)
    if done is None or done.transaction is None:
        hint = f"see `rocmcfg plan`; then go on with `rocmcfg tries resume {attempt.name}`"
        raise fail("RC4610", "nothing would change any more, so there is no treatment to boot", hint=hint)


def conclude(
    host: Host,
    state: UserState,
    attempt: Try,
    finding: Finding,
    changed: tuple[str, ...],
    machine: Machine,
) -> Taken:
    """Put the end of a try on record, and let go of the host."""
    attempt = _with(state, attempt, Restored(now(), changed), Concluded(now(), finding))
    host.log(f"try {attempt.name} has ended: {finding.verdict} {finding.obstacle}".rstrip())
    return _leave(host, attempt, machine)


def _leave(host: Host, attempt: Try, machine: Machine) -> Taken:
    """Let go of the host, and boot once more where the kernel still has the values of a trial."""
    reboots.end(host, attempt.number)
    if boot_arms.is_marked(host):
        machine.reboot()
        return Taken(attempt, "it has ended; one more boot, without the settings, comes next", True)
    return Taken(attempt, "it has ended")


def stop(host: Host, progress: Progress) -> Try | None:
    """End the try that is under way, for its owner: its trial is taken back, and it is undecided. Return the
    try; None where none is under way, or where its record cannot be used, which is let go."""
    number = reboots.under_way(host)
    if number is None:
        return None
    state = RootTries(host)
    with state.locked():
        _end_trial(host, number, progress)
        try:
            attempt = tries.load(state, number)
        except RocmcfgError:
            reboots.end(host, number)
            return None
        if attempt.finding is None:
            ended = Concluded(now(), Finding("undecided", attempt.design.all, "ended"))
            attempt = _with(state, attempt, Restored(now(), _changed(host, attempt)), ended)
        reboots.end(host, number)
        return attempt


def _end_trial(host: Host, number: int, progress: Progress) -> None:
    """Roll the trial of this try back, whatever its stage. Does nothing without one."""
    trial = record.load(host)
    if trial is not None and trial.terms.of_try == number:
        when_free(lambda: undoing.reject(host, lambda _: True, progress))


def _changed(host: Host, attempt: Try) -> tuple[str, ...]:
    """Return the boot files that are not what they were at the beginning."""
    before = reboots.boot_files(host, attempt.number)
    if before is None:
        return ("(the record of the boot files is lost)",)
    return differing(before, boot_files(host, _boots(attempt).loader))


def _too_many_lost(attempt: Try) -> Obstacle:
    """Return the obstacle if so many boots were lost since the try was last resumed that it ends; empty
    otherwise."""
    lost: list[Lost] = []
    for line in attempt.lines:
        if isinstance(line, Resumed):
            lost.clear()
        elif isinstance(line, Lost):
            lost.append(line)
    down = [line for line in lost if line.arm == CONTROL and line.why in ("went-down", "did-not-come-up")]
    if len(down) >= _CONTROLS_DOWN:
        return "control-down"
    return "lost-boots" if len(lost) > MOST_LOST else ""


def _with(state: UserState, attempt: Try, *lines: NamedTuple) -> Try:
    """Put lines on record, durably, and return the try with them."""
    for line in lines:
        tries.append(state, attempt.number, line)
    return attempt._replace(lines=(*attempt.lines, *lines))


def _boots(attempt: Try) -> Boots:
    assert attempt.begun.boots is not None  # RootTries hold no others
    return attempt.begun.boots
