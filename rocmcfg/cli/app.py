"""Runs the command that was asked for. A command's module is imported when it is called, not before: `verify`
must not pay for what `plan` needs, and what is typed without a mistake not for typer."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any, NamedTuple

import rocmcfg
from rocmcfg.cli import render
from rocmcfg.model.diagnostic import ExitCode


class _Command(NamedTuple):
    """`module` of `rocmcfg.cli` has a function of that name, that of a `group` an `app` with its commands.
    `listed`: in `--help`. `passes_on`: what stands behind the first argument is not read."""

    module: str
    group: bool = False
    listed: bool = True
    passes_on: bool = False


_COMMANDS = {
    "status": _Command("status"),
    "profile": _Command("profile", group=True),
    "plan": _Command("plan"),
    "apply": _Command("apply"),
    "verify": _Command("verify"),
    "confirm": _Command("confirm"),
    "reject": _Command("reject"),
    "rollback": _Command("rollback"),
    "history": _Command("history"),
    "recover": _Command("recover"),
    "explain": _Command("explain"),
    "doctor": _Command("doctor"),
    "lint": _Command("lint"),
    "report": _Command("report"),
    "env": _Command("env"),
    "run": _Command("run", passes_on=True),
    "schema": _Command("schema"),
    "check-kernel": _Command("check_kernel", listed=False),
    "watch-trial": _Command("watch_trial", listed=False),
    "complete": _Command("complete", listed=False, passes_on=True),
}


def main() -> None:
    """The program. Usage errors end with exit code 2, in JSON where --json was asked for."""
    _open_streams()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever ignores it in us makes the end of programs unseen
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a Latin-1 terminal shows ? for → and is no defect
            stream.reconfigure(errors="replace")
    code: Any = ExitCode.DONE
    try:
        _run(sys.argv[1:])
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        render.complain("interrupted; nothing was changed\n")  # no command had begun
        code = ExitCode.ERROR
    except (ImportError, AttributeError, SyntaxError) as problem:
        code = _damaged(problem)
    except OSError as problem:  # of --help and --version: commands turn theirs into diagnostics
        if "--debug" in sys.argv:
            raise
        render.lost(problem)
    render.flush()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Python puts the default back while it ends, and the exit code would be lost to a late signal
        signal.signal(number, signal.SIG_IGN)
    sys.exit(int(code or 0))


def _run(arguments: list[str]) -> None:
    """Raises SystemExit with any other exit code than 0."""
    if arguments == ["--version"]:
        return show_version()
    from rocmcfg.cli import prepared

    command = _COMMANDS.get(arguments[0]) if arguments else None
    values = prepared.values(command.module, arguments[1:]) if command and not command.group else None
    try:
        if command is None or values is None:
            from rocmcfg.cli import parser

            parser.run()
        else:
            prepared.function(command.module)(**values)
    except render.Misuse as problem:
        from rocmcfg.cli import parser

        parser.misused(problem, arguments)


def show_version() -> None:
    sys.stdout.write(f"rocmcfg {rocmcfg.__version__}\n")


def named(arguments: list[str]) -> str:
    """The command among them; empty where none is."""
    return next((a for a in arguments if a in _COMMANDS), "")


def _damaged(problem: Exception) -> int:
    """A command that could not be loaded."""
    from rocmcfg.model.diagnostic import damage

    found = damage(problem)
    if found is None or "--debug" in sys.argv:
        raise problem
    printer = render.Printer(named(sys.argv[1:]), json="--json" in sys.argv[1:])
    printer.failure([found], ExitCode.ERROR)
    if not printer.json:
        printer.problems([found])
    return int(ExitCode.ERROR)


def _open_streams() -> None:
    """Whoever starts us with a closed stream (`>&-`) leaves None there, and its number to the next file."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
