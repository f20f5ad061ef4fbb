"""A name that a file of knowledge defines twice is named, with both lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.knowledge import toml
from rocmcfg.knowledge.duplicates import Duplicate, duplicates
from rocmcfg.model.diagnostic import Diagnostic
from tests.support.program import SOURCE

DATA = sorted((SOURCE / "rocmcfg").glob("*/data/**/*.toml"))
TRAP = '[[trap]]\nname = "gfxoff"\n'
FAMILY = '[[family]]\nreader = "MIOpen"\n[family.names]\nMIOPEN_X = "One."\n'


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_no_name_of_what_comes_with_the_program_is_defined_twice(path: Path) -> None:
    text = path.read_text()
    assert [*duplicates(text, toml.loads(text))] == []


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        (f"{TRAP}{TRAP}", Duplicate("gfxoff", 2, 4)),
        (f'{TRAP}[[trap]]\nname = "other"\n[[trap]]\nname = "gfxoff"\n', Duplicate("gfxoff", 2, 6)),
        ('[[namespace]]\nprefix = "A_"\n[[namespace]]\nprefix = "A_"\n', Duplicate("A_", 2, 4)),
        (f"{FAMILY}{FAMILY}", Duplicate("MIOPEN_X", 4, 8)),
        (f'{FAMILY}[MIOPEN_X]\nsummary = "Two."\n', Duplicate("MIOPEN_X", 4, 5)),
    ],
    ids=["row", "row-further-below", "prefix", "families", "family-and-table"],
)
def test_the_second_definition_is_named_with_the_line_of_the_first(text: str, twice: Duplicate) -> None:
    assert [*duplicates(text, toml.loads(text))] == [twice]


@pytest.mark.parametrize(
    "text",
    [
        '[[trap]]\nname = "a"\n[[trap]]\nname = "b"\n',
        '[[trap]]\nname = "a"\n[[namespace]]\nprefix = "a"\n',
        'trap = [{ name = "a" }, { name = "b" }]\n',
        "[a]\nx = 1\n[b]\nx = 1\n",
    ],
)
def test_different_things_are_no_duplicates(text: str) -> None:
    assert [*duplicates(text, toml.loads(text))] == []


@pytest.mark.parametrize(
    ("text", "summary", "line"),
    [
        ("[amdgpu.a]\nx = 1\n\n[amdgpu.a]\n", "amdgpu.a is defined twice, first in line 1", "4"),
        ("[amdgpu.a]\nx = 1\ny = 2\nx = 3\n", "amdgpu.a.x is defined twice, first in line 2", "4"),
        ("[[r]]\nx = 1\n[[r]]\nx = 1\nx = 2\n", "r.x is defined twice, first in line 4", "5"),
        ("[[r]]\nx = 1\n[[r]]\nx = \n", "Invalid value", "4"),
    ],
    ids=["table", "key", "key-of-a-later-row", "another-mistake"],
)
def test_a_duplicate_that_toml_refuses_has_both_lines_too(text: str, summary: str, line: str) -> None:
    problem = toml.parse(text.encode(), "f")
    assert isinstance(problem, Diagnostic)
    assert problem.summary == f"TOML syntax: {summary}"
    assert problem.location.split(":")[:2] == ["f", line]
