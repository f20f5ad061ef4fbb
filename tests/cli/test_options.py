"""The table reads a command line as typer does, whose declarations are made from the table."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.cli import app, commands, options, parser
from rocmcfg.cli.printer import Misuse
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, environment, problem, rocmcfg

COMMANDS = list(commands.COMMANDS)
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


# Left to typer although it is no mistake: a word of several letters, or of a letter and its value.
RARE = re.compile(r"-[^-].+")


def by_table(name: str, words: list[str]) -> dict[str, Any] | None:
    command = commands.COMMANDS[name]
    return options.read(command.declared(), words, command.passes_on)


def by_typer(name: str, words: list[str]) -> dict[str, Any] | None:
    """None for a mistake."""
    command = commands.COMMANDS[name]
    try:
        return parser.read(command.declared(), words, command.passes_on)
    except Misuse:
        return None


@given(st.data())
def test_words_mean_what_they_mean_to_typer(data: st.DataObject) -> None:
    """What the table does not read is a mistake to typer too, or a rare spelling."""
    name = data.draw(st.sampled_from(COMMANDS))
    declared = commands.COMMANDS[name].declared().values()
    spellings = [spelling for option in declared for spelling in option.names]
    word = st.sampled_from([*spellings, *(f"{s}=x" for s in spellings), *VALUES, *STRANGE])
    line = data.draw(st.lists(word, max_size=6))
    values = by_table(name, line)
    if values is not None or not any(map(RARE.fullmatch, line)):
        assert values == by_typer(name, line)


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("status -vq", "status -v -q"),
        ("plan -prdna4", "plan -p rdna4"),
        ("plan -vprdna4 x", "plan --verbose --profile rdna4 -- x"),
        ("explain -vh", "explain --help"),
    ],
)
def test_typer_reads_rare_spellings(line: str, same: str) -> None:
    name, words = split(line)
    assert by_table(name, words) is None
    assert by_typer(name, words) == by_table(*split(same))


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
    name, words = split(line)
    values = by_table(name, words)
    assert values is not None
    assert values == by_typer(name, words)


@pytest.mark.parametrize(
    "line", ["plan -h", "plan --help", "explain --help", "verify -h x", "run -h python", "plan --via x -h"]
)
def test_help_is_read_whatever_is_missing_or_too_much(line: str) -> None:
    assert by_table(*split(line)) == by_typer(*split(line)) == {"help": True}


def test_the_options_of_a_program_that_is_run_are_not_ours() -> None:
    assert by_table("run", ["python", "-h"]) == {"command": ["python", "-h"]}
    assert by_table("complete", ["setting", "--help"]) == {"kind": "setting", "words": ["--help"]}


@pytest.mark.parametrize(
    "line",
    ["plan --jsn", "plan --json=1", "plan --via", "plan -p=x --root", "verify x", "plan --help --jsn"],
)
def test_mistakes_are_worded_by_typer(line: str) -> None:
    name, words = split(line)
    assert by_table(name, words) is None
    command = commands.COMMANDS[name]
    with pytest.raises(Misuse):
        parser.read(command.declared(), words, command.passes_on)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("explain", "NAME[=VALUE]…"),
        ("plan --via grub", "'grub' is not one of 'cmdline', 'modprobe'"),
        ("plan --via=", "'' is not one of"),
        ("rollback --to x", "'--to'"),
        ("rollback --to -1", "-1 is below 0"),
        ("plan --jsn", "--jsn"),
        ("appply", "'appply'"),
        ("profile shwo", "`rocmcfg profile show`"),
        ("rollback --to 1 --pristine", "exclude each other"),
        ("plan --boot-backend nosuch", "`rocmcfg plan --help`"),
    ],
)
def test_a_usage_error_has_an_id_and_a_way_out_as_every_other_error(line: str, says: str) -> None:
    text = problem(rocmcfg(*line.split()), "RC0001", 2)
    assert says in " ".join(text.split())
    assert "Usage:" not in text
    assert "help: " in text
    as_json = rocmcfg(*line.split(), "--json")
    assert (as_json.code, as_json.ids, as_json.err) == (2, ["RC0001"], "")
    (diagnostic,) = as_json.document["diagnostics"]
    assert diagnostic["summary"]
    assert re.search("rocmcfg|did you mean", diagnostic["hint"])


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
    command = commands.COMMANDS[name]
    parameters = inspect.signature(command.load()).parameters
    required = {key: ["x"] for key, option in command.declared().items() if option.required}
    assert ["printer", *app.parameters(command.load(), required)] == list(parameters)
    assert command.load().__doc__


def test_an_option_of_another_command_is_named_with_its_commands() -> None:
    found = rocmcfg("plan", "--uncoditional")
    assert (found.code, "did you mean --unconditional?" in found.err) == (2, True)
    found = rocmcfg("verify", "--trial")
    assert found.code == 2
    assert "No such option: --trial" in found.err
    assert "--trial is an option of plan, apply" in found.err
    assert "Possible options" not in found.err
