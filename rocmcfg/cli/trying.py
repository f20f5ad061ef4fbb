"""Command `try`: run a program again and again, with settings and without, and say what they do to its fault.
Commands `tries list`, `show`, `resume` and `forget`: look after earlier tries. Need no rights."""

from __future__ import annotations

import os
import re
import shlex
import sys
from datetime import timedelta

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.cli.run_options import seconds, variables
from rocmcfg.experiments.course import Course
from rocmcfg.experiments.statistics import expected_runs
from rocmcfg.experiments.which import MOST_SETTINGS
from rocmcfg.host.foreground import find
from rocmcfg.host.local import LocalHost
from rocmcfg.host.user_state import UserState
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.experiment import Design, Kind, Step, Variable
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.records import tries as records
from rocmcfg.records.tries import Terms, Try
from rocmcfg.workflow import try_tracker, try_words, trying
from rocmcfg.workflow.one_run import Stopped
from rocmcfg.workflow.try_report import TryReport, name_of, report

_NUMBER = opt.argument("TRY", "The number of the try; the newest if absent.", "free", required=False)


class FailureOptions(NamedTuple):
    """What counts as a failure."""

    timeout: str = opt.text(
        "--timeout",
        metavar="TIME",
        help="A run that takes longer has failed, and is ended: 90, 10m, 2h.",
        takes="free",
    )
    bad_output: str = opt.text(
        "--bad-if-output",
        metavar="REGEX",
        help="A run that prints a line which matches has failed.",
        takes="free",
    )
    check: str = opt.text(
        "--check",
        metavar="COMMAND",
        help="A run has failed if this shell command fails after it.",
        takes="free",
    )
    same_output: bool = opt.switch(
        "--same-output", help="A run has failed if it prints something else than the first good control run."
    )
    log: str = opt.text(
        "--log", metavar="FILE", help="Read the kernel's lines from FILE, from its end on.", takes="file"
    )

    def terms(self) -> Terms:
        """Return what counts as a failure. Raises Misuse for an invalid time or regular expression."""
        limit = seconds(self.timeout, "--timeout")
        try:
            re.compile(self.bad_output.encode())
        except re.error as problem:
            raise Misuse(
                f"{self.bad_output!r} is not a regular expression: {problem}", "--bad-if-output"
            ) from None
        return Terms(
            round(1000 * (limit or 0)),
            self.bad_output,
            self.check,
            self.same_output,
            self.log and os.path.abspath(self.log),
        )


class LimitOptions(NamedTuple):
    """How sure the answer has to be, and how long it may take."""

    confidence: int | None = opt.number(
        "--confidence", metavar="PERCENT", help="How sure the answer has to be (default: 95).", takes="free"
    )
    runs: int | None = opt.number(
        "--runs",
        metavar="N",
        help="At most this many runs (default: 500); with --cost: pairs of runs.",
        takes="free",
    )
    budget: str = opt.text(
        "--budget", metavar="TIME", help="Begin no run after this time of running: 90m, 8h.", takes="free"
    )
    no_warm_up: bool = opt.switch(
        "--no-warm-up", help="Count the first run of each arm too, which may fill caches and compile kernels."
    )


def try_(
    printer: Printer,
    *,
    command: tuple[str, ...] = opt.argument(
        "CMD [ARG…]",
        "The program to run, after --. With --drop, names of variables may stand before --.",
        "command",
        "texts",
    ),
    drop: bool = opt.switch("--drop", help="Find which of the variables that are set here can go."),
    which: bool = opt.switch("--which", help="Find which of the settings cure the fault: 2 to 12 of them."),
    cost: bool = opt.switch("--cost", help="Compare the time of a run with the settings and without."),
    requested: opt.RequestOptions = opt.RequestOptions(),
    failure: FailureOptions = FailureOptions(),
    limits: LimitOptions = LimitOptions(),
) -> None:
    """Try whether settings cure a fault.

    The program runs without the settings until it has failed three times, then with them until it fails
    or has run well often enough. Nothing of the host is changed. Every run is kept, so that an interruption
    loses none: `rocmcfg tries resume` goes on.
    """
    kind = _kind(drop, which, cost)
    host = hosts.open_host(printer, "/")
    dropped, program = _parted(command, kind)
    settings = _settings(printer, host, kind, requested, dropped)
    design = _design(kind, settings, limits)
    terms = failure.terms()
    state = trying.tries_of(os.environ)
    with state.locked():
        attempt = trying.begin(state, program, design, terms, dict(os.environ), requested.profiles)
        _say_what_comes(printer, attempt)
        _carry_out(printer, host, state, attempt)


def _kind(drop: bool, which: bool, cost: bool) -> Kind:
    chosen: list[Kind] = [k for k, on in (("drop", drop), ("which", which), ("cost", cost)) if on]  # type: ignore[misc]
    if len(chosen) > 1:
        raise Misuse("--drop, --which and --cost exclude each other")
    return chosen[0] if chosen else "cure"


def _parted(command: tuple[str, ...], kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names before `--`, which only --drop takes, and the program. Raises Misuse or
    RocmcfgError."""
    names: tuple[str, ...] = ()
    after = tuple(sys.argv[sys.argv.index("--") + 1 :]) if "--" in sys.argv else command
    if command != after and command[-len(after) - 1 :] == ("--", *after):
        names, command = command[: -len(after) - 1], after
    if names and kind != "drop":
        raise Misuse(f"only --drop takes names before --; use --set for {names[0]}")
    if not command:
        raise Misuse(
            "name the program to run, after --", hint="rocmcfg try --set env.NAME=VALUE -- PROGRAM …"
        )
    program = find(command[0], os.environ)
    if program is None and len(command) == 1 and re.search(r"\s", command[0]):
        raise Misuse(
            f"{command[0]!r} is not the name of a program: it is a line for a shell",
            hint=f"write the words apart, or run it with `sh -c {shlex.quote(command[0])}`",
        )
    if program is None:
        raise fail(
            "RC2031",
            f"cannot run {command[0]}: no such program",
            hint="check the name and that it is executable",
        )
    return names, command


def _settings(
    printer: Printer, host: LocalHost, kind: Kind, requested: opt.RequestOptions, dropped: tuple[str, ...]
) -> tuple[Variable, ...]:
    """Return the variables to try. Raises Misuse or RocmcfgError."""
    if kind == "drop":
        if requested.request() != Request():
            raise Misuse("--drop takes what is set here: name variables before --, or none for all")
        return _set_here(dropped)
    pairs = variables(printer, host, requested, only_variables=True)
    if not pairs:
        raise Misuse(
            "name what to try with --set or --profile",
            hint="`rocmcfg run -- PROGRAM` and `rocmcfg doctor` name what may cure the fault",
        )
    if kind == "which" and not 2 <= len(pairs) <= MOST_SETTINGS:
        raise Misuse(f"--which takes 2 to {MOST_SETTINGS} variables, and these are {len(pairs)}")
    return tuple(Variable(name, value) for name, value in pairs.items())


def _set_here(names: tuple[str, ...]) -> tuple[Variable, ...]:
    """Return the named variables, or all that rocmcfg knows, as they are set here. Raises RocmcfgError."""
    from rocmcfg.knowledge import catalogue

    wanted = [name.removeprefix("env.") for name in names] or sorted(catalogue.load().variables)
    missing = [name for name in wanted if name not in os.environ]
    if names and missing:
        hint = "`env` prints what is set; kernel settings cannot be dropped without a reboot"
        raise fail("RC4414", f"{missing[0]} is not set here", hint=hint)
    found = tuple(Variable(name, os.environ[name]) for name in wanted if name in os.environ)
    if not found:
        hint = "name the variables to drop before --: rocmcfg try --drop NAME -- PROGRAM"
        raise fail("RC4414", "no variable that rocmcfg knows is set here", hint=hint)
    return found


def _design(kind: Kind, settings: tuple[Variable, ...], limits: LimitOptions) -> Design:
    confidence = 95 if limits.confidence is None else limits.confidence
    if not 50 <= confidence <= 99:
        raise Misuse(f"{confidence} is not from 50 to 99", "--confidence")
    if limits.runs is not None and not 1 <= limits.runs <= 100_000:
        raise Misuse(f"{limits.runs} is not from 1 to 100000", "--runs")
    budget = seconds(limits.budget, "--budget") or 0
    runs = 500 if limits.runs is None else limits.runs
    pairs = 10
    if kind == "cost":
        pairs, runs = (limits.runs or 10), 4 * (limits.runs or 10) + 2
        if not 6 <= pairs <= 1000:
            raise Misuse(f"{pairs} pairs are not from 6 to 1000", "--runs")
    return Design(
        kind,
        settings,
        confidence,
        runs,
        round(budget + 0.5) if budget else 0,
        pairs=pairs,
        warm_up=not limits.no_warm_up,
    )


def _say_what_comes(printer: Printer, attempt: Try) -> None:
    """Say how long it may take, before the first run."""
    design, number = attempt.begun.design, attempt.number
    printer.line(f"Try {number}: {_QUESTIONS[design.kind]} {try_words.names(design, design.all)}")
    if design.kind == "cost":
        printer.wrapped(f"{2 * design.pairs + 2 * design.warm_up} runs, each as long as yours.", "")
    else:
        few, many = (expected_runs(rate, design.error) for rate in (0.5, 0.05))
        printer.wrapped(
            f"About {few} runs if the fault comes in every second run, and {many} if it comes in every "
            f"twentieth; at most {design.most_runs}. A more frequent fault is found out sooner: run longer, "
            "loop inside the program, or start several at once.",
            "",
        )
    if attempt.begun.without:
        names = ", ".join(attempt.begun.without)
        printer.wrapped(f"{names}: set in this shell already; the control runs without.", "")
    printer.wrapped(
        "If bad memory is possible, run memtest_vulkan first: no setting cures it. Ctrl-C loses no run: "
        f"`rocmcfg tries resume {number}` goes on.",
        "",
    )


_QUESTIONS = {
    "cure": "does it cure?",
    "drop": "which can go?",
    "which": "which is it?",
    "cost": "what does it cost?",
}


def _carry_out(printer: Printer, host: LocalHost, state: UserState, attempt: Try) -> None:
    """Run the try to its end, and print what it found."""
    resume = f"rocmcfg tries resume {attempt.number}"

    def watch(course: Course, step: Step) -> None:
        design = attempt.begun.design
        times = [outcome.microseconds for outcome in course.outcomes]
        left = step.most * sum(times) / len(times) / 1e6 if times else 0
        counted = ", ".join(
            f"{name_of(design, arm)} {tally.failures}/{tally.runs}"
            for arm, tally in course.counted.tallies.items()
        )
        at_most = f"at most {step.most} left" + (f" ({timedelta(seconds=round(left))})" if left >= 1 else "")
        failed = f" · failed: {counted}" if counted else ""
        printer.progress(f"run {len(course.outcomes) + 1} ({step.purpose}){failed} · {at_most}")

    echo = 2 if printer.verbose else None
    try:
        made = trying.go_on(host, state, attempt, dict(os.environ), watch, echo)
    except (Stopped, KeyboardInterrupt):
        printer.end_progress()
        summary = f"stopped; try {attempt.number} keeps the runs so far"
        raise fail("RC4415", summary, hint=f"`{resume}` goes on") from None
    printer.document((), made)
    _show(printer, made)


def _show(printer: Printer, made: TryReport) -> None:
    printer.line()
    if made.sentence:
        printer.paragraph(made.sentence)
    else:
        printer.wrapped(f"Try {made.number} is not over: `rocmcfg tries resume {made.number}` goes on.", "")
    for advice in made.advice:
        printer.paragraph(advice)
    printer.line()
    rows = [
        (
            arm.name,
            str(arm.runs),
            str(arm.failures),
            f"{arm.most:.0f} %",
            f"{arm.seconds:.3g} s" if arm.seconds is not None else "",
            ", ".join(f"{reason} {count}" for reason, count in arm.reasons.items()),
        )
        for arm in made.arms
    ]
    printer.table(("ARM", "RUNS", "FAILED", "AT MOST", "TIME", "FAILURES"), rows)
    if made.kept:
        printer.wrapped(f"Output and kernel lines of the first failures: {os.path.dirname(made.kept[0])}", "")
    if made.apply:
        printer.line()
        printer.to_copy("To keep it:", made.apply)
    printer.wrapped(f"For a tracker: rocmcfg tries show {made.number} --tracker", "")


def _chosen(state: UserState, text: str) -> Try:
    """Return the try of a number, the newest for no text. Raises Misuse or RocmcfgError."""
    if text and not re.fullmatch(r"[1-9][0-9]{0,8}", text, re.ASCII):
        raise Misuse(f"{text!r} is not the number of a try", hint="`rocmcfg tries list` shows them")
    numbers = state.numbers()
    if not text and not numbers:
        raise fail("RC4403", "there is no try yet", hint="rocmcfg try --set env.NAME=VALUE -- PROGRAM")
    return records.load(state, int(text) if text else numbers[-1])


@published("tries")
class TryListDocument(NamedTuple):
    """All tries of this user on this host, oldest first."""

    tries: tuple[TryReport, ...]


@published("number")
class ForgottenDocument(NamedTuple):
    """The try that was removed."""

    number: int


def list_tries(printer: Printer) -> None:
    """List your tries, oldest first."""
    loaded, problems = trying.every(trying.tries_of(os.environ))
    made = [report(attempt) for attempt in loaded]
    printer.document(problems, TryListDocument(tuple(made)))
    rows = [
        (
            str(each.number),
            each.began[:16].replace("T", " "),
            each.verdict or "not over",
            " ".join(each.settings) or "none",
            shlex.join(each.program),
        )
        for each in made
    ]
    if rows:
        printer.table(("TRY", "BEGAN (UTC)", "VERDICT", "SETTINGS", "PROGRAM"), rows)
    elif not problems:
        printer.line("No tries yet: rocmcfg try --set env.NAME=VALUE -- PROGRAM")
    printer.problems(problems)


def show(
    printer: Printer,
    *,
    number: str = _NUMBER,
    tracker: bool = opt.switch("--tracker", help="Print it as Markdown for an issue tracker."),
) -> None:
    """Show a try: its verdict, its counts and what failed."""
    state = trying.tries_of(os.environ)
    made = report(_chosen(state, number))
    printer.document((), made)
    if tracker:
        printer.result(try_tracker.text(made))
    else:
        printer.line(
            f"Try {made.number} of {made.began[:16].replace('T', ' ')} UTC: {shlex.join(made.program)}"
        )
        _show(printer, made)


def resume(
    printer: Printer,
    *,
    number: str = _NUMBER,
    crashed: bool = opt.switch(
        "--crashed", help="Count the run during which the machine went down as failed."
    ),
) -> None:
    """Go on with a try that was interrupted."""
    host = hosts.open_host(printer, "/")
    state = trying.tries_of(os.environ)
    with state.locked():
        attempt = _chosen(state, number)
        attempt, remarks = trying.take_up(host, state, attempt, dict(os.environ), crashed=crashed)
        printer.problems(remarks)
        _carry_out(printer, host, state, attempt)


def forget(printer: Printer, *, number: str = opt.argument("TRY", "The number of the try.", "free")) -> None:
    """Remove a try and what was kept of it."""
    state = trying.tries_of(os.environ)
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number, re.ASCII):
        raise Misuse(f"{number!r} is not the number of a try", hint="`rocmcfg tries list` shows them")
    with state.locked():
        if int(number) not in state.numbers():
            raise fail("RC4403", f"there is no try {number}", hint="`rocmcfg tries list` shows them")
        state.remove(int(number))
    printer.document((), ForgottenDocument(int(number)))
    printer.line(f"Try {number} is forgotten.")
