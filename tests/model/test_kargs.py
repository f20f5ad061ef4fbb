"""Kernel command lines as tokens: kernel/params.c `next_arg` and `parameq`."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocmcfg.model.kargs import Karg, contains, join, last, read_by_kernel, split, tokens
from tests.support import next_arg

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
        ('"a.b"=0', 'a.b"', 'a.b"', "0"),
        ('a=0"1 z"', "a", "a", '0"1 z"'),
        ('"--"', "--", "__", None),
        ("=v", "=v", "=v", None),
    ],
)
def test_an_argument_has_a_name_and_a_value(text: str, name: str, key: str, value: str | None) -> None:
    karg = Karg(text)
    assert (karg.name, karg.key, karg.value) == (name, key, value)


@given(st.text(alphabet='ab01 "=\t-.', max_size=24))
@settings(max_examples=2000)
@example('"a"=0')
@example('a="b c')
@example('x "--" y=1')
@example('a=0"1 z"')
@example('="')
def test_arguments_are_read_as_the_kernel_reads_them(line: str) -> None:
    read = [(karg.name, karg.value) for karg in read_by_kernel(split(line))]
    assert read == next_arg.arguments(line)


@given(st.text(alphabet='ab "=', max_size=12))
def test_behind_an_open_quote_the_kernel_reads_nothing_of_ours(line: str) -> None:
    swallowed = ("ours.x", "0") not in next_arg.arguments(f"{line} ours.x=0")
    assert any(karg.leaves_quote_open for karg in split(line)) == swallowed


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


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("amdgpu.cwsr-enable=0", ("amdgpu", "cwsr_enable")),
        ("quiet", None),
        ('"amdgpu.runpm"=0', None),
        ('amdgpu."invalid option"', None),
        ('"amdgpu.runpm=0"', ("amdgpu", "runpm")),
    ],
)
def test_a_name_with_a_quote_is_no_parameter(text: str, parameter: tuple[str, str] | None) -> None:
    """kmod drops it (libkmod-config.c, kmod_config_parse_kcmdline), and the kernel does not know the name."""
    assert Karg(text).of_module == parameter
