"""Run the command of a command line. A command's module is imported only when the command is called: `verify`
must not load what only `plan` needs, and a command line in plain spellings must not load typer."""

from __future__ import annotations

import itertools
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import rocmcfg
from rocmcfg.cli import help, options
from rocmcfg.cli.commands import ALIASES, COMMANDS, GROUPS, NAMES
from rocmcfg.cli.printer import Printer, flush, lost
from rocmcfg.cli.terminal import open_streams
from rocmcfg.model.diagnostic import ExitCode


def main() -> None:
    """Run the program. A usage error ends it with exit code 2, and is printed as JSON if --json is
    present."""
    open_streams()
    if not sys.warnoptions:  # for the author of a pattern, `re` foresees changes of its syntax
        warnings.simplefilter("ignore", FutureWarning)
    sys.argv[1:] = meant(sys.argv[1:])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if the parent ignores it, no end of a program is seen
    code: Any = ExitCode.DONE
    try:
        _run(sys.argv[1:])
    except SystemExit as end:
        code = end.code
    except OSError as problem:  # from --help and --version; commands turn theirs into diagnostics
        lost(problem)
    except (KeyboardInterrupt, Exception) as problem:
        code = _stopped(problem)
    flush()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Python restores the default handlers while it ends, and a late signal would change the exit code
        signal.signal(number, signal.SIG_IGN)
    sys.exit(int(code or 0))


def meant(arguments: list[str]) -> list[str]:
    """Return the arguments with aliases replaced, `help COMMAND` as `COMMAND --help`, and a --root before the
    command moved behind it."""
    if arguments[:1] == ["--root"] and arguments[2:]:
        end = arguments.index("--") if "--" in arguments else len(arguments)
        return meant([*arguments[2:end], *arguments[:2], *arguments[end:]])
    if arguments[:1] == ["help"]:
        return [*meant(arguments[1:]), "--help"]
    words = next((a.split() for a in ALIASES if arguments[: a.count(" ") + 1] == a.split()), [])
    return [*ALIASES[" ".join(words)], *arguments[len(words) :]] if words else arguments


def _run(arguments: list[str]) -> None:
    """Run a command line. Raises SystemExit with any exit code but 0."""
    if arguments[:1] == ["--version"]:
        sys.stdout.write(f"rocmcfg {rocmcfg.__version__}\n")
        return
    name, words = split(arguments)
    if name not in COMMANDS:
        help.answer(name)
    as_json = "--json" in words and (name not in COMMANDS or "json" in COMMANDS[name].output)
    printer = Printer(name if name in COMMANDS else named(arguments), json=as_json)
    if name in COMMANDS and not COMMANDS[name].passes_on:
        printer.exit_style = exit_style(words)
    with printer.errors(debug="--debug" in words):
        values = read(name, words)
    call(name, values)


def split(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the name of a command, of one or two words, and the words after it."""
    many = 2 if arguments[:1] and arguments[0] in GROUPS else 1
    return " ".join(arguments[:many]), arguments[many:]


def read(name: str, words: list[str]) -> dict[str, Any]:
    """Return the values of a command. Raises Misuse."""
    if name not in COMMANDS:
        raise help.unknown(name)
    command = COMMANDS[name]
    declared = command.declared()
    values = options.read(declared, words, command.passes_on)
    if values is None:
        from rocmcfg.cli import parser

        values = parser.read(declared, words, command.passes_on)
    return values


def exit_style(words: list[str]) -> str:
    """Return the style of the caller that words name, also if they cannot be read: it gets an answer to a
    wrong command line, too. Empty without one."""
    words = [part for word in words for part in word.split("=", 1)]
    return next((style for option, style in itertools.pairwise(words) if option == "--exit-style"), "")


def call(name: str, values: Mapping[str, Any]) -> None:
    """Run a command with the values that were read. An error is printed in the requested format, and raises
    SystemExit."""
    command = COMMANDS[name]
    if values.get("help"):
        sys.stdout.write(help.page(name) + "\n")
        return
    function = command.load()
    wanted = {option: bool(values.get(option)) for option in command.output}
    debug = wanted.pop("debug", False)
    printer = Printer(name, **wanted)
    printer.exit_style = values.get("exit_style") or ""
    with printer.errors(debug=debug):
        function(printer, **parameters(function, values))


def parameters(function: Callable[..., None], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for a command's function. Raises Misuse for a value that the option does not
    accept, and for a missing one."""
    arguments: dict[str, Any] = {}
    for name, entry in options.declared(function).items():
        if isinstance(entry, options.Option):
            arguments[name] = entry.value(values.get(name))
        else:
            group = ((values.get(key), option) for key, option in entry._asdict().items())
            arguments[name] = type(entry)(*(option.value(value) for value, option in group))
    return arguments


def named(arguments: list[str]) -> str:
    """Return the first word that is the name of a command; empty if there is none."""
    return next((a for a in arguments if a in NAMES), "")


def _stopped(problem: BaseException) -> Any:
    """Print an error that came before the command began, because it could not be loaded or was interrupted.
    Return the exit code."""
    printer = Printer(named(sys.argv[1:]), json="--json" in sys.argv[1:])
    try:
        with printer.errors(debug="--debug" in sys.argv[1:]):
            raise problem
    except SystemExit as end:
        return end.code
