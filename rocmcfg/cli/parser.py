"""The command line as typer reads it: help, mistakes, and all that `options.read` leaves to it."""

from __future__ import annotations

import inspect
import io
import sys
from typing import Annotated, Any, NoReturn

import typer

from rocmcfg.cli import app
from rocmcfg.cli.help import page, usage
from rocmcfg.cli.options import Option
from rocmcfg.cli.printer import Misuse, Printer, complain
from rocmcfg.cli.terminal import wrap
from rocmcfg.model.diagnostic import ExitCode, error
from rocmcfg.model.spelling import closest

# click's, which typer does not export
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def command(name: str) -> Any:
    one = app.COMMANDS[name]
    made = typer.Typer(rich_markup_mode=None, add_completion=False)
    helping = [] if one.passes_on and not one.listed else ["-h", "--help"]
    settings = {"allow_interspersed_args": not one.passes_on, "help_option_names": helping}
    made.command(context_settings=settings)(_function(name, one))
    found: Any = typer.main.get_command(made)
    found.get_help = lambda _: page(name)
    found.get_usage = lambda _: usage(name)  # releases of typer differ in theirs
    return found


def _function(name: str, found: app.Command) -> Any:
    """What typer calls: with the parameters that the command declares, as typer reads them."""

    def run(**given: Any) -> None:
        try:
            app.call(name, given)
        except Misuse as problem:
            hint = f"'{problem.option}'" if problem.option else None
            raise typer.BadParameter(str(problem), param_hint=hint) from None

    declared = [_parameter(key, option) for key, option in found.declared().items()]
    vars(run)["__signature__"] = inspect.Signature(declared)
    return run


def _parameter(name: str, option: Option) -> inspect.Parameter:
    # `Option.value` looks at numbers and choices itself: releases of typer differ in what they say of them
    kinds: dict[str, Any] = {"switch": bool, "text": str, "texts": list[str], "number": str}
    kind = kinds[option.kind]
    if option.names:
        said: Any = typer.Option(*option.names, metavar=option.metavar or None)
    else:
        said = typer.Argument(metavar=option.metavar)
    default = inspect.Parameter.empty if option.required else option.default
    if option.choices and not option.default:
        default = None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, said]
    )


def run(name: str, words: list[str]) -> NoReturn:
    """Raises SystemExit. `name` is a command, or what stands in the place of one."""
    try:
        if name not in app.COMMANDS:
            _no_command(name)
        code = command(name).main(words, prog_name=f"rocmcfg {name}", standalone_mode=False)
    except _UsageError as problem:
        _stop(problem)
    except typer.Abort:
        raise KeyboardInterrupt from None
    raise SystemExit(code)


def _no_command(name: str) -> NoReturn:
    first, _, second = name.partition(" ")
    group, word = (first, second) if first in app.GROUPS else ("", first)
    if word in ("", "-h", "--help"):
        (sys.stdout if word else sys.stderr).write(page(group) + "\n")
        raise SystemExit(int(ExitCode.DONE if word else ExitCode.USAGE))
    before = f"{group} " if group else ""
    listed = [full for full, one in app.COMMANDS.items() if one.listed and full.startswith(before)]
    known = dict.fromkeys(full.removeprefix(before).partition(" ")[0] for full in listed)
    near = closest(word, list(known))
    hint = f"Did you mean 'rocmcfg {before}{near[0]}'?" if near else f"See 'rocmcfg {before}--help'."
    raise _UsageError(f"No such {'option' if word[:1] == '-' else 'command'} {word!r}. {hint}")


def _stop(problem: Any) -> NoReturn:
    if "--json" in sys.argv[1:]:
        stop = error("RC0001", problem.format_message(), hint="see rocmcfg --help")
        Printer(app.named(sys.argv[1:]), json=True).document([stop], {"outcome": "nothing_changed"})
    else:
        said = io.StringIO()
        problem.show(file=said)
        complain("".join("\n".join(wrap(line)) + "\n" for line in said.getvalue().splitlines()))
    raise SystemExit(int(ExitCode.USAGE))
