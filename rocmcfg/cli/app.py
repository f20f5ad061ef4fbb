"""Composes the commands. A command's module is imported when it is called, not before: `verify` must not
pay for what `plan` needs."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import rocmcfg
from rocmcfg.model.diagnostic import ExitCode

# Name, module of `rocmcfg.cli`, whether `--help` of the program lists it.
_COMMANDS = {
    "status": ("status", True),
    "profile": ("profile", True),
    "plan": ("plan", True),
    "apply": ("apply", True),
    "verify": ("verify", True),
    "confirm": ("confirm", True),
    "reject": ("reject", True),
    "rollback": ("rollback", True),
    "history": ("history", True),
    "recover": ("recover", True),
    "explain": ("explain", True),
    "doctor": ("doctor", True),
    "lint": ("lint", True),
    "report": ("report", True),
    "env": ("env", True),
    "run": ("run", True),
    "schema": ("schema", True),
    "check-kernel": ("check_kernel", False),
    "watch-trial": ("watch_trial", False),
    "complete": ("complete", False),
}


class _LazyGroup(TyperGroup):
    """Knows its commands by name and loads one when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # click's signature
        return [name for name, (_, listed) in _COMMANDS.items() if listed]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  # click's signature
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"rocmcfg.cli.{_COMMANDS[cmd_name][0]}")
        return typer.main.get_command(module.app)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in _COMMANDS:
            from rocmcfg.model.value import closest

            near = closest(name, list(_COMMANDS))
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)


app = typer.Typer(
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
        sys.stdout.write(f"rocmcfg {rocmcfg.__version__}\n")
        raise typer.Exit


@app.callback()
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


def main() -> None:
    """The program. Usage errors end with exit code 2, in JSON where --json was asked for."""
    _open_streams()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever ignores it in us makes the end of programs unseen
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a Latin-1 terminal shows ? for → and is no defect
            stream.reconfigure(errors="replace")
    from rocmcfg.cli import render

    command = typer.main.get_command(app)
    # click's UsageError, which typer does not export
    usage_error: type[Exception] = typer.BadParameter.__bases__[0]
    try:
        code = command.main(prog_name="rocmcfg", standalone_mode=False)
    except usage_error as problem:
        code = _usage(problem)
    except (typer.Abort, KeyboardInterrupt):
        render.complain("interrupted; nothing was changed\n")  # no command had begun
        code = ExitCode.ERROR
    except (ImportError, AttributeError, SyntaxError) as problem:
        code = _damaged(problem)
    except OSError as problem:  # of --help and --version: commands turn theirs into diagnostics
        if "--debug" in sys.argv:
            raise
        render.lost(problem)
        code = ExitCode.DONE
    render.flush()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Python puts the default back while it ends, and the exit code would be lost to a late signal
        signal.signal(number, signal.SIG_IGN)
    sys.exit(int(code or 0))


def _damaged(problem: Exception) -> int:
    """A command that could not be loaded."""
    from rocmcfg.cli.render import Printer
    from rocmcfg.model.installation import damage

    found = damage(problem)
    if found is None or "--debug" in sys.argv:
        raise problem
    known = next((a for a in sys.argv[1:] if a in _COMMANDS), "")
    printer = Printer(known, json="--json" in sys.argv[1:])
    printer.failure([found], ExitCode.ERROR)
    if not printer.json:
        printer.problems([found])
    return int(ExitCode.ERROR)


def _open_streams() -> None:
    """Whoever starts us with a closed stream (`>&-`) leaves None there, and its number to the next file."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _usage(problem: Any) -> int:
    from rocmcfg.cli.render import Printer, complain
    from rocmcfg.model.diagnostic import error

    if "--json" in sys.argv[1:]:
        known = next((a for a in sys.argv[1:] if a in _COMMANDS), "")
        hint = "see rocmcfg --help"
        stop = error("RC0001", problem.format_message(), hint=hint)
        Printer(known, json=True).failure([stop], ExitCode.USAGE)
    else:
        said = io.StringIO()
        problem.show(file=said)
        complain(said.getvalue())
    return int(ExitCode.USAGE)
