"""Command `try`: run a program again and again, with settings and without, and say what they do to its
fault. Needs no rights."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts, rebooting
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.cli.rebooting import RebootOptions
from rocmcfg.cli.run_options import allowed_runs, seconds, variables, whole_seconds
from rocmcfg.experiments.which import MOST_SETTINGS
from rocmcfg.host.foreground import cannot_run, require
from rocmcfg.host.local import LocalHost
from rocmcfg.host.user_state import user_state
from rocmcfg.model import regex_tree
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.experiment import Design, Kind, Variable
from rocmcfg.model.regex import compiled_for_bytes
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from rocmcfg.records.tries import Terms


class FailureOptions(NamedTuple):
    """What counts as a failure."""

    timeout: str = opt.text(
        "--timeout",
        metavar="TIME",
        help="End a run after this time, and count it as failed: 90, 10m, 2h.",
        takes="free",
    )
    bad_output: str = opt.text(
        "--bad-if-output",
        metavar="REGEX",
        help="Count a run as failed if it prints a matching line.",
        takes="free",
    )
    check: str = opt.text(
        "--check",
        metavar="COMMAND",
        help="Count a run as failed if this shell command fails after it.",
        takes="free",
    )
    same_output: bool = opt.switch(
        "--same-output",
        help="Count a run as failed if its output differs from that of two good runs without the settings.",
    )
    log: str = opt.text(
        "--log", metavar="FILE", help="Read the kernel's lines from FILE, from its end on.", takes="file"
    )

    def terms(self) -> Terms:
        """Return what counts as a failure. Raises Misuse for an invalid time or regular expression."""
        from rocmcfg.records.tries import Terms

        limit = seconds(self.timeout, "--timeout")
        try:
            compiled_for_bytes(self.bad_output)
        except ValueError as problem:
            raise Misuse(str(problem), "--bad-if-output") from None
        if _may_never_end(self.bad_output):
            raise Misuse(
                f"{self.bad_output!r} repeats a part that itself repeats or has alternatives, which may "
                "take for ever on one line",
                "--bad-if-output",
                hint="write it without that: a+ in place of (a+)+, [ab]+ in place of (a|b)+",
            )
        return Terms(
            round(1000 * (limit or 0)),
            self.bad_output,
            self.check,
            self.same_output,
            self.log and os.path.abspath(self.log),
        )


def _may_never_end(pattern: str) -> bool:
    """Return whether a pattern may backtrack without end, as far as its form shows that."""
    try:
        return regex_tree.repeats_a_repeat(pattern)
    except ValueError:  # nested too deeply, or syntax of `re` alone
        return False


class LimitOptions(NamedTuple):
    """How sure the answer has to be, and how long it may take."""

    confidence: int | None = opt.number(
        "--confidence", metavar="PERCENT", help="How sure the answer has to be (default: 95).", takes="free"
    )
    runs: int | None = opt.TRY_RUNS
    budget: str = opt.TRY_BUDGET
    no_warm_up: bool = opt.switch(
        "--no-warm-up",
        help="Also count the first run of each arm, which may fill caches and compile kernels.",
    )


def try_(
    printer: Printer,
    *,
    command: tuple[str, ...] = opt.argument(
        "CMD [ARG…]",
        "The program to run, after --. With --drop, you may name variables before --.",
        "command",
        "texts",
    ),
    drop: bool = opt.switch("--drop", help="Find which of the variables in this shell you can drop."),
    which: bool = opt.switch("--which", help="Find which of 2 to 12 settings cure the fault."),
    cost: bool = opt.switch("--cost", help="Compare the time of a run with and without the settings."),
    requested: opt.RequestOptions = opt.RequestOptions(),
    failure: FailureOptions = FailureOptions(),
    limits: LimitOptions = LimitOptions(),
    boots: RebootOptions = RebootOptions(),
) -> None:
    """Test whether settings cure a fault.

    The program runs without the settings until it has failed three times, then with them until it fails
    or has run well often enough. It changes nothing on the host. After an interruption, `rocmcfg tries
    resume` continues with the runs so far. Kernel settings need --reboots.
    """
    from rocmcfg.cli import try_view
    from rocmcfg.workflow import trying

    kind = _kind(drop, which, cost)
    host = hosts.open_host(printer, "/")
    if boots.reboots is not None:
        _require_plain(kind, failure, limits)
        _, program = _parted(command, kind, looks=False)
        design = _design(kind, (), limits)
        rebooting.begin(printer, host, program, requested.request(), design, failure.terms(), boots)
        return
    if boots != RebootOptions(None, "", False, False):
        raise Misuse("--user, --crashed and --yes go with --reboots")
    dropped, program = _parted(command, kind)
    settings = _settings(printer, host, kind, requested, dropped)
    design = _design(kind, settings, limits)
    terms = failure.terms()
    if kind == "which":
        from rocmcfg.workflow import try_prior

        design = design._replace(weights=try_prior.weights(host, terms.log, os.environ, settings))
    state = user_state(os.environ, "tries")
    with state.locked():
        attempt = trying.begin(state, program, design, terms, dict(os.environ), requested.profiles)
        try_view.say_what_comes(printer, attempt)
        try_view.carry_out(printer, host, state, attempt)


def _require_plain(kind: Kind, failure: FailureOptions, limits: LimitOptions) -> None:
    """Raise Misuse for options that do not go with --reboots."""
    if kind != "cure":
        raise Misuse(f"--{kind} does not go with --reboots: boots answer whether a setting cures")
    if failure.log:
        raise Misuse("--log does not go with --reboots: root reads the kernel's own log", "--log")
    if limits.runs is not None or limits.budget or limits.no_warm_up:
        raise Misuse("--runs, --budget and --no-warm-up do not go with --reboots: it fixes the runs")


def _kind(drop: bool, which: bool, cost: bool) -> Kind:
    chosen: list[Kind] = [k for k, on in (("drop", drop), ("which", which), ("cost", cost)) if on]  # type: ignore[misc]
    if len(chosen) > 1:
        raise Misuse("--drop, --which and --cost exclude each other")
    return chosen[0] if chosen else "cure"


def _parted(
    command: tuple[str, ...], kind: Kind, *, looks: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names before `--`, which only --drop takes, and the program. Raises Misuse, or RocmcfgError
    where it `looks` for the program and the caller cannot run it."""
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
    if len(command) == 1 and len(command[0].split()) > 1 and not os.path.exists(command[0]):
        raise Misuse(
            f"{command[0]!r} is not the name of a program, but a shell command line",
            hint=f"write the words without the quotes, or run it with `sh -c {shlex.quote(command[0])}`",
        )
    try:
        if looks:
            require(command[0], os.environ)
    except OSError as problem:
        raise cannot_run(command, problem) from problem
    return names, command


def _settings(
    printer: Printer, host: LocalHost, kind: Kind, requested: opt.RequestOptions, dropped: tuple[str, ...]
) -> tuple[Variable, ...]:
    """Return the variables to try. Raises Misuse or RocmcfgError."""
    if kind == "drop":
        if requested.request() != Request():
            raise Misuse(
                "--drop tests variables of this shell: name them before --, or name none to test all"
            )
        return _set_here(dropped)
    pairs = variables(printer, host, requested, only_variables=True)
    if not pairs:
        raise Misuse(
            "name what to try with --set or --profile",
            hint="`rocmcfg run -- PROGRAM` and `rocmcfg doctor` name settings that may cure the fault",
        )
    if kind == "which" and not 2 <= len(pairs) <= MOST_SETTINGS:
        raise Misuse(f"--which takes 2 to {MOST_SETTINGS} variables, not {len(pairs)}")
    return tuple(Variable(name, value) for name, value in pairs.items())


def _set_here(names: tuple[str, ...]) -> tuple[Variable, ...]:
    """Return the named variables, or all that rocmcfg knows, as they are set here. Raises RocmcfgError."""
    from rocmcfg.knowledge import catalogue

    wanted = [name.removeprefix("env.") for name in names] or sorted(catalogue.load().variables)
    missing = [name for name in wanted if name not in os.environ]
    if names and missing:
        hint = "`env` prints the variables; kernel settings cannot be dropped without a reboot"
        raise fail("RC4514", f"{missing[0]} is not set here", hint=hint)
    set_here = tuple(Variable(name, os.environ[name]) for name in wanted if name in os.environ)
    if not set_here:
        hint = "name the variables to drop before --: rocmcfg try --drop NAME -- PROGRAM"
        raise fail("RC4514", "no variable that rocmcfg knows is set here", hint=hint)
    return set_here


def _design(kind: Kind, settings: tuple[Variable, ...], limits: LimitOptions) -> Design:
    confidence = 95 if limits.confidence is None else limits.confidence
    if not 50 <= confidence <= 99:
        raise Misuse(f"{confidence} is not from 50 to 99", "--confidence")
    runs, budget = allowed_runs(limits.runs) or 500, whole_seconds(limits.budget, "--budget") or 0
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
        budget,
        pairs=pairs,
        warm_up=not limits.no_warm_up,
    )
