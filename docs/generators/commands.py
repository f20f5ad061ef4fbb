"""The command line as data, read from the program itself: for the man page and the completions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rocmcfg.cli import commands, documents, options
from rocmcfg.knowledge import catalogue
from rocmcfg.loaders import registry

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

    @property
    def described(self) -> str:
        """The help and the words that the option takes."""
        words = self.choices
        return self.help + (f" One of {', '.join(words[:-1])} and {words[-1]}." if words else "")

    @property
    def value(self) -> str:
        """The placeholder of the value, or nothing for a switch."""
        return self.name[2:].upper() if self.choices else self.metavar


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


_VERSION = Option(("--version",), "Show the version and exit.", "", "", (), False)
_HELP = Option(("-h", "--help"), "Show the options, and exit.", "", "", (), False)


def program() -> Command:
    """The program with what `rocmcfg --help` lists; hidden commands are nobody's to type."""
    listed = [name for name, one in commands.COMMANDS.items() if one.listed]
    parts = [_command(name) for name in listed if " " not in name]
    for group, said in commands.GROUPS.items():
        inner = tuple(_command(name) for name in listed if name.startswith(f"{group} "))
        parts.append(Command(group, said, (_HELP,), (), inner))
    ordered = sorted(parts, key=lambda one: commands.NAMES.index(one.path))
    about = "Manages amdgpu kernel parameters and the environment that goes with them."
    return Command("", about, (_VERSION, _HELP), (), tuple(ordered))


def _command(path: str) -> Command:
    found = commands.COMMANDS[path]
    declared = found.declared().values()
    own = [_option(one) for one in declared if one.names and one is not options.HELP]
    arguments = [
        Argument(one.metavar, one.help, one.takes, one.required, one.kind == "texts")
        for one in declared
        if not one.names
    ]
    return Command(path, inspect.getdoc(found.load()) or "", (*own, _HELP), tuple(arguments), ())


def _option(one: options.Option) -> Option:
    metavar = one.metavar or "|".join(one.choices)
    return Option(one.names, one.help, metavar, one.takes, one.choices, one.kind == "texts")


def fixed_words(takes: str) -> tuple[str, ...]:
    """Without those of two words, which each shell would have to quote in its own way."""
    return tuple(word for word in FIXED[takes]() if " " not in word)
