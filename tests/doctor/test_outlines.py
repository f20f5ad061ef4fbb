"""Lines of one outline match the same patterns, if these are blind to what the outline leaves out."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocmcfg.advice.doctor.reading import outlines, probes
from rocmcfg.advice.doctor.reading.outlines import (
    DECIMAL,
    HEXADECIMAL,
    NONE,
    bare_of,
    blindness,
    outline,
    shown,
    without_hexadecimal,
)
from rocmcfg.knowledge import catalogue, diagnosis, faults
from rocmcfg.model.regex_tree import alternatives

PROBES = probes.of_all(diagnosis.log_knowledge(), catalogue.known_issues(), faults.faults().values())


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("range 0-9 of", NONE),
        ("x[{4}]", NONE),
        ("x{4} [0-9]{2,4}z", HEXADECIMAL),
        ("code=[1-9]", NONE),
        ("code=([0-4]|[5-9])", DECIMAL),
        ("code=[0-9]+", DECIMAL),
        ("code=[0-9]+ of", HEXADECIMAL),
        (r"code=\d+[.]", HEXADECIMAL),
        ("code=1?", NONE),
        ("id [0-9a-f]+", HEXADECIMAL),
        ("id [^ ]* .", HEXADECIMAL),
        ("at 0x[0-9a-f]+", HEXADECIMAL),
        ("at 0+x", NONE),
        ("at 0x1", NONE),
        ("(0|x){2}z", NONE),
        (r"a.c\.|[.]", DECIMAL),
        ("failed to add one", HEXADECIMAL),
        ("failed to add", DECIMAL),
        ("dead of", DECIMAL),
        ("[Ff]ail", HEXADECIMAL),
        ("[a-z]+", DECIMAL),
        (r"(\.|a)z", DECIMAL),
    ],
)
def test_what_a_pattern_is_blind_to(pattern: str, kind: int) -> None:
    assert blindness(pattern) == kind


def test_a_need_with_a_digit_is_not_blind() -> None:
    assert probes.probe("fault", "reset", ("gfx9",)).parts[0].blind == NONE


@pytest.mark.parametrize(
    ("one", "other"),
    [(b"a0xb", b"a\0xb"), (b"a0xb", b"a1xb"), (b"\0", b"\1"), (b"0x", b"0\0x"), (b"a0b", b"a\0b")],
)
def test_lines_that_differ_in_more_than_digits_have_two_outlines(one: bytes, other: bytes) -> None:
    assert outline(one) != outline(other)


def test_outlines_of_lines_are_those_of_each() -> None:
    for lines in (b"a 0x1f\n\nb 12", b"a\0 0x1f\nb\r"):
        assert outlines.outlines(lines) == [outline(line) for line in lines.split(b"\n")]


@pytest.mark.parametrize(
    ("line", "alike"),
    [
        (b"at 0x1f3a,", b"at 0xffff,"),
        (b"at 0x12", b"at 0xab"),
        (b"id 12ab34cd of", b"id fe01dc23 of"),
        (b"ca11-fe1d", b"0f0f-1e1e"),
    ],
)
def test_numbers_of_one_length_are_alike(line: bytes, alike: bytes) -> None:
    assert without_hexadecimal(outline(line)) == without_hexadecimal(outline(alike))


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (b"added to", b"faded to"),
        (b"id 12345678 of", b"id 1234567f of"),
        (b"id abcdabcd of", b"id 1bcdabcd of"),
        (b"a0xff", b"a0xfe"),
        (b"gfx90a", b"gfx90b"),
        (b"ff00", b"\0xff"),
    ],
)
def test_other_words_stay_apart(line: bytes, other: bytes) -> None:
    assert without_hexadecimal(outline(line)) != without_hexadecimal(outline(other))


# -- no pattern tells lines of one outline apart ------------------------------------------------------------

_PIECES = [
    *("a", "be", "dead", "fail", "x", "0x", "0", "1", "12", " ", "=", "-", "ox", "z", "G"),
    *("[0-9]", "[1-9]", "[a-f]", "[a-z]", "[0-9a-f]", "[A-Za-z0-9_]", "[^ ]", "[^0]", r"\w", r"\b", "."),
    *("[Ff]", "[.]", r"\.", "(a|b)", "(be|z)", "(0x)?", "(0|x)"),
]
_PATTERNS = st.lists(
    st.builds(str.__add__, st.sampled_from(_PIECES), st.sampled_from(["", "", "", "+", "*", "?", "{2}"])),
    min_size=1,
    max_size=5,
).map("".join)
_WORDS = [
    *("a", "be", "dead", "fail", "0x1a", "0x12", "0xf", "12ab", "ab12cd", "1234", "abcd", "00x1f", "x1f2e"),
    *("gfx90a", " ", "=", "-", "_", "\0", "\x80", "G", "z", "0x"),
]


def _varied(word: str, digits: st.DataObject) -> str:
    """The word with other digits, and with another number if it is one."""
    number = re.fullmatch(r"(0x)?([0-9a-f]+)", word)
    if number and (number[1] or (len(word) > 3 and re.search("[0-9]", word) and re.search("[a-f]", word))):
        drawn = st.text("0123456789abcdef", min_size=len(number[2]), max_size=len(number[2]))
        return (number[1] or "") + digits.draw(drawn)
    return re.sub("(?<!0x)[0-9](?!x)", lambda _: digits.draw(st.sampled_from("0123456789")), word)


@settings(max_examples=1500, deadline=None)
@given(pattern=_PATTERNS, words=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6), data=st.data())
def test_a_blind_pattern_matches_all_lines_of_an_outline_or_none(
    pattern: str, words: list[str], data: st.DataObject
) -> None:
    try:
        kind, search = blindness(pattern), re.compile(pattern.encode()).search
    except re.error:
        assume(False)
    line, other = "".join(words), "".join(_varied(word, data) for word in words)
    one, two = line.encode("latin-1"), other.encode("latin-1")
    if outline(one) == outline(two) and kind >= DECIMAL:
        assert bool(search(one)) == bool(search(two)), (pattern, one, two)
    if without_hexadecimal(outline(one)) == without_hexadecimal(outline(two)) and kind == HEXADECIMAL:
        assert bool(search(one)) == bool(search(two)), (pattern, one, two)


@settings(max_examples=500)
@given(text=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3), data=st.data())
def test_an_outline_shows_what_the_line_has_of_a_text(text: list[str], data: st.DataObject) -> None:
    around = st.lists(st.sampled_from(_WORDS), max_size=2).map("".join)
    wanted = "".join(text).replace("\0", "").encode("latin-1")
    line = data.draw(around).encode("latin-1") + wanted + data.draw(around).encode("latin-1")
    assert shown(wanted, DECIMAL) in bare_of(outline(line))
    assert shown(wanted, HEXADECIMAL) in bare_of(without_hexadecimal(outline(line))[0])


@settings(max_examples=300, deadline=None)
@given(sample=st.integers(0, 10**9), data=st.data())
def test_the_shipped_patterns_tell_no_lines_of_an_outline_apart(sample: int, data: st.DataObject) -> None:
    lines = [line.text for fault in faults.faults().values() for line in fault.lines]
    words = re.split(r"(\W)", lines[sample % len(lines)])
    line, other = "".join(words), "".join(_varied(word, data) for word in words)
    one, two = line.encode(), other.encode()
    kinds = [
        kind
        for kind, alike in (
            (DECIMAL, outline(one) == outline(two)),
            (HEXADECIMAL, without_hexadecimal(outline(one)) == without_hexadecimal(outline(two))),
        )
        if alike
    ]
    for part in (part for probe in PROBES for part in probe.parts):
        if kinds and part.blind >= kinds[0]:
            assert part.match(one) == part.match(two), part


# -- the alternatives of a pattern --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a|b(c|d)|[|]e", ["a", "b(c|d)", "[|]e"]),
        ("(a|b)", ["a", "b"]),
        ("((a|b)|c)", ["(a|b)", "c"]),
        ("(a|b)c", ["(a|b)c"]),
        ("(a)(b|c)", ["(a)(b|c)"]),
        ("a|", ["a", ""]),
        (r"a\|b", [r"a\|b"]),
    ],
)
def test_the_alternatives_of_a_pattern(pattern: str, parts: list[str]) -> None:
    assert [pattern[start:end] for start, end in alternatives(pattern)] == parts


@settings(max_examples=500, deadline=None)
@given(branches=st.lists(_PATTERNS, min_size=1, max_size=3), words=st.lists(st.sampled_from(_WORDS)))
def test_a_line_matches_a_pattern_if_it_matches_an_alternative(branches: list[str], words: list[str]) -> None:
    pattern, line = "|".join(branches), "".join(words).encode("latin-1")
    try:
        re.compile(pattern)
        probe = probes.probe("signature", pattern)
    except re.error:
        assume(False)
    assert probe.match(line) == bool(re.search(probes.bounded(pattern).encode(), line))
