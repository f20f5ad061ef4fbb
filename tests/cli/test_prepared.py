"""Command lines that are read without typer are read as typer reads them; the rest is left to it."""

from __future__ import annotations

import functools
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.cli import app, parser, prepared
from rocmcfg.knowledge import compiled
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, rocmcfg

COMMANDS = [name for name, command in app._COMMANDS.items() if not command.group]
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
    """A command as click knows it, which notes what it would be called with."""
    module = importlib.import_module(f"rocmcfg.cli.{app._COMMANDS[name].module}")
    function = prepared.function(app._COMMANDS[name].module)
    noted = functools.wraps(function)(lambda **values: CALLED.append(values))
    with mock.patch.object(module, app._COMMANDS[name].module, noted):
        return parser.command(name)


def by_typer(name: str, words: list[str]) -> dict[str, Any] | None:
    """What the function is called with; None for a mistake or help."""
    CALLED.clear()
    try:
        click(name).main(list(words), standalone_mode=False)
    except Exception:
        return None
    return CALLED[0] if CALLED else None


def _with_defaults(name: str, values: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(prepared.function(app._COMMANDS[name].module)).parameters
    defaults = {key: p.default for key, p in parameters.items() if p.default is not p.empty}
    return {**defaults, **values}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_is_what_typer_says_of_the_command(name: str) -> None:
    module = app._COMMANDS[name].module
    made = prepared.table(click(name), app._COMMANDS[name].passes_on)
    known = compiled.known(f"cli/{module}", prepared.parameters(module))
    assert known is not None, "run docs/generate.py"
    assert known["options"] == {spelling: list(found) for spelling, found in made["options"].items()}
    assert known["arguments"] == [list(found) for found in made["arguments"]]


@given(st.data())
def test_words_mean_what_they_mean_to_typer(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(COMMANDS))
    options = [spelling for p in click(name).params for spelling in p.opts if spelling.startswith("-")]
    word = st.sampled_from([*options, *(f"{o}=x" for o in options), *VALUES, *STRANGE])
    words = data.draw(st.lists(word, max_size=6))
    values = prepared.values(app._COMMANDS[name].module, words)
    if values is not None:
        typed = by_typer(name, words)
        assert typed is not None
        assert _with_defaults(name, values) == typed


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
        "run -p rdna4 -- python --version",
        "run python -p x",
        "complete profile plan --profile x",
    ],
)
def test_what_is_mostly_typed_needs_no_typer(line: str) -> None:
    name, *words = line.split()
    values = prepared.values(app._COMMANDS[name].module, words)
    assert values is not None
    assert _with_defaults(name, values) == by_typer(name, words)


@pytest.mark.parametrize(
    "line", ["plan -h", "plan --help", "plan --jsn", "plan --json=1", "explain", "verify x"]
)
def test_help_and_mistakes_are_typers(line: str) -> None:
    name, *words = line.split()
    assert prepared.values(app._COMMANDS[name].module, words) is None


def test_of_a_command_that_was_edited_typer_reads_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prepared.values("verify", ["-q"]) == {"quiet": True}
    monkeypatch.setattr(prepared, "parameters", lambda _: b"others")
    assert prepared.values("verify", ["-q"]) is None


def test_without_tables_everything_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    before = rocmcfg("explain", "cwsr_enable", "--root", root)
    monkeypatch.setattr(prepared, "values", lambda *_: None)
    assert rocmcfg("explain", "cwsr_enable", "--root", root) == before


@pytest.mark.parametrize("command", ["verify", "status", "plan --set amdgpu.runpm=0", "explain cwsr_enable"])
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


def test_every_command_has_its_function() -> None:
    for name in COMMANDS:
        assert callable(prepared.function(app._COMMANDS[name].module))
    assert hasattr(importlib.import_module("rocmcfg.cli.profile"), "app")
