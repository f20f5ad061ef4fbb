"""Where a key stands in a TOML file."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.knowledge import toml
from rocmcfg.model.diagnostic import Diagnostic

TEXT = """\
schema = 1
[module.amdgpu]  # a comment
runpm = 0
"quoted.key" = 1
'single' = 2
a.b = 3
[module.amdgpu.tmz]
value = 0

[[list]]
x = 1
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("schema",), 1),
        (("module", "amdgpu", "runpm"), 3),
        (("module", "amdgpu", "quoted.key"), 4),
        (("module", "amdgpu", "single"), 5),
        (("module", "amdgpu", "a", "b"), 6),
        (("module", "amdgpu", "tmz", "value"), 8),
        (("module", "amdgpu", "tmz", "missing"), 7),
        (("module", "amdgpu", "runpm", "deep", 0), 3),
        (("list", 0, "x"), 10),
        (("nowhere",), 1),
    ],
)
def test_a_key_has_the_line_where_it_is_written(path: tuple[str | int, ...], line: int) -> None:
    assert toml.line_of(toml.key_lines(TEXT), path) == line


@given(st.text(max_size=60))
def test_finding_lines_never_crashes(text: str) -> None:
    assert all(line >= 1 for line in toml.key_lines(text).values())


def test_the_end_of_a_document_has_a_line_too() -> None:
    problem = toml.parse(b"a = 1\nb = [", "f")
    assert isinstance(problem, Diagnostic)
    assert problem.location.startswith("f:2")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a = " + "[" * 5000, "1"),
        ("a = " + "[" * 5000 + "]" * 5000, "1"),
        ("a = " + "{a=" * 5000, "1"),
        pytest.param(
            "a = 1\nb = " + "9" * 5000 + "\n",
            "2",
            marks=pytest.mark.skipif(
                # Python 3.10.7 is the first 3.10 that has a limit
                not hasattr(sys, "get_int_max_str_digits"),
                reason="this Python reads numbers of any length",
            ),
        ),
    ],
    ids=["lists", "closed lists", "tables", "digits"],
)
def test_what_the_reader_gives_up_on_is_a_problem_as_any_other(content: str, line: str) -> None:
    problem = toml.parse(content.encode(), "f")
    assert isinstance(problem, Diagnostic)
    assert (problem.id, problem.location.split(":")[:2]) == ("RC1002", ["f", line])


@pytest.mark.parametrize(
    "line",
    ["[" + " " * 200_000, "[a" + " " * 200_000 + "b", "[" * 200_000, "a" + " " * 200_000, "a." * 100_000],
    ids=["blanks", "name", "brackets", "key", "dots"],
)
def test_no_line_takes_more_than_a_moment(line: str) -> None:
    before = time.process_time()
    toml.key_lines(line)
    assert time.process_time() - before < 1


def test_a_key_that_goes_on_and_on_is_refused_with_its_line() -> None:
    for text in (
        "x = 1\n[" + "a." * 100 + "a]\n",
        "x = 1\n" + "a . " * 100 + "a = 1\n",
        "x = 1\ny = {" + "a." * 100,
    ):
        problem = toml.parse(text.encode(), "f")
        assert isinstance(problem, Diagnostic)
        assert (problem.id, problem.location) == ("RC1002", "f:2")
    document = toml.parse(("[" + "a." * 20 + "a]\nb = '" + "word. word " * 100 + "'").encode(), "f")
    assert isinstance(document, dict)


def test_a_header_with_blanks_is_one() -> None:
    assert toml.key_lines("[ a . b ]\n[[  c ]]  # x\n") == {("a", "b"): 1, ("c",): 2}


@pytest.mark.parametrize("mark", ['"""', "'''"])
def test_a_line_of_a_text_is_no_key(mark: str) -> None:
    text = f'a = "x # y"  # it\'s {mark}\nb = {mark}\nc = 1\n[d]\n{mark}\nc = 2\n'
    assert toml.key_lines(text) == {("a",): 1, ("b",): 2, ("c",): 6}
