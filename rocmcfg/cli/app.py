"""Runs the command that was asked for. A command's module is imported when it is called, not before: `verify`
must not pay for what `plan` needs, and what is typed without a mistake not for typer."""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

import rocmcfg
from rocmcfg.cli import options
from rocmcfg.cli.printer import Misuse, Printer, flush, lost
from rocmcfg.cli.terminal import open_streams
from rocmcfg.model.diagnostic import ExitCode
from rocmcfg.model.named_tuple import NamedTuple


class Command(NamedTuple):
    """The function that carries out a command, and the module of `rocmcfg.cli` that has it. `output`: which
    of `options.OUTPUT` it takes. `listed`: in `--help`. `passes_on`: what stands behind the first argument
    is not read."""

    module: str
    function: str
    output: tuple[str, ...] = ("json", "quiet", "verbose", "debug")
    listed: bool = True
    passes_on: bool = False

    def load(self) -> Any:
        return getattr(importlib.import_module(f"rocmcfg.cli.{self.module}"), self.function)

    def declared(self) -> dict[str, options.Option]:
        """Its options and arguments, by the names of the values."""
        found: dict[str, options.Option] = {}
        for name, one in options.declared(self.load()).items():
            found |= {name: one} if isinstance(one, options.Option) else one._asdict()
        return found | {name: options.OUTPUT[name] for name in self.output}


GROUPS = {
    "profile": "List, show, validate and start profiles.",
    "knowledge": "Add known issues and parameters of your own.",
}
COMMANDS = {
    "status": Command("status", "status"),
    "profile list": Command("profile", "list_profiles"),
    "profile show": Command("profile", "show"),
    "profile validate": Command("profile", "validate"),
    "profile new": Command("profile", "new"),
    "plan": Command("apply", "plan"),
    "apply": Command("apply", "apply"),
    "verify": Command("status", "verify"),
    "confirm": Command("apply", "confirm"),
    "reject": Command("rollback", "reject"),
    "rollback": Command("rollback", "rollback"),
    "history": Command("rollback", "history"),
    "recover": Command("rollback", "recover"),
    "explain": Command("explain", "explain"),
    "issues": Command("doctor", "issues"),
    "doctor": Command("doctor", "doctor"),
    "lint": Command("lint", "lint"),
    "report": Command("doctor", "report"),
    "env": Command("profile", "env"),
    "run": Command("profile", "run", output=("debug",), passes_on=True),
    "knowledge check": Command("knowledge", "check"),
    "knowledge new": Command("knowledge", "new"),
    "knowledge export": Command("knowledge", "export"),
    "knowledge install": Command("knowledge", "install"),
    "knowledge remove": Command("knowledge", "remove"),
    "render": Command("render", "render"),
    "schema": Command("explain", "schema", output=("debug",)),
    "check-kernel": Command("apply", "check_kernel", listed=False),
    "watch-trial": Command("apply", "watch_trial", listed=False),
    "complete": Command("complete", "complete", output=(), listed=False, passes_on=True),
}
# What people type, and the command that it is.
ALIASES = {"undo": ["rollback"], "issues new": ["knowledge", "new"], "knowledge list": ["knowledge", "check"]}
# What the first argument may be.
NAMES = tuple(dict.fromkeys(name.partition(" ")[0] for name in COMMANDS))


def main() -> None:
    """The program. Usage errors end with exit code 2, in JSON where --json was asked for."""
    open_streams()
    sys.argv[1:] = meant(sys.argv[1:])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where our parent ignored it, we see no program end
    code: Any = ExitCode.DONE
    try:
        _run(sys.argv[1:])
    except SystemExit as end:
        code = end.code
    except OSError as problem:  # of --help and --version: commands turn theirs into diagnostics
        lost(problem)
    except (KeyboardInterrupt, Exception) as problem:
        code = _stopped(problem)
    flush()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Python puts the default back while it ends, and the exit code would be lost to a late signal
        signal.signal(number, signal.SIG_IGN)
    sys.exit(int(code or 0))


def meant(arguments: list[str]) -> list[str]:
    """Without another name of a command; `help COMMAND` is `COMMAND --help`, and a --root before the command
    is meant for it."""
    if arguments[:1] == ["--root"] and arguments[2:]:
        end = arguments.index("--") if "--" in arguments else len(arguments)
        return meant([*arguments[2:end], *arguments[:2], *arguments[end:]])
    if arguments[:1] == ["help"]:
        return [*meant(arguments[1:]), "--help"]
    words = next((a.split() for a in ALIASES if arguments[: a.count(" ") + 1] == a.split()), [])
    return [*ALIASES[" ".join(words)], *arguments[len(words) :]] if words else arguments


def _run(arguments: list[str]) -> None:
    """Raises SystemExit with any other exit code than 0."""
    if arguments[:1] == ["--version"]:
        sys.stdout.write(f"rocmcfg {rocmcfg.__version__}\n")
        return
    many = 2 if arguments[:1] and arguments[0] in GROUPS else 1
    name = " ".join(arguments[:many])
    command = COMMANDS.get(name)
    values = options.read(command.declared(), arguments[many:], command.passes_on) if command else None
    with contextlib.suppress(Misuse):  # which typer words
        if values is not None:
            call(name, values)
            return
    from rocmcfg.cli import parser

    parser.run(name, arguments[many:])


def call(name: str, given: Mapping[str, Any]) -> None:
    """Run a command with the values that were given. Whatever stops it is printed, in the format that was
    asked for, and raises SystemExit."""
    command = COMMANDS[name]
    function = command.load()
    wanted = {option: bool(given.get(option)) for option in command.output}
    debug = wanted.pop("debug", False)
    printer = Printer(name, **wanted)
    with printer.errors(debug=debug):
        function(printer, **parameters(function, given))


def parameters(function: Callable[..., None], given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in options.declared(function).items():
        if isinstance(one, options.Option):
            found[name] = one.value(given.get(name))
        else:
            found[name] = type(one)(*(option.value(given.get(key)) for key, option in one._asdict().items()))
    return found


def named(arguments: list[str]) -> str:
    return next((a for a in arguments if a in NAMES), "")


def _stopped(problem: BaseException) -> Any:
    """Before a command had begun: it could not be loaded, or somebody was quick. Its exit code."""
    printer = Printer(named(sys.argv[1:]), json="--json" in sys.argv[1:])
    try:
        with printer.errors(debug="--debug" in sys.argv[1:]):
            raise problem
    except SystemExit as end:
        return end.code
