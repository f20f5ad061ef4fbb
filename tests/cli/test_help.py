"""What --help says can be typed, and is found by task."""

from __future__ import annotations

import re
import shlex

import pytest

from rocmcfg.cli import app, commands, help, options
from tests.support.program import rocmcfg, too_wide

LISTED = [name for name, command in commands.COMMANDS.items() if command.listed]


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in help.TASKS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) == {name.partition(" ")[0] for name in LISTED}


@pytest.mark.parametrize("name", [*LISTED, *commands.GROUPS])
def test_a_summary_fits_beside_its_command(name: str) -> None:
    assert len(help.summary(name)) <= 45
    assert not help.summary(name).endswith(("…", "."))


@pytest.mark.parametrize("example", [one for found in help.EXAMPLES.values() for one in found])
def test_every_example_is_a_command_line_without_a_mistake(example: str) -> None:
    words = app.meant(shlex.split(example.rpartition("| ")[2].removeprefix("sudo "))[1:])
    many = 2 if words[0] in commands.GROUPS else 1
    command = commands.COMMANDS[" ".join(words[:many])]
    assert options.read(command.declared(), words[many:], command.passes_on) is not None


@pytest.mark.parametrize("name", ["", *LISTED, *commands.GROUPS])
def test_help_is_whole_and_ends_with_what_every_command_takes(name: str) -> None:
    found = rocmcfg(*name.split(), "--help")
    assert (found.code, found.err) == (0, "")
    assert too_wide(found.out) == []
    if name in LISTED:
        assert re.search(r"-h, --help +Show this help and exit\.$", found.out.rstrip())
        declared = {spelling for one in commands.COMMANDS[name].declared().values() for spelling in one.names}
        assert declared <= set(re.findall(r"(?<!\S)--?[a-z-]+", found.out))


def test_add_says_what_it_keeps_where_it_exists() -> None:
    kept = "Like --set, but keep the settings that are applied already."
    assert kept in " ".join(rocmcfg("plan", "--help").out.split())
    assert "--add" not in rocmcfg("env", "--help").out


def test_without_a_command_the_first_steps_fit_a_small_terminal() -> None:
    found = rocmcfg()
    assert (found.code, found.err) == (0, "")
    assert len(found.out.splitlines()) <= 23  # the prompt takes the last line of 24
    assert too_wide(found.out) == []
    assert "rocmcfg --help" in found.out


@pytest.mark.parametrize("group", commands.GROUPS)
def test_a_group_alone_prints_its_commands(group: str) -> None:
    assert rocmcfg(group) == rocmcfg(group, "--help")
