"""The manual pages: what they say exists, what exists is said, and the readers of the world take them."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.model.diagnostic import ExitCode
from tests.support.program import rocmcfg
from tests.support.tools import require_tool

REPOSITORY = Path(__file__).parents[2]
MANUAL = REPOSITORY / "packaging/man"
PAGES = sorted(MANUAL.glob("man?/*"))
PROGRAM, PROFILE = MANUAL / "man1/rocmcfg.1", MANUAL / "man5/rocmcfg-profile.5"
SAMPLE = REPOSITORY / "docs/demo/sample-host"


def generator(name: str) -> Any:
    sys.path.insert(0, str(REPOSITORY / "docs"))
    return importlib.import_module(f"generators.{name}")


def rendered(page: Path) -> str:
    """As a reader sees it on a terminal of 80 columns, blanks and lines run together."""
    return " ".join(plain(page).split())


def plain(page: Path) -> str:
    argv = [require_tool("mandoc", "mandoc"), "-T", "ascii", "-O", "width=80", str(page)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return re.sub(".\b", "", done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_reader_takes_the_page_without_a_word(page: Path) -> None:
    complaints = []
    for argv in (
        [require_tool("mandoc", "mandoc"), "-T", "lint", "-W", "warning"],
        [require_tool("groff", "groff-base"), "-ww", "-man", "-z"],
        [require_tool("man", "man-db"), "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"],
    ):
        done = subprocess.run([*argv, str(page)], capture_output=True, text=True, check=False)
        said = done.stderr + (done.stdout if "lint" in argv else "")
        # until there is a release there is no date that does not change by the day
        complaints += [line for line in said.splitlines() if 'missing date, using ""' not in line]
    assert complaints == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_page_fits_a_terminal_and_is_plain_ascii(page: Path) -> None:
    assert max(len(line) for line in plain(page).splitlines()) <= 80
    assert page.read_text().isascii()


def test_every_command_has_a_page_with_every_option() -> None:
    listed = generator("commands").program().commands
    names = {f"rocmcfg-{command.name}.1" for command in listed}
    assert {page.name for page in PAGES} == {"rocmcfg.1", *names, "rocmcfg-profile.5"}
    program = rendered(PROGRAM)
    for command in listed:
        page = MANUAL / f"man1/rocmcfg-{command.name}.1"
        text = rendered(page)
        assert f" NAME rocmcfg-{command.name} - " in text
        assert f" rocmcfg-{command.name}(1) " in program
        for part in command.commands or (command,):
            assert f" rocmcfg {part.path} [OPTIONS]" in text
            for option in part.options:
                assert f"{option.name} " in text, (part.path, option.name)
        for name, section in re.findall(r"(rocmcfg[a-z-]*)\((\d)\)", text):
            assert (MANUAL / f"man{section}/{name}.{section}").is_file(), (page.name, name)


def test_what_every_command_takes_is_on_the_page_of_the_program_once() -> None:
    text = rendered(PROGRAM)
    assert text.count(" --root DIR ") == 1
    assert text.index(" EXAMPLES ") < text.index(" COMMANDS ") < text.index(" OPTIONS ")


def test_what_to_do_when_the_screen_stays_black_is_on_the_page() -> None:
    steps = rendered(PROGRAM).partition(" WHEN THE SCREEN STAYS BLACK ")[2].partition(" FILES ")[0]
    for text in (
        "1. After",
        "amdgpu.cwsr_enable=1",
        "modprobe.blacklist=amdgpu",
        "undo.sh",
        "6. With GRUB",
        "rocmcfg.begin",
    ):
        assert text in steps
    assert "](" not in steps


def test_every_exit_code_and_every_file_of_ours_is_on_the_page() -> None:
    from rocmcfg.change.planning.owned import owned_paths

    text = rendered(PROGRAM)
    status, files = text.partition(" EXIT STATUS ")[2], text.partition(" FILES ")[2]
    for code in ExitCode:
        assert re.search(rf"\b{int(code)} [a-z]", status.partition(" WHEN THE ")[0]), code
    for path in owned_paths():
        assert path in files


def test_the_examples_are_commands_that_the_program_takes() -> None:
    text = plain(PROGRAM)
    shown = re.findall(
        r"^ +(?:sudo )?(rocmcfg .*)$", text[text.index("EXAMPLES") : text.index("COMMANDS")], re.M
    )
    assert len(shown) >= 10
    commands = {c.path: c for c in generator("commands").program().all()}
    for line in shown:
        words = shlex.split(line.partition(" > ")[0].partition(" -- ")[0])
        options = {name for option in commands[words[1]].options for name in option.names}
        assert {word for word in words if word.startswith("-")} <= options, line
    for line in (["plan", "--profile", "gfx1201"], ["explain", "ppfeaturemask=0xffffffff"]):
        assert any(shlex.join(["rocmcfg", *line]) == one for one in shown)
        assert rocmcfg(*line, "--root", SAMPLE).code == 0


def test_every_example_of_a_key_is_a_valid_profile(tmp_path: Path) -> None:
    keys = generator("profile_keys")
    page = plain(PROFILE)
    for name, document in keys.documents():
        path = tmp_path / f"{name.replace(' ', '-')}.toml"
        path.write_text(document)
        done = rocmcfg("profile", "validate", path, "--root", SAMPLE)
        assert (done.code, done.err) == (0, ""), (name, document, done)
    for _, group in keys.sections():
        for key in group:
            assert re.search(rf"^ +{re.escape(key.name)}\b", page, re.M), key.name
            for line in filter(None, key.example.splitlines()):
                assert line in page


def test_a_number_that_is_missing_leaves_its_setting_out_as_the_page_says() -> None:
    assert "rocmcfg leaves out a setting without its number" in rendered(PROFILE)
    planned = rocmcfg("plan", "--profile", "strix", "--any-gpu", "--root", SAMPLE, "--json").document
    assert any(skip["setting"] == "ttm.pages_limit" for skip in planned["skipped"])
