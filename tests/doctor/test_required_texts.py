"""The texts that a pattern requires, by which doctor passes over lines without a match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmcfg.advice.doctor.reading import probes
from rocmcfg.advice.doctor.reading.probes import required
from rocmcfg.knowledge import catalogue, compiled, diagnosis
from rocmcfg.model import regex_tree
from rocmcfg.model.regex_tree import parsed, repeats_a_repeat

PROBES = probes.of_logs(diagnosis.log_knowledge(), resets=True) + probes.of_issues(catalogue.known_issues())


def test_the_shipped_patterns_require_the_texts_that_are_on_record() -> None:
    """The record is compiled.tsv, from which doctor takes them."""
    recorded = compiled.known(probes.TEXTS, b"") or {}
    patterns = {probe.pattern for probe in PROBES}
    derived = {p: [[text.decode() for text in texts] for texts in required(p)] for p in patterns}
    assert derived == {pattern: recorded[pattern] for pattern in patterns}


def _with_repeat(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(part, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,}", "{,3}", "{2,4}"])).map(
        "".join
    )


CHARACTERS = st.sampled_from(
    ["a", "b", "gfx", " ", "=", r"\.", r"\[", "[0-9]", "[^ ]", "[.]", "[]x]", ".", r"\w"]
)
SEQUENCES = st.lists(_with_repeat(CHARACTERS), min_size=1, max_size=5).map("".join)
PATTERNS = st.recursive(
    SEQUENCES,
    lambda inner: st.lists(
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: f"({'|'.join(branches)})"),
        min_size=1,
        max_size=3,
    ).map("".join),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), pattern=PATTERNS)
def test_every_match_of_a_pattern_has_the_texts_that_it_requires(data: st.DataObject, pattern: str) -> None:
    match = data.draw(st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True))
    for texts in required(pattern):
        assert any(text in match.encode() for text in texts)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a[.]|ab", ["a", "Characters"]),
        ("abc|abd+", ["a", "b", "Branch"]),
        ("(?:ab)c", ["a", "b", "c"]),
        ("(?:ab){2}", ["Repeat"]),
        (r"\[x\]", ["[", "x", "]"]),
        ("x{}", ["x", "{", "}"]),
        (r"\bx.$", ["Other", "x", "Other", "Other"]),
    ],
)
def test_the_parts_of_a_pattern(pattern: str, parts: list[str]) -> None:
    tree = parsed(pattern)
    assert [n.character if isinstance(n, regex_tree.Literal) else type(n).__name__ for n in tree] == parts


@pytest.mark.parametrize(
    "pattern", ["(?=a)", "(?i)a", r"(a)\1", "a*?", "a++", "(a", "a)", "[a", "*a", "a\\", "a{3,2}", r"\x41"]
)
def test_a_pattern_with_other_syntax_is_refused(pattern: str) -> None:
    with pytest.raises(re.error):
        parsed(pattern)
    with pytest.raises(ValueError, match="not for logs"):
        repeats_a_repeat(pattern)
