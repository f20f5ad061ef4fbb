"""Values of module parameters, by the rules of kernel/params.c and lib/kstrtox.c."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.model.spelling import (
    SAFE_VALUE,
    IllegalValue,
    ParamType,
    as_number,
    closest,
    hexint,
    printed,
    same,
    stored,
)

INT, UINT, HEXINT = ParamType.INT, ParamType.UINT, ParamType.HEXINT
ULONG, ULLONG = ParamType.ULONG, ParamType.ULLONG
BOOL, BINT, CHARP, STRING = ParamType.BOOL, ParamType.BINT, ParamType.CHARP, ParamType.STRING


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        (INT, "0", 0),
        (INT, "010", 8),
        (INT, "-010", -8),
        (INT, "0x1f", 31),
        (INT, "0X1F", 31),
        (INT, "+5", 5),
        (INT, "-1", -1),
        (INT, "2147483647", 2**31 - 1),
        (INT, "-2147483648", -(2**31)),
        (UINT, "4294967295", 2**32 - 1),
        (HEXINT, "0xfffd3fff", 0xFFFD3FFF),
        (ULLONG, "0xffffffffffffffff", 2**64 - 1),
        (ULONG, "25165824", 25165824),
        (ULONG, "0xffffffffffffffff", 2**64 - 1),
        (BOOL, "y", True),
        (BOOL, "on", True),
        (BOOL, "OFF", False),
        (BINT, "n", False),
        (BINT, "1", True),
        (CHARP, "0000:03:00.0", "0000:03:00.0"),
        (STRING, "", ""),
    ],
)
def test_a_legal_value_is_what_the_kernel_would_store(
    type: ParamType, text: str, expected: int | bool | str
) -> None:
    value = stored(type, text)
    assert value == expected
    assert isinstance(value, bool) == isinstance(expected, bool)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        *(
            (t, text)
            for t in (INT, UINT, HEXINT, ULONG, ULLONG)
            for text in ("", "foo", "1,", "1M", "1 ", " 1")
        ),
        *(
            (t, text)
            for t in (INT, UINT, HEXINT, ULONG, ULLONG)
            for text in ("0x", "08", "--1", "+-1", "-", "1.0")
        ),
        *((t, "-1") for t in (UINT, HEXINT, ULONG, ULLONG)),
        (INT, "0xffffffff"),
        (INT, "2147483648"),
        (INT, "-2147483649"),
        (UINT, "4294967296"),
        (HEXINT, "0x100000000"),
        (ULLONG, "0x10000000000000000"),
        (ULONG, "0x10000000000000000"),
        *((t, text) for t in (BOOL, BINT) for text in ("", "2", "-1", "true", "yes!")),
        *((t, None) for t in (INT, UINT, HEXINT, ULONG, ULLONG, BINT, CHARP, STRING)),
        (CHARP, "x" * 1024),
        *((t, "9" * 5000) for t in (INT, UINT, HEXINT, ULONG, ULLONG)),
    ],
)
def test_what_would_stop_the_driver_from_loading_is_refused(type: ParamType, text: str | None) -> None:
    with pytest.raises(IllegalValue) as problem:
        stored(type, text)
    assert str(problem.value)


def test_a_flag_without_a_value_is_true_for_a_bool_only() -> None:
    assert stored(BOOL, None) is True


@pytest.mark.parametrize("type", [INT, UINT, HEXINT, ULONG, ULLONG])
@given(number=st.integers(min_value=-(2**65), max_value=2**65))
def test_an_integer_is_taken_if_and_only_if_it_fits(type: ParamType, number: int) -> None:
    bits = 64 if type in (ULONG, ULLONG) else 32
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if type is INT else (0, 2**bits - 1)
    if low <= number <= high:
        assert stored(type, str(number)) == number
    else:
        with pytest.raises(IllegalValue):
            stored(type, str(number))


@pytest.mark.parametrize(
    ("type", "text", "shown"),
    [
        (INT, "-1", "-1"),
        (UINT, "0x10", "16"),
        (UINT, "0xffffffff", "4294967295"),
        (ULLONG, "0xffffffffffffffff", "18446744073709551615"),
        (HEXINT, "4294787071", "0xfffd3fff"),
        (HEXINT, "0x3fff", "0x003fff"),
        (BOOL, "1", "Y"),
        (BOOL, "off", "N"),
        (BINT, "y", "1"),
        (STRING, "10000,60000", "10000,60000"),
    ],
)
def test_sysfs_shows_a_value_as_the_kernel_prints_it(type: ParamType, text: str, shown: str) -> None:
    assert printed(type, text) == shown


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_a_mask_has_at_least_six_digits_and_reads_back(number: int) -> None:
    assert len(hexint(number)) >= 8
    assert stored(HEXINT, hexint(number)) == number


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("16", "0x10"),
        ("-1", "4294967295"),
        ("4294967295", "-1"),
        ("0x003fff", "0x3fff"),
        ("Y", "1"),
        ("on", "y"),
        ("N\n", "0"),
        ("010", "8"),
        ("18446744073709551615", "0xffffffffffffffff"),
        ("10000,60000", "10000,60000\n"),
        (None, None),
    ],
)
def test_two_spellings_of_one_value_are_the_same(a: str | None, b: str | None) -> None:
    assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("16", "10"),
        ("1", "-1"),
        ("Y", "N"),
        ("10000,60000", "10000"),
        ("0xfff7bfff", "0xfffd3fff"),
        ("foo", "bar"),
        ("1", None),
        ("18446744073709551615", "4294967295"),
        ("4294967296", "0"),
        ("2147483648", "0"),
        ("9" * 5000, "0"),
    ],
)
def test_different_values_are_not_the_same(a: str | None, b: str | None) -> None:
    assert not same(a, b)


@given(st.integers(min_value=-(2**31), max_value=2**32 - 1))
def test_an_int_equals_its_unsigned_twin(number: int) -> None:
    assert same(str(number), str(number % 2**32))


@pytest.mark.parametrize(
    ("text", "number"),
    [(None, None), ("", None), ("foo", None), ("-x", None), ("-3", -3), (" 3\n", 3), ("off", 0), ("ON", 1)],
)
def test_text_reads_as_a_number_or_not_at_all(text: str | None, number: int | None) -> None:
    assert as_number(text) == number


@given(st.text(max_size=12))
def test_reading_a_value_never_crashes(text: str) -> None:
    for type in ParamType:
        try:
            stored(type, text)
        except IllegalValue:
            continue
    assert as_number(text) is None or isinstance(as_number(text), int)
    assert same(text, text)


@pytest.mark.parametrize("text", ["١٢", "1_000", "0x_1", "0b1", "0o7", "²"])
def test_only_ascii_digits_are_numbers(text: str) -> None:
    with pytest.raises(IllegalValue):
        stored(INT, text)


@pytest.mark.parametrize(
    "text", ["", "a b", "a\n", "a\nb", "$(x)", "`x`", '"a"', "'a'", "a\\", "é", "a#b", "\0"]
)
def test_a_value_that_means_something_to_a_shell_is_not_safe(text: str) -> None:
    assert not SAFE_VALUE.match(text)


def test_suggestions_forgive_dashes_and_case() -> None:
    assert closest("CWSR-enabel", ["cwsr_enable", "runpm"])[0] == "cwsr_enable"
    assert closest("zzzzzzzz", ["cwsr_enable"]) == []
