"""`make peers` notices a difference that comes, and one that goes; its oracle reads as the kernel does."""

from __future__ import annotations

import pytest

from tests.peers import figures, judgement, kernel
from tests.peers.judgement import CANNOT_TELL, Answer, Case, Difference, Outcome, Refused
from tests.peers.test_programs import PROGRAMS
from tests.peers.test_suites import SUITES

ROWS = [Difference("kmod", ("open *", "a [quote]"), "ours", "why")]
NAMES = {one.name for one in (*PROGRAMS, *SUITES)}


@pytest.mark.parametrize(
    ("theirs", "ours", "outcome"),
    [
        ({"a": "1"}, {"a": "1"}, Outcome.AGREE),
        ({"a": "1"}, {"a": "2"}, Outcome.DIFFER),
        ({"a": "1"}, {}, Outcome.DIFFER),
        ({"a": None}, {}, Outcome.AGREE),
        ({"a": "1"}, {"a": CANNOT_TELL}, Outcome.REFUSED),
        ({"a": "1", "b": "2"}, {"a": CANNOT_TELL, "b": "3"}, Outcome.DIFFER),
        ({"a": "1"}, Refused("why"), Outcome.REFUSED),
        (Refused("why"), {"a": "1"}, Outcome.DIFFER),
        (Refused("why"), Refused("why"), Outcome.AGREE),
        (None, None, Outcome.NOT_EXPRESSIBLE),
    ],
)
def test_not_to_know_is_no_wrong_value(theirs: Answer | None, ours: Answer | None, outcome: Outcome) -> None:
    assert Case("x", "", theirs, ours).outcome is outcome


def test_a_difference_without_a_row_is_told_with_its_input() -> None:
    said = judgement.unexpected("kmod", [case("open end"), case("a [quote]"), case("a quote")], ROWS)
    assert "no row says so: 'a quote'" in said
    assert "input: 'text'" in said
    assert said.count("no row") == 1


def test_a_row_without_a_difference_is_to_be_deleted() -> None:
    assert not judgement.unexpected("kmod", [case("open end"), case("a [quote]")], ROWS)
    said = judgement.unexpected("kmod", [case("open end"), case("a [quote]", ours="1")], ROWS)
    assert said == "agrees now, delete it from differences.toml: 'a [quote]'"
    assert not judgement.unexpected("grub", [], ROWS)


def case(id: str, *, ours: str = "2") -> Case:
    return Case(id, "text", {"a": "1"}, {"a": ours})


def test_every_row_is_of_something_that_is_compared() -> None:
    rows = judgement.table()
    assert {row.of for row in rows} <= NAMES
    assert all(row.whose in ("ours", "theirs", "scope") and row.why and row.cases for row in rows)


def test_the_figures_are_of_what_is_compared() -> None:
    read = figures.read()
    assert {row["name"] for row in read} == NAMES
    assert (
        sum(int(row["cases"]) - int(row["not expressible"]) for row in read if row["kind"] == "suite") >= 400
    )
    assert all(int(row["cases"]) >= 300 for row in read if row["kind"] != "suite")
    assert all(row["agree"] == row["cases"] for row in read if row["kind"] == "ordinary")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("quiet a.b-c=1", [("quiet", None), ("a.b_c", "1")]),
        ('a="b c" d', [("a", "b c"), ("d", None)]),
        ('"a=b c" d', [("a", "b c"), ("d", None)]),
        ('"a"=b', [('a"', "b")]),
        ('a=b"c d"', [("a", 'b"c d"')]),
        ('a="b c', [("a", "b c")]),
        ("=a", [("=a", None)]),
        ("a -- b", [("a", None)]),
        ('a "--" b', [("a", None)]),
        ("a= b==c", [("a", ""), ("b", "=c")]),
        ("a\u00a0b", [("a\udcc2", None), ("b", None)]),
    ],
)
def test_the_oracle_reads_arguments_as_the_kernel_does(line: str, found: list[kernel.Argument]) -> None:
    """Worked out by hand from lib/cmdline.c."""
    assert kernel.arguments(line) == found


def test_grub_escapes_quotes_and_puts_words_with_blanks_into_them() -> None:
    assert kernel.loader_line(["a", "b c", "d'e", 'f"', "g\\"]) == 'a "b c" d\\\'e f\\" g\\\\'
