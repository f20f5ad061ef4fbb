"""Read with typer the command lines that `options.read` does not read, mistakes among them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rocmcfg.cli import options
from rocmcfg.cli.commands import COMMANDS
from rocmcfg.cli.printer import Misuse
from rocmcfg.model.spelling import closest

_COMMANDS = 4  # that are named because they have an option


def read(declared: Mapping[str, options.Option], words: list[str], passes_on: bool) -> dict[str, Any]:
    """Return the same as `options.read`, for any words. Raises Misuse with typer's message."""
    reader = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
    settings = {"allow_interspersed_args": not passes_on}
    reader.command(add_help_option=False, context_settings=settings)(_declaring(declared))
    try:
        values = reader(words, prog_name="rocmcfg", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as problem:
        # Only some of these exceptions have a public name in typer, but all of them this public method.
        if not hasattr(problem, "format_message"):
            raise
        own = words[: words.index("--")] if "--" in words else words
        if unknown := next((word for word in own if _is_unknown(word, declared)), ""):
            raise Misuse(f"No such option: {unknown}", hint=_who_has(unknown, declared)) from None
        raise Misuse(problem.format_message()) from None
    if not isinstance(values, dict):  # the exit code of typer.Exit
        return {"help": True}
    return {name: value for name, value in values.items() if value not in (None, False, [], ())}


def _is_unknown(word: str, declared: Mapping[str, options.Option]) -> bool:
    spellings = {spelling for option in declared.values() for spelling in option.names}
    return word.startswith("--") and word != "--" and word.partition("=")[0] not in spellings


def _who_has(word: str, declared: Mapping[str, options.Option]) -> str:
    """Return a hint for an unknown option: the commands that have it, or the option that may be meant."""
    name = word.partition("=")[0]
    having = [
        path
        for path, command in COMMANDS.items()
        if command.listed and any(name in option.names for option in command.declared().values())
    ]
    if having:
        return f"{name} is an option of {', '.join(having[:_COMMANDS])}"
    near = closest(name, [spelling for option in declared.values() for spelling in option.names])
    return f"did you mean {near[0]}?" if near else ""


def _declaring(declared: Mapping[str, options.Option]) -> Any:
    """Return a function that has the declared parameters and returns its arguments."""

    def values(**values: Any) -> dict[str, Any]:
        return values

    parameters = [_parameter(name, option) for name, option in declared.items()]
    vars(values)["__signature__"] = inspect.Signature(parameters)
    return values


def _parameter(name: str, option: options.Option) -> inspect.Parameter:
    # `Option.value` checks values and missing arguments: releases of typer word these errors differently
    kinds: dict[str, Any] = {"switch": bool, "text": str, "texts": list[str], "number": str}
    if option is options.HELP:
        declaration: Any = typer.Option(*option.names, is_eager=True, callback=_end)
    elif option.names:
        declaration = typer.Option(*option.names, metavar=option.metavar or None)
    else:
        declaration = typer.Argument(metavar=option.metavar)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if option.kind == "switch" else None,
        annotation=Annotated[kinds[option.kind], declaration],
    )


def _end(wanted: bool) -> None:
    """Stop reading if help is requested, whatever else is on the line or missing."""
    if wanted:
        raise typer.Exit
