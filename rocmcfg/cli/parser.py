"""The command line as typer reads it: help, mistakes, and all that `options.read` leaves to it."""

from __future__ import annotations

import inspect
import io
import sys
from typing import Annotated, Any, Literal, NoReturn

import typer

from rocmcfg.cli import app
from rocmcfg.cli.app import COMMANDS, GROUPS
from rocmcfg.cli.help import page
from rocmcfg.cli.options import Option
from rocmcfg.cli.printer import Misuse, Printer, complain
from rocmcfg.cli.terminal import wrap
from rocmcfg.model.diagnostic import ExitCode, error

# click's, which typer does not export
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def command(name: str) -> Any:
    """A command, or a group of commands, as click knows it."""
    group = GROUPS.get(name)
    made = typer.Typer(
        rich_markup_mode=None, add_completion=False, no_args_is_help=group is not None, help=group
    )
    for full, one in COMMANDS.items():
        if full == name or (group and full.startswith(f"{name} ")):
            settings: dict[str, Any] = {"allow_interspersed_args": not one.passes_on}
            if one.passes_on and not one.listed:
                settings["help_option_names"] = []
            short = full.rpartition(" ")[2]
            made.command(short, hidden=not one.listed, context_settings=settings)(_function(full, one))
    found: Any = typer.main.get_command(made)
    for full, one in {"": found, **getattr(found, "commands", {})}.items():
        one.get_help = lambda _, full=f"{name} {full}".strip(): page(full)
    return found


def _function(name: str, found: app.Command) -> Any:
    """What typer calls: with the parameters that the command declares, as typer reads them."""

    def run(**given: Any) -> None:
        app.call(name, given)

    run.__doc__ = found.load().__doc__
    declared = [_parameter(key, option) for key, option in found.declared().items()]
    vars(run)["__signature__"] = inspect.Signature(declared)
    return run


def _parameter(name: str, option: Option) -> inspect.Parameter:
    kinds: dict[str, Any] = {"switch": bool, "text": str, "texts": list[str], "number": int}
    kind = Literal[option.choices] if option.choices else kinds[option.kind]
    if option.names:
        said: Any = typer.Option(*option.names, metavar=option.metavar or None, help=option.help)
    else:
        said = typer.Argument(metavar=option.metavar, help=option.help)
    default = inspect.Parameter.empty if option.required else option.default
    if option.choices and not option.default:
        default = None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, said]
    )


# What other programs call what these do.
INSTEAD = {
    **dict.fromkeys(("check", "test", "validate"), "verify"),
    **dict.fromkeys(("revert", "restore", "back"), "rollback"),
    **dict.fromkeys(("remove", "uninstall", "reset", "clean", "purge"), "rollback --all"),
    **dict.fromkeys(("install", "set", "enable", "update", "upgrade", "configure", "tune"), "apply"),
    **dict.fromkeys(("list", "ls", "profiles"), "profile list"),
    **dict.fromkeys(("info", "detect", "gpus"), "status"),
    **dict.fromkeys(("diagnose", "diagnostics", "analyze", "logs"), "doctor"),
    **dict.fromkeys(("diff", "dry-run", "preview"), "plan"),
    **dict.fromkeys(("fix", "cleanup"), "lint --fix"),
    **dict.fromkeys(("show", "describe", "search", "what"), "explain"),
    **dict.fromkeys(("log", "transactions"), "history"),
    **dict.fromkeys(("keep", "commit"), "confirm"),
    **dict.fromkeys(("try", "trial"), "apply --trial"),
    "version": "--version",
}

_program = typer.Typer(
    name="rocmcfg",
    rich_markup_mode=None,
    add_completion=False,  # typer's edits ~/.bashrc and knows no host; ours are files (docs/generators)
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        app.show_version()
        raise typer.Exit


@_program.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Manages amdgpu kernel parameters and the environment that goes with them."""


def program(first: str = "") -> Any:
    """The program as click knows it. Where its first argument is a command, no other is loaded."""
    made = typer.main.get_command(_program)
    vars(made)["get_help"] = lambda _: page("")
    vars(made)["commands"] = {name: command(name) for name in ([first] if first in app.NAMES else app.NAMES)}
    return made


def run() -> None:
    """Raises SystemExit with any other exit code than 0."""
    try:
        code = program("".join(sys.argv[1:2])).main(prog_name="rocmcfg", standalone_mode=False)
    except _UsageError as problem:
        first = "".join(sys.argv[1:2])
        if first in INSTEAD:
            said = f"No such command {first!r}. Did you mean 'rocmcfg {INSTEAD[first]}'?"
            vars(problem)["message"] = said
        _stop(problem)
    except typer.Abort:
        raise KeyboardInterrupt from None
    raise SystemExit(code)


def misused(found: Misuse, arguments: list[str]) -> NoReturn:
    """What a command found wrong with its options, said as typer says what it finds."""
    at: Any = program(arguments[0])
    context, rest = at.make_context("rocmcfg", list(arguments)), arguments
    while hasattr(at, "resolve_command"):
        name, at, rest = at.resolve_command(context, [*context._protected_args, *context.args])
        context = at.make_context(name, rest, parent=context)
    hint = f"'{found.option}'" if found.option else None
    _stop(typer.BadParameter(str(found), ctx=context, param_hint=hint))


def _stop(problem: Any) -> NoReturn:
    if "--json" in sys.argv[1:]:
        stop = error("RC0001", problem.format_message(), hint="see rocmcfg --help")
        Printer(app.named(sys.argv[1:]), json=True).document([stop], {"outcome": "nothing_changed"})
    else:
        said = io.StringIO()
        problem.show(file=said)
        complain("".join("\n".join(wrap(line)) + "\n" for line in said.getvalue().splitlines()))
    raise SystemExit(int(ExitCode.USAGE))
