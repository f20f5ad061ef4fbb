"""Command lines without a mistake, read without typer, which takes as long to load as all that `verify` does.

Whatever the declarations do not answer for certain is left to typer: help, mistakes, and spellings that are
rare.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocmcfg.cli.options import Option


def read(declared: Mapping[str, Option], words: list[str], passes_on: bool) -> dict[str, Any] | None:
    """What the words behind the name of a command give its parameters; None where typer has to read them.
    `passes_on`: nothing behind the first argument is an option of ours."""
    named = {spelling: (name, one) for name, one in declared.items() for spelling in one.names}
    given: dict[str, Any] = {}
    unnamed: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            unnamed += reversed(rest)
            break
        if not word.startswith("-") or word == "-":
            unnamed.append(word)
            if passes_on:
                unnamed += reversed(rest)
                break
            continue
        spelling, equals, value = word.partition("=")
        name, option = named.get(spelling, ("", None))
        if option is None:
            return None
        if option.kind == "switch" and not equals:
            given[name] = True
            continue
        if not equals and rest:
            value = rest.pop()
        elif not equals or not spelling.startswith("--"):
            return None
        if option.kind == "texts":
            given.setdefault(name, []).append(value)
        elif option.kind == "text" and (not option.choices or value in option.choices):
            given[name] = value
        elif option.kind == "number" and len(value) < 10 and value.isascii() and value.isdigit():
            given[name] = int(value)
        else:
            return None
    return _placed(declared, unnamed, given)


def _placed(
    declared: Mapping[str, Option], unnamed: list[str], given: dict[str, Any]
) -> dict[str, Any] | None:
    """With the words that belong to no option as arguments."""
    for name, argument in declared.items():
        if argument.names:
            continue
        if argument.kind == "texts" and unnamed:
            given[name], unnamed = unnamed, []
        elif unnamed:
            given[name], unnamed = unnamed[0], unnamed[1:]
        elif argument.required:
            return None
    return None if unnamed else given
