"""The command line as typer reads it: help, mistakes, and all that `prepared` leaves to it."""

from __future__ import annotations

import importlib
import io
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from rocmcfg.cli import app
from rocmcfg.cli.render import Misuse, Printer, complain
from rocmcfg.model.diagnostic import ExitCode, error

# click's, which typer does not export
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


class _LazyGroup(TyperGroup):
    """Knows its commands by name and loads one when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # click's signature
        return [name for name, command in app._COMMANDS.items() if command.listed]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  # click's signature
        return command(cmd_name) if cmd_name in app._COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in app._COMMANDS:
            from rocmcfg.model.value import closest

            near = closest(name, list(app._COMMANDS))
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)


def command(name: str) -> Any:
    """A command as click knows it."""
    module_name, group, listed, passes_on = app._COMMANDS[name]
    module = importlib.import_module(f"rocmcfg.cli.{module_name}")
    if group:
        return typer.main.get_command(module.app)
    vars(module)["typer"] = typer  # its annotations name it, and are looked at here alone
    settings: dict[str, Any] = {"allow_interspersed_args": not passes_on}
    if passes_on and not listed:
        settings["help_option_names"] = []
    single = typer.Typer(rich_markup_mode=None, add_completion=False)
    single.command(name, hidden=not listed, context_settings=settings)(getattr(module, module_name))
    return typer.main.get_command(single)


_program = typer.Typer(
    cls=_LazyGroup,
    name="rocmcfg",
    rich_markup_mode=None,
    add_completion=False,  # typer's edits ~/.bashrc and knows no host; ours are files (docs/generators)
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
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
    """Manages amdgpu kernel parameters and the environment that goes with them.

    plan shows what would change, apply does it as one transaction, verify proves it
    on the running kernel, rollback takes it back. apply --trial is for one boot,
    unless confirm keeps it.

    The manual: man rocmcfg, man rocmcfg-profile.
    """


def program() -> Any:
    """The program as click knows it."""
    return typer.main.get_command(_program)


def run() -> None:
    """Raises SystemExit with any other exit code than 0."""
    try:
        code = program().main(prog_name="rocmcfg", standalone_mode=False)
    except _UsageError as problem:
        _stop(problem)
    except typer.Abort:
        raise KeyboardInterrupt from None
    raise SystemExit(code)


def misused(found: Misuse, arguments: list[str]) -> NoReturn:
    """What a command found wrong with its options, said as typer says what it finds."""
    at: Any = program()
    context, rest = at.make_context("rocmcfg", list(arguments)), arguments
    while hasattr(at, "resolve_command"):
        name, at, rest = at.resolve_command(context, [*context._protected_args, *context.args])
        context = at.make_context(name, rest, parent=context)
    hint = f"'{found.option}'" if found.option else None
    _stop(typer.BadParameter(str(found), ctx=context, param_hint=hint))


def _stop(problem: Any) -> NoReturn:
    if "--json" in sys.argv[1:]:
        stop = error("RC0001", problem.format_message(), hint="see rocmcfg --help")
        Printer(app.named(sys.argv[1:]), json=True).failure([stop], ExitCode.USAGE)
    else:
        said = io.StringIO()
        problem.show(file=said)
        complain(said.getvalue())
    raise SystemExit(int(ExitCode.USAGE))
