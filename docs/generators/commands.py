"""The command line as data, read from the program itself: for the man page and the completions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rocmcfg.backends.boot import registry
from rocmcfg.cli import app, documents, options, parser
from rocmcfg.knowledge import catalogue

# Kinds whose words never change, and stand in the scripts.
FIXED: dict[str, Callable[[], tuple[str, ...]]] = {
    "gfx": lambda: tuple(sorted({model.gfx for model in catalogue.gpu_models()})),
    "boot-backend": lambda: registry.NAMES,
    "document": lambda: tuple(documents.schemas()),
}


@dataclass(frozen=True, slots=True)
class Option:
    """`names` as declared; `metavar` is empty for a switch. `takes` as in `options.Option`."""

    names: tuple[str, ...]
    help: str
    metavar: str
    takes: str
    choices: tuple[str, ...]
    repeatable: bool

    @property
    def name(self) -> str:
        """The long one, which is the same wherever the option is offered."""
        return next(name for name in self.names if name.startswith("--"))


@dataclass(frozen=True, slots=True)
class Argument:
    metavar: str
    help: str
    takes: str
    required: bool
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Command:
    """`path` is `profile show`; a group has `commands` and nothing else to run."""

    path: str
    help: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]
    commands: tuple[Command, ...]

    @property
    def name(self) -> str:
        return self.path.rpartition(" ")[2]

    @property
    def summary(self) -> str:
        """The first sentence, without what a list has no room for."""
        return self.help.partition("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".")

    def all(self) -> Iterator[Command]:
        yield self
        for command in self.commands:
            yield from command.all()


def program() -> Command:
    """The program with what `rocmcfg --help` lists; hidden commands are nobody's to type."""
    return _command(parser.program(), "")


def _command(given: Any, path: str) -> Command:
    inner: list[Command] = []
    if hasattr(given, "list_commands"):
        for name in given.list_commands(None):
            found = given.get_command(None, name)
            if not found.hidden:
                inner.append(_command(found, f"{path} {name}".strip()))
    declared = app.COMMANDS[path].declared() if path in app.COMMANDS else {}
    own = [_option(p, declared) for p in given.params if p.param_type_name == "option"]
    own.append(Option(("-h", "--help"), "Show the options, and exit.", "", "", (), False))
    arguments = [_argument(p, declared) for p in given.params if p.param_type_name == "argument"]
    return Command(path, (given.help or "").strip(), tuple(own), tuple(arguments), tuple(inner))


def _option(given: Any, declared: dict[str, options.Option]) -> Option:
    if given.is_flag:
        return Option(tuple(given.opts), given.help or "", "", "", (), False)
    one = declared[given.name]
    metavar = one.metavar or "|".join(one.choices)
    return Option(tuple(given.opts), one.help, metavar, one.takes, one.choices, one.kind == "texts")


def _argument(given: Any, declared: dict[str, options.Option]) -> Argument:
    one = declared[given.name]
    return Argument(one.metavar, one.help, one.takes, one.required, one.kind == "texts")


def fixed_words(takes: str) -> tuple[str, ...]:
    """Without those of two words, which each shell would have to quote in its own way."""
    return tuple(word for word in FIXED[takes]() if " " not in word)
