"""What the documentation shows of the program is what the program does today."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from rocmcfg.cli.printer import Misuse

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()
PAGES = (
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "CHANGELOG.md",
    *(REPOSITORY / "docs").rglob("*.md"),
)


@pytest.mark.slow
def test_generated_parts_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "docs/generate.py"), "--check"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_is_short_and_says_first_what_it_is_and_for_whom() -> None:
    lines = README.splitlines()
    assert len(lines) <= 240
    assert [line for line in lines if len(line) > 120] == []
    screen = "\n".join(lines[:10])
    assert lines[2].startswith("rocmcfg sets the amdgpu kernel parameters and environment variables")
    assert "You need it if" in screen
    assert "never ran it on an AMD GPU" in screen
    first = README.partition("\n## Install\n")[0]
    assert "make demo" in first
    assert "make test" in first


def test_what_a_newcomer_reads_takes_two_minutes() -> None:
    """480 words at 240 a minute: up to the first plan, without the outputs and the way to install."""
    before = README.partition("\n## Try without risk\n")[0]
    read = re.sub(
        r"\n## Install\n.*?(?=\n## )|^```.*?^```|<!--.*?-->|\]\([^)]*\)", "", before, flags=re.M | re.S
    )
    assert len(read.split()) <= 480


def test_every_command_of_the_pages_is_run(run_by_the_generator: ModuleType) -> None:
    """test_generated_parts_are_up_to_date runs them; only a block that says so is left out."""
    marked = re.compile(r"^<!-- (?:not run: .+|tested: [a-z ]+) -->$")
    for name in ("README.md", *run_by_the_generator.names()):
        text = (REPOSITORY / name).read_text()
        fences = re.findall(r"^ *(.*)\n( *)```(\w*)\n((?s:.*?))^\2```$", text, re.M)
        assert len(fences) == len(re.findall("^ *```", text, re.M)) / 2
        for before, _, kind, body in fences:
            if re.search(r"(?:^|\n)(?:\$ )?(?:sudo )?rocmcfg ", body):
                assert kind in ("sh", "console"), (name, body)
            if kind in ("sh", "console") and not marked.match(before):
                assert re.search(r"rocmcfg |make ", body), (name, body)
    blocks = list(run_by_the_generator.blocks(README))
    assert len([block for block in blocks if block.runs]) > 6
    # without root; `make demo`, `make test`; the package
    assert len([block for block in blocks if not block.runs]) == 3


@pytest.fixture
def run_by_the_generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(REPOSITORY / "docs")
    return importlib.import_module("generators.pages")


def test_a_page_whose_command_fails_is_told(run_by_the_generator: ModuleType) -> None:
    with pytest.raises(SystemExit, match="exits with 3, not 0"):
        run_by_the_generator.executed("page", "```sh\nrocmcfg lint advice.md\n```\n")


def test_a_page_gets_what_its_commands_print(run_by_the_generator: ModuleType) -> None:
    page = "<!-- exit 3, last 1 -->\n```console\n$ rocmcfg lint advice.md\nold\n```\n"
    lines = run_by_the_generator.executed("page", page).splitlines()
    assert lines[:4] == ["<!-- exit 3, last 1 -->", "```console", "$ rocmcfg lint advice.md", "[…]"]
    assert len(lines) == 6
    assert "old" not in lines


@pytest.mark.parametrize("name", ["doctor", "plan"])
def test_a_picture_is_one_file_that_brings_its_colours(name: str) -> None:
    picture = ElementTree.parse(REPOSITORY / f"docs/pictures/{name}.svg").getroot()
    said = "".join(picture.itertext()).replace("\u00a0", " ")
    assert f"$ rocmcfg {name}" in said
    assert f"docs/pictures/{name}.svg" in README
    paper = next(element for element in picture if element.tag.endswith("rect"))
    inks = {element.get("fill") for element in picture.iter()} - {None, paper.get("fill")}
    for ink in inks:
        assert contrast(str(ink), str(paper.get("fill"))) >= 4.5, ink


def test_a_picture_leaves_out_whole_items() -> None:
    picture = ElementTree.parse(REPOSITORY / "docs/pictures/plan.svg").getroot()
    texts = [element for element in picture.iter() if element.tag.endswith("text")]
    (cut,) = (at for at, one in enumerate(texts) if "lines]" in (one.text or ""))
    assert texts[cut + 1].get("x") == "16.0", "a sentence begins there"
    assert re.match(r"[A-Z0-9]", texts[cut + 1].text or "")


def contrast(one: str, other: str) -> float:
    """Of two colours #rrggbb, as WCAG 2 has it; 4.5 is enough for text."""
    light, dark = sorted(map(_luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_profile_and_exit_code_is_in_the_tables() -> None:
    from rocmcfg.model.diagnostic import ExitCode

    table = (REPOSITORY / "docs/reference/profiles.md").read_text().partition("\n## debug-")[0]
    for profile in (REPOSITORY / "profiles").glob("*.toml"):
        assert re.search(rf"\b{profile.stem}\b", table), profile.name
    codes = (REPOSITORY / "docs/reference/exit-codes.md").read_text()
    for code in ExitCode:
        assert f"\n| {int(code)} |" in codes, code
    for page in ("docs/reference/profiles.md", "docs/reference/exit-codes.md"):
        assert page in README


# What ends the words of a command in a shell.
SHELL = ("|", "||", "&&", ";", ">", "<")


def test_the_program_takes_every_command_that_the_pages_name() -> None:
    """Also those in a sentence, and those that no host here can run."""
    from rocmcfg.cli import app

    count = 0
    for page in PAGES:
        text = page.read_text()
        spans = re.findall(r"(?<!`)`(?!`)([^`]+)`(?!`)", text)
        blocks = re.findall(r"^ *```\w*\n(.*?)^ *```$", text, re.M | re.S)
        lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
        for command in (" ".join(span.split()) for span in (*spans, *lines)):
            arguments = re.match(r"(?:sudo )?rocmcfg (?=[a-z])(.*)", command)
            # a usage, or a name with dots for what follows it
            if not arguments or "[OPTIONS]" in command or re.search(r"\w…", command):
                continue
            words = shlex.split(arguments[1], comments=True)
            words = words[: next((at for at, word in enumerate(words) if word in SHELL), len(words))]
            name, words = app.split(app.meant(words))
            try:
                app.read(name, words)
            except Misuse as problem:
                if "requires an argument" not in str(problem):  # a sentence about the option
                    pytest.fail(f"{page.name}: {command}: {problem}")
            count += 1
    assert count > 300


def test_every_link_within_the_pages_leads_to_a_heading(run_by_the_generator: ModuleType) -> None:
    del run_by_the_generator
    anchor = importlib.import_module("generators.knowledge").anchor
    headings = {
        page: {anchor(title) for title in re.findall(r"^#+ (.+)$", page.read_text(), re.M)} for page in PAGES
    }
    for page in PAGES:
        for target, name in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)", page.read_text()):
            there = (page.parent / target).resolve() if target else page
            assert there.exists(), f"{page.name}: {target}"
            if name and there in headings:
                assert name in headings[there], f"{page.name}: {target}#{name}"


def test_the_reference_can_be_read() -> None:
    """A name has a heading of its own; nothing is a cell of hundreds of characters."""
    for name in ("parameters", "environment", "issues"):
        text = (REPOSITORY / f"docs/reference/{name}.md").read_text()
        assert [line for line in text.splitlines() if line.startswith("|") and len(line) > 300] == []
    for name in ("parameters", "environment"):
        text = (REPOSITORY / f"docs/reference/{name}.md").read_text()
        first = text.partition("## The twelve most frequent names")[2].partition("\n## ")[0]
        assert first.count("\n* ") == 12
    faults = (
        (REPOSITORY / "docs/reference/issues.md")
        .read_text()
        .partition("\n## Faults\n")[2]
        .partition("\n## ")[0]
    )
    assert "### rdna4-expert-sched-cwsr" in faults
    assert "### lint-" not in faults
    assert "### official-" not in faults


def test_every_link_to_a_file_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_a_block_of_a_list_is_run_and_stays_in_its_item(run_by_the_generator: ModuleType) -> None:
    block = "   <!-- last 1 -->\n   ```console\n   $ rocmcfg profile list\n   old\n   ```\n"
    page = f"1. Look:\n\n{block}\n2. Go on.\n"
    lines = run_by_the_generator.executed("page", page).splitlines()
    assert lines[2:6] == ["   <!-- last 1 -->", "   ```console", "   $ rocmcfg profile list", "   […]"]
    assert lines[6].startswith("   ")
    assert lines[7:] == ["   ```", "", "2. Go on."]
