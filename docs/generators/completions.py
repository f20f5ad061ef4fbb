"""packaging/completions: the command line of the program as completions of three shells.

Commands, options and words that never change go into the scripts, so that most TABs start no Python; the rest
is asked of `rocmcfg complete` (rocmcfg/cli/complete.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

import jinja2

from generators import commands
from generators.commands import Argument, Command, Option
from rocmcfg.cli import complete


def bash() -> str:
    return _page("rocmcfg.bash.j2")


def zsh() -> str:
    return _page("_rocmcfg.j2")


def fish() -> str:
    return _page("rocmcfg.fish.j2")


def _page(template: str) -> str:
    program = commands.program()
    every = list(program.all())
    return (
        environment()
        .get_template(template)
        .render(
            program=program,
            commands=every,
            top=[c.name for c in program.commands],
            groups={c.name: [inner.name for inner in c.commands] for c in program.commands if c.commands},
            kinds=_kinds(every),
            fixed=_fixed(every),
            asked=sorted(complete.KINDS),
        )
    )


def environment() -> jinja2.Environment:
    """Delimiters that mean nothing to a shell or to roff."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = {
        "quoted": shlex.quote,
        "zsh": _zsh_option,
        "zsh_argument": _zsh_argument,
        "fish": _fish_option,
        "fish_argument": _fish_argument,
    }
    made.filters.update(filters)
    return made


def _kinds(every: Iterable[Command]) -> list[tuple[str, list[str]]]:
    """Each kind with the options and commands that take it; a choice is a kind of its own."""
    found: dict[str, dict[str, None]] = {}
    for command in every:
        for option in command.options:
            if option.takes not in ("", "free"):
                found.setdefault(_kind(option), {}).update(dict.fromkeys(option.names))
        for argument in command.arguments:
            if argument.takes not in ("free", "command"):
                found.setdefault(argument.takes, {})[f'"{command.path}"'] = None
    return [(kind, list(names)) for kind, names in sorted(found.items())]


def _kind(option: Option) -> str:
    return option.name.lstrip("-") if option.takes == "choice" else option.takes


def _fixed(every: Iterable[Command]) -> list[tuple[str, tuple[str, ...]]]:
    found = {takes: commands.fixed_words(takes) for takes in commands.FIXED}
    found |= {_kind(o): o.choices for c in every for o in c.options if o.takes == "choice"}
    return sorted(found.items())


# -- zsh ------------------------------------------------------------------------------------------------


def _zsh_option(option: Option) -> str:
    text = "".join(f"\\{c}" if c in "[]\\:" else c for c in option.help)
    value = ""
    names = list(option.names)
    if option.metavar:
        names = [f"{name}=" if name.startswith("--") else f"{name}+" for name in names]
        value = f":{option.metavar.replace(':', ' ')}:{_zsh_action(option.takes, option.choices)}"
    if option.names[-1] == "--help":
        before = "(- *)"
    else:
        before = "*" if option.repeatable else f"({' '.join(option.names)})"
    spec = shlex.quote(f"[{text}]{value}")
    if len(names) == 1:
        return shlex.quote(before + names[0]) + spec
    return f"{shlex.quote(before)}{{{','.join(names)}}}{spec}"


def _zsh_argument(argument: Argument) -> str:
    if argument.takes == "command":
        return "'(-):command: _command_names -e' '*::argument: _normal'"
    number = "*" if argument.repeatable else ("1" if argument.required else "1:")
    return shlex.quote(f"{number}:{_word(argument.metavar)}:{_zsh_action(argument.takes, ())}")


def _word(metavar: str) -> str:
    return metavar.strip("[]…").partition("[")[0].partition(" ")[0]


def _zsh_action(takes: str, choices: tuple[str, ...]) -> str:
    if takes == "choice" or takes in commands.FIXED:
        return f"({' '.join(choices or commands.fixed_words(takes))})"
    if takes in complete.KINDS:
        return f"{{_rocmcfg_ask {takes}}}"
    return {"profile-file": "_rocmcfg_profile_file", "file": "_files", "directory": "_files -/"}.get(
        takes, " "
    )


# -- fish -----------------------------------------------------------------------------------------------


def _fish_option(option: Option) -> str:
    words = []
    for name in option.names:
        words += ["-l", name[2:]] if name.startswith("--") else ["-s", name[1:]]
    words += _fish_value(option.takes, option.choices)
    return " ".join([*words, "-d", shlex.quote(option.help)])


def _fish_argument(argument: Argument) -> str:
    if argument.takes in ("command", "free"):
        return "-a '(__fish_rocmcfg_run)'" if argument.takes == "command" else ""
    words = _fish_value(argument.takes, ())
    return " ".join(word for word in words if word not in ("-x", "-r"))


def _fish_value(takes: str, choices: tuple[str, ...]) -> list[str]:
    if not takes:
        return []
    if takes == "choice" or takes in commands.FIXED:
        return ["-x", "-a", shlex.quote(" ".join(choices or commands.fixed_words(takes)))]
    if takes in complete.KINDS:
        return ["-x", "-a", f"'(__fish_rocmcfg_ask {takes})'"]
    if takes == "profile-file":
        return ["-x", "-a", "'(__fish_rocmcfg_profile_files)'"]
    if takes == "directory":
        return ["-x", "-a", "'(__fish_complete_directories)'"]
    return ["-r", "-F"] if takes == "file" else ["-x"]
