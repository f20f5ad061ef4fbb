"""Kernel command lines as tokens: kernel/params.c `next_arg` and `parameq`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.model.kargs import Karg, contains, join, last, split, tokens

PLAIN = st.text(alphabet="abz019._-=:,/", min_size=1, max_size=8)
QUOTED = st.text(alphabet='ab .\t"=-', max_size=8).map(lambda s: f'x="{s.replace(chr(34), "")}"')


@given(
    st.lists(st.one_of(PLAIN, QUOTED), max_size=6), st.lists(st.sampled_from([" ", "  ", "\t"]), min_size=7)
)
def test_splitting_finds_the_arguments_that_were_joined(arguments: list[str], blanks: list[str]) -> None:
    text = "".join(blank + argument for blank, argument in zip(blanks, arguments, strict=False))
    found = split(text, "here")
    assert [karg.text for karg in found] == arguments
    assert join(found) == " ".join(arguments)
    assert {karg.source for karg in found} <= {"here"}


@given(st.text(alphabet='ab" =\t\n', max_size=20))
def test_every_token_stands_where_it_is_said_to(text: str) -> None:
    for token, at in tokens(text):
        assert text[at : at + len(token)] == token
    assert [k.text for k in split(join(split(text)))] == [k.text for k in split(text)]


@pytest.mark.parametrize(
    ("text", "name", "key", "value"),
    [
        ("quiet", "quiet", "quiet", None),
        ("root=UUID=1-2", "root", "root", "UUID=1-2"),
        ("amdgpu.cwsr-enable=0", "amdgpu.cwsr-enable", "amdgpu.cwsr_enable", "0"),
        ('a.b="x y"', "a.b", "a.b", "x y"),
        ('"a.b=x y"', "a.b", "a.b", "x y"),
        ("empty=", "empty", "empty", ""),
    ],
)
def test_an_argument_has_a_name_and_a_value(text: str, name: str, key: str, value: str | None) -> None:
    karg = Karg(text)
    assert (karg.name, karg.key, karg.value) == (name, key, value)


def test_the_last_of_several_arguments_wins_whatever_its_dashes() -> None:
    kargs = split("amdgpu.cwsr_enable=1 quiet amdgpu.cwsr-enable=0 amdgpu.cwsr_enable_x=2")
    found = last(kargs, "amdgpu.cwsr_enable")
    assert found is not None
    assert found.value == "0"
    assert last(kargs, "amdgpu.cwsr") is None


def test_a_value_is_not_found_as_a_part_of_another() -> None:
    kargs = split("amdgpu.runpm=01 xamdgpu.runpm=0 amdgpu.runpm_x=0")
    assert not contains(kargs, "amdgpu.runpm=0")
    assert contains(kargs, "amdgpu.runpm=01")


def test_a_bare_flag_is_not_an_argument_with_a_value() -> None:
    assert contains(split("nomodeset"), "nomodeset")
    assert not contains(split("nomodeset="), "nomodeset")
    assert not contains(split("nomodeset"), "nomodeset=")
