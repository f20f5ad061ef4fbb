"""docs/reference/commands.md, from the command line, and profile-keys.md, from the profile format."""

from __future__ import annotations

from collections.abc import Iterator

from generators import commands, profile_keys
from generators.commands import Argument, Command, Option
from generators.man import COMMON, SEE_ALSO
from rocmcfg.cli import help as cli_help

_KEYS = {
    "file": "Keys of the file",
    "setting": "Keys of a setting",
    "when": "Conditions",
    "parameter": "Numbers that only the user knows",
    "multiple": "A value from such a number",
}


def command_list() -> str:
    program = commands.program()
    everywhere = {option.name: option for command in program.all() for option in command.options}
    lines = [
        "# Commands",
        "",
        "`docs/generate.py` writes this page from the program.",
        "The same texts are in the manual pages (`man rocmcfg-apply`) and in `rocmcfg COMMAND --help`.",
        "",
        "Nearly every command has these options:",
        "",
        *_options([everywhere[name] for name in COMMON]),
    ]
    for command in program.commands:
        lines += ["", *_command(command)]
    return "\n".join(lines) + "\n"


def _command(command: Command) -> Iterator[str]:
    yield f"## {command.path}"
    if command.commands:
        yield from ("", command.help)
    for part in command.commands or (command,):
        if command.commands:
            yield from ("", f"### {part.path}")
        yield from ("", "```text", _usage(part), "```", "", part.help)
        arguments = [argument for argument in part.arguments if argument.help]
        own = [option for option in part.options if option.name not in COMMON]
        if arguments or own:
            yield ""
        yield from (f"* `{argument.metavar}`: {argument.help}" for argument in arguments)
        yield from _options(own)
    if examples := cli_help.EXAMPLES.get(command.path):
        yield from ("", "Examples:", "", "```text", *examples, "```")
    if also := [
        name.removeprefix("rocmcfg-") for name, section in SEE_ALSO.get(command.path, ()) if section == 1
    ]:
        yield from ("", f"See also: {', '.join(f'[{name}](#{name})' for name in also)}.")


def _options(options: list[Option]) -> Iterator[str]:
    for option in options:
        names = ", ".join(sorted(option.names, key=len))
        yield f"* `{names}{option.value and f' {option.value}'}`: {option.described}"


def _usage(command: Command) -> str:
    return " ".join(["rocmcfg", command.path, "[OPTIONS]", *map(_argument, command.arguments)])


def _argument(argument: Argument) -> str:
    return f"{'-- ' if argument.takes == 'command' else ''}{argument.metavar}"


def profile_key_list() -> str:
    lines = [
        "# Keys of a profile",
        "",
        "`docs/generate.py` writes this page from the schema of the format.",
        "The manual page rocmcfg-profile(5) has the same keys and the rules for profiles of other users;",
        "[write a profile](../how-to/write-a-profile.md) shows the way from nothing to a profile.",
    ]
    for section, keys in profile_keys.sections():
        lines += ["", f"## {_KEYS[section]}"]
        for key in keys:
            lines += ["", f"### {key.name}", "", key.text, "", "```toml", key.example, "```"]
    return "\n".join(lines) + "\n"
