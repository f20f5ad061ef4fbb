"""Try settings on a program: run it again and again, as the experiment asks, with every run on record before
the next begins."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping

from rocmcfg.experiments.course import Course
from rocmcfg.experiments.kinds import course
from rocmcfg.host import runner
from rocmcfg.host.kernel_log import KernelLog, LogFile
from rocmcfg.host.user_state import UserState
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, fail, warning
from rocmcfg.model.experiment import Design, Finding, Outcome, Step
from rocmcfg.records import tries
from rocmcfg.records.journal import now
from rocmcfg.records.receipt import boot_id
from rocmcfg.records.tries import Begun, Ran, Resumed, Started, Terms, Try
from rocmcfg.workflow.one_run import Health, environment_of, run_once, surroundings
from rocmcfg.workflow.run_log import RunLog
from rocmcfg.workflow.try_report import TryReport, report

# These variables differ between two terminals and change no program.
_PASSING = {"_", "OLDPWD", "PWD", "SHLVL", "TERM", "COLUMNS", "LINES", "WINDOWID", "TTY", "GPG_TTY"}

Watch = Callable[[Course, Step], None]


def begin(
    state: UserState,
    program: tuple[str, ...],
    design: Design,
    terms: Terms,
    environment: Mapping[str, str],
    profiles: tuple[str, ...] = (),
) -> Try:
    """Record a new try, and return it."""
    salt = secrets.token_hex(8)
    # a variable that is set here as in the treatment would make the arms equal
    same = {(s.name, s.value) for s in design.settings} & {*environment.items()}
    begun = Begun(
        now(),
        program,
        os.getcwd(),
        design,
        terms,
        salt,
        surroundings(environment, salt),
        tuple(sorted(name for name, _ in same)),
        profiles,
    )
    number = state.make()
    try:
        state.require_room()
        tries.append(state, number, begun)
        return tries.load(state, number)
    except BaseException:
        state.remove(number)
        raise


def go_on(
    view: HostView,
    state: UserState,
    attempt: Try,
    environment: Mapping[str, str],
    watch: Watch,
    passed_on_to: int | None = None,
) -> TryReport:
    """Run the program until the experiment ends, and return what it found. The caller holds the lock. Raises
    Stopped, or RocmcfgError for what prevents a run; the runs so far are kept."""
    begun, number = attempt.begun, attempt.number
    under_way = course(attempt.design, attempt.outcomes)
    health = Health(view, begun.terms.log)
    boot = boot_id(view)
    log = RunLog(state, attempt)
    while isinstance(step := under_way.next, Step):
        watch(under_way, step)
        mark = log.start(step.arm, boot)
        arm_environment = environment_of(begun, step.arm, environment)
        try:
            evidence = run_once(view, begun, step.arm, arm_environment, mark, log.reference, passed_on_to)
            log.require_runnable(evidence)
        except RocmcfgError:
            if not under_way.outcomes:
                state.remove(number)  # there is nothing to resume
            raise
        log.add(evidence)
        log.require_comparable()
        under_way.add(evidence.outcome)
        if evidence.outcome.failure == "gpu-fault" and isinstance(under_way.next, Step):
            health.require_rest()
    assert isinstance(under_way.next, Finding)
    tries.append(state, number, tries.Concluded(now(), under_way.next))
    return report(tries.load(state, number))


def blindness(view: HostView, attempt: Try) -> list[Diagnostic]:
    """Return a warning where the kernel's log cannot be read, so that faults of a GPU are not seen."""
    log = LogFile(attempt.begun.terms.log) if attempt.begun.terms.log else KernelLog()
    problem = log.read().problem
    log.close()
    if not problem:
        return []
    from rocmcfg.workflow.running import how_to_allow

    summary = f"GPU faults go unnoticed, because the kernel's log cannot be read ({problem})"
    return [warning("RC4516", summary, hint=how_to_allow(view))]


def take_up(
    view: HostView,
    state: UserState,
    attempt: Try,
    environment: Mapping[str, str],
    *,
    crashed: bool,
    most_runs: int | None = None,
    most_seconds: int | None = None,
) -> tuple[Try, list[Diagnostic]]:
    """Prepare to go on with a try after an interruption. `crashed`: the run during which the machine went
    down counts as failed. `most_runs` and `most_seconds` replace those of the design. Raises RocmcfgError for
    a try that is over, and where it cannot go on here."""
    begun, number = attempt.begun, attempt.number
    runs = attempt.design.most_runs if most_runs is None else most_runs
    budget = attempt.design.most_seconds if most_seconds is None else most_seconds
    extended = attempt.design._replace(most_runs=runs, most_seconds=budget)
    if attempt.finding is not None and isinstance(course(extended, attempt.outcomes).next, Finding):
        hint = f"`rocmcfg tries show {number}` shows what it found"
        if attempt.finding.obstacle in ("runs", "time"):
            hint += "; allow more with --runs or --budget to go on"
        raise fail("RC4508", f"try {number} has ended", hint=hint)
    try:
        os.chdir(begun.folder)
    except OSError as problem:
        hint = "create the folder again, or begin a new try"
        summary = f"cannot enter the folder of try {number}: {problem.strerror}"
        raise fail("RC4509", summary, location=begun.folder, hint=hint) from problem
    remarks = _changed(begun, environment)
    interrupted = attempt.open_run
    if interrupted is not None:
        went_down = interrupted.boot not in ("", boot_id(view))
        if not went_down:
            _require_ended(number, interrupted)
        if crashed and not went_down:
            hint = "leave out --crashed: rocmcfg then repeats the run"
            raise fail("RC4510", "the machine did not go down during the interrupted run", hint=hint)
        if crashed:
            outcome = Outcome(interrupted.arm, "machine-went-down", "", 0)
            tries.append(state, number, Ran(now(), outcome))
        elif went_down:
            remarks.append(_went_down(begun, interrupted))
    elif crashed:
        hint = "leave out --crashed"
        raise fail("RC4510", "no run was interrupted", hint=hint)
    if extended != attempt.design:
        tries.append(state, number, tries.Extended(now(), runs, budget))
    tries.append(state, number, Resumed(now()))
    return tries.load(state, number), remarks


def _require_ended(number: int, interrupted: Started) -> None:
    running = runner.started(interrupted.mark)
    if running:
        pid, name = running[0]
        raise fail(
            "RC4511",
            f"the program of the interrupted run is still running: {name}, process {pid}",
            detail="two at once would share the GPU",
            hint=f"wait until it ends, or end it with `kill {pid}`; then `rocmcfg tries resume {number}`",
        )


def _went_down(begun: Begun, interrupted: Started) -> Diagnostic:
    arm = (
        "with " + " ".join(s.name for s in begun.design.of(interrupted.arm)) if interrupted.arm else "control"
    )
    return warning(
        "RC4512",
        f"the machine went down during a run ({arm}); rocmcfg repeats this run",
        hint="if the fault caused that, press Ctrl-C and resume with --crashed: the run counts as failed",
    )


def _changed(begun: Begun, environment: Mapping[str, str]) -> list[Diagnostic]:
    """Return a warning on the variables that differ from those at the beginning of the try."""
    present = surroundings(environment, begun.salt)
    named = {setting.name for setting in begun.design.settings}
    names = {*present, *begun.surroundings} - _PASSING - named
    differing = sorted(name for name in names if present.get(name) != begun.surroundings.get(name))
    if not differing:
        return []
    more = f" and {len(differing) - 8} more" if len(differing) > 8 else ""
    summary = f"these variables differ from when the try began: {', '.join(differing[:8])}{more}"
    hint = "if one of them matters to the program, stop with Ctrl-C, set it as before and resume"
    return [warning("RC4513", summary, hint=hint)]


def every(state: UserState) -> tuple[list[Try], list[Diagnostic]]:
    """Return all tries, oldest first, and what is wrong with others."""
    loaded: list[Try] = []
    problems: list[Diagnostic] = []
    for number in state.numbers():
        try:
            loaded.append(tries.load(state, number))
        except RocmcfgError as problem:
            problems += problem.diagnostics
    return loaded, problems
