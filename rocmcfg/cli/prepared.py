"""Command lines without a mistake, read without typer, which takes as long to load as all that `verify` does.

What each option is called and takes was asked of typer when the program was made (`table`, by
docs/generate.py). Whatever a table does not answer for certain is left to typer: help, mistakes, options that
check their value, words of other kinds.
"""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import Any

from rocmcfg.knowledge import compiled


def function(module: str) -> FunctionType:
    """What carries out the command of a module."""
    found: FunctionType = getattr(importlib.import_module(f"rocmcfg.cli.{module}"), module)
    return found


def values(module: str, words: list[str]) -> dict[str, Any] | None:
    """What the words behind its name give the function of a command; None where typer has to read them."""
    table = compiled.known(f"cli/{module}", parameters(module))
    return None if table is None else _read(table, words)


def parameters(module: str) -> bytes:
    """What a table was made for: the names that a function takes values under."""
    code = function(module).__code__
    return " ".join(code.co_varnames[: code.co_argcount]).encode()


def _read(table: dict[str, Any], words: list[str]) -> dict[str, Any] | None:
    given: dict[str, Any] = {}
    free: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            free += reversed(rest)
            break
        if not word.startswith("-") or word == "-":
            free.append(word)
            if table["passes_on"]:
                free += reversed(rest)
                break
            continue
        option, equals, value = word.partition("=")
        name, kind = table["options"].get(option, ("", ""))
        if kind == "switch" and not equals:
            given[name] = True
            continue
        if not equals and rest:
            value = rest.pop()
        elif not equals or not option.startswith("--"):
            return None
        if kind == "text":
            given[name] = value
        elif kind == "texts":
            given.setdefault(name, []).append(value)
        elif kind == "number" and len(value) < 10 and value.isascii() and value.isdigit():
            given[name] = int(value)
        else:
            return None
    return _placed(table["arguments"], free, given)


def _placed(arguments: list[list[str]], free: list[str], given: dict[str, Any]) -> dict[str, Any] | None:
    """With what stands for itself."""
    for name, kind in arguments:
        if kind.endswith("texts") and free:
            given[name], free = free, []
        elif kind.endswith("text") and free:
            given[name], free = free[0], free[1:]
        elif not kind.startswith("optional"):
            return None
    return None if free else given


def table(command: Any, passes_on: bool) -> dict[str, Any]:
    """The table of a command as click knows it."""
    options = {
        spelling: (option.name, kind)
        for option in command.params
        if option.param_type_name == "option" and (kind := _kind(option))
        for spelling in option.opts
    }
    arguments = [
        (a.name, _kind(a) if a.required else f"optional {_kind(a)}")
        for a in command.params
        if a.param_type_name == "argument"
    ]
    return {"options": options, "arguments": arguments, "passes_on": passes_on}


def _kind(parameter: Any) -> str:
    """Empty where only typer can tell whether a value is right."""
    if parameter.callback is not None or parameter.envvar or parameter.secondary_opts or parameter.is_eager:
        return ""
    if getattr(parameter, "is_flag", False):
        return "switch"
    several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    if parameter.type.name == "str":
        return "texts" if several else "text"
    return "number" if parameter.type.name == "int" and not several else ""
