"""Command lines that are read without typer are read as typer reads them; the rest is left to it."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.cli import app, options, parser
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment

COMMANDS = list(app.COMMANDS)
CALLED: list[dict[str, Any]] = []
STRANGE = (
    "",
    "-",
    "--",
    "--nosuch",
    "-z",
    "-pq",
    "--json=1",
    "--root=",
    "-p=x",
    "-1",
    "12",
    "ü",
    "\udcff",
    "²",
)
VALUES = ("x", "/mnt", "amdgpu.runpm=0", "7", "12345678901234567890", "modprobe", "a=b", "--", "-q")


@functools.cache
def click(name: str) -> Any:
    """A command as click knows it."""
    return parser.command(name)


def called(name: str, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the function of the command is called with, of what was read."""
    command = app.COMMANDS[name]
    if given is None:
        return None
    output = {option: bool(given.get(option)) for option in command.output}
    return {**app.parameters(command.load(), given), **output}


def by_typer(name: str, words: list[str]) -> dict[str, Any] | None:
    """None for a mistake or help."""
    CALLED.clear()
    with mock.patch.object(app, "call", lambda _, given: CALLED.append(given)):
        try:
            click(name).main(list(words), standalone_mode=False)
        except Exception:
            return None
    return called(name, CALLED[0]) if CALLED else None


def without_typer(name: str, line: list[str]) -> dict[str, Any] | None:
    command = app.COMMANDS[name]
    return called(name, options.read(command.declared(), line, command.passes_on))


@given(st.data())
def test_words_mean_what_they_mean_to_typer(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(COMMANDS))
    options = [spelling for p in click(name).params for spelling in p.opts if spelling.startswith("-")]
    word = st.sampled_from([*options, *(f"{o}=x" for o in options), *VALUES, *STRANGE])
    line = data.draw(st.lists(word, max_size=6))
    found = without_typer(name, line)
    if found is not None:
        assert found == by_typer(name, line)


@pytest.mark.parametrize(
    "line",
    [
        "verify",
        "verify --root / --json -q --pid 12 -p a --profile b --profile=c",
        "plan --profile gfx1201 --set amdgpu.runpm=0 --with x --without=y --trial --confirm-after 10m",
        "explain cwsr_enable=0 --kernel 6.14",
        "lint a b --fix -- --c",
        "doctor --log a b c",
        "status -v",
        "apply -p auto --via modprobe --yes",
        "profile list --json",
        "profile show rdna4 --root /mnt",
        "profile validate a b",
        "run -p rdna4 -- python --version",
        "run python -p x",
        "complete profile plan --profile x",
    ],
)
def test_what_is_mostly_typed_needs_no_typer(line: str) -> None:
    name, given = split(line)
    found = without_typer(name, given)
    assert found is not None
    assert found == by_typer(name, given)


@pytest.mark.parametrize(
    "line", ["plan -h", "plan --help", "plan --jsn", "plan --json=1", "plan --via x", "explain", "verify x"]
)
def test_help_and_mistakes_are_typers(line: str) -> None:
    assert without_typer(*split(line)) is None


def split(line: str) -> tuple[str, list[str]]:
    name = next(name for name in COMMANDS if line == name or line.startswith(f"{name} "))
    return name, line[len(name) :].split()


@pytest.mark.parametrize(
    "command", ["verify", "status", "plan --set amdgpu.runpm=0", "explain cwsr_enable", "profile list"]
)
def test_typer_is_not_loaded(tmp_path: Path, command: str) -> None:
    script = (
        "import sys\nfrom rocmcfg.cli import app\n"
        "try:\n    app.main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "sys.stderr.write(','.join({'typer', 'pydantic'} & set(sys.modules)))\n"
    )
    root = debian_grub_host(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", script, *command.split(), "--root", str(root)],
        cwd=SOURCE,
        env={k: v for k, v in environment().items() if not k.startswith("COV")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, {"typer", "pydantic"} & set(done.stderr.split(","))) == (0, set())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_declares_what_its_function_takes(name: str) -> None:
    function = app.COMMANDS[name].load()
    parameters = inspect.signature(function).parameters
    assert ["printer", *app.parameters(function, {})] == list(parameters)
    assert function.__doc__
