"""Versions of kernels and ROCm, and ranges of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.model.version import (
    KernelVersion,
    VersionRange,
    comparable,
    format_version,
    parse_kernel,
    parse_range,
    parse_rocm_range,
    parse_version,
    rocm_order,
    span,
)


@pytest.mark.parametrize(
    ("release", "numbers", "known"),
    [
        ("6.12.107+deb13-amd64", (6, 12, 107, 0), True),
        ("6.18.4", (6, 18, 4, 0), True),
        ("6.19", (6, 19, 0, 0), True),
        ("7.3.0-rc7", (7, 3, 0, -1), True),
        ("6.19-rc1", (6, 19, 0, -1), True),
        ("6.19~rc1-amd64", (6, 19, 0, -1), True),
        ("6.17.0-rc3+", (6, 17, 0, -1), True),
        ("6.17.9-arch1-1", (6, 17, 9, 0), True),
        ("6.17.8-300.fc43.x86_64", (6, 17, 8, 0), True),
        ("6.11.11-valve24-1-neptune-611", (6, 11, 11, 0), True),
        ("6.8.0-90-generic", (6, 8, 0, 0), False),
        ("6.1.0-47-amd64", (6, 1, 0, 0), False),
        ("5.14.0-427.13.1.el9_4.x86_64", (5, 14, 0, 0), False),
        ("6.18.0-cachyos", (6, 18, 0, 0), True),
    ],
)
def test_a_release_is_read_and_says_whether_it_hides_its_stable_level(
    release: str, numbers: tuple[int, int, int, int], known: bool
) -> None:
    assert parse_kernel(release) == KernelVersion(numbers, known)


@pytest.mark.parametrize("release", ["", "generic", "6", "v6.1", ".6.1", "lost+found", "6.x"])
def test_what_starts_with_no_version_is_no_release(release: str) -> None:
    assert parse_kernel(release) is None


def test_a_release_candidate_comes_before_its_release_and_numbers_compare_as_numbers() -> None:
    names = ["6.9.1", "6.12.2", "6.12.107", "6.19-rc1", "6.19", "6.19.1"]
    versions = [parse_kernel(name) for name in names]
    assert versions == sorted(v for v in versions if v is not None)


def test_a_hidden_stable_level_is_not_printed_as_if_it_were_known() -> None:
    assert [str(parse_kernel(r)) for r in ("6.8.0-90-generic", "6.12.107+deb13-amd64")] == ["6.8", "6.12.107"]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("7.1.0-38", (7, 1, 0)),
        (" 7.2\n", (7, 2)),
        ("6", (6,)),
        ("", None),
        ("abc", None),
        ("-1", None),
        ("9" * 5000, (999999999,)),
    ],
)
def test_a_rocm_version_is_its_leading_numbers(text: str, version: tuple[int, ...] | None) -> None:
    assert parse_version(text) == version


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4).map(tuple))
def test_a_version_survives_its_text_and_trailing_zeros(version: tuple[int, ...]) -> None:
    assert parse_version(format_version(version)) == version
    assert comparable(version) == comparable((*version, 0, 0))
    assert comparable(version) < comparable((*version, 1))


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (">=7.0,<7.2", ["7.0", "7.0.0", "7.1.1", "7.1.99"], ["6.4", "7.2", "7.2.0", "7.10"]),
        ("<6.12.64", ["6.12.63", "6.12", "5.10"], ["6.12.64", "6.13"]),
        ("==7.1", ["7.1", "7.1.0"], ["7.1.1", "7.0"]),
        (">6.4, <=7", ["6.4.1", "7", "7.0.0"], ["6.4", "7.0.1"]),
    ],
)
def test_a_range_is_compared_number_by_number(text: str, inside: list[str], outside: list[str]) -> None:
    found = parse_range(text)
    assert found.text == text
    for version in inside:
        assert found.contains(parse_version(version) or ())
    for version in outside:
        assert not found.contains(parse_version(version) or ())


@pytest.mark.parametrize("text", ["", "7.0", "=7.0", ">=", ">=7.0,", ">=7.x", "~=7.0", ">=7.0 <7.2", "!=7"])
def test_what_is_no_comparison_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not a comparison"):
        parse_range(text)


@pytest.mark.parametrize(
    ("wanted", "version", "inside"),
    [
        (">=7.0,<7.2", (7, 2), False),  # the bound itself is outside, whatever the patch level
        (">=7.2,<7.3", (7, 3), False),
        (">=7.2", (7, 2), True),
        ("<=7.2", (7, 2), None),
        (">7.2", (7, 2), None),
        ("<7.2.1", (7, 2), None),
        ("==7.2", (7, 2), None),
        ("<7.2", (7,), None),
    ],
)
def test_a_version_that_hides_its_end_is_undecided_only_where_that_matters(
    wanted: str, version: tuple[int, ...], inside: bool | None
) -> None:
    assert parse_range(wanted).between(*span(version)) is inside


def test_rocm_releases_are_sorted_as_they_came() -> None:
    releases = [
        "6.4.4",
        "7.0",
        "7.0.2",
        "7.1.0",
        "7.1.99",
        "7.9.0",
        "7.10.0",
        "7.2",
        "7.2.4",
        "7.11.0",
        "7.14",
        "10.0",
    ]
    versions = [parse_version(release) or () for release in releases]
    assert sorted(set(versions), key=rocm_order) == versions
    assert rocm_order((7, 2)) == rocm_order((7, 2, 0))


@pytest.mark.parametrize(
    ("wanted", "version", "inside"),
    [
        (">=7.0,<7.2", (7, 10, 0), True),
        (">=7.0,<7.2", (7, 9), True),
        (">=7.2", (7, 10), False),
        (">7.0.2", (7, 9), True),
        (">7.0.2", (7, 11), True),
        ("<=7.1", (7, 9), False),
        ("<7.10", (7, 9, 0), True),
        (">=7.11", (7, 10, 0), False),
        (">=7.13", (7, 14), True),
        (">=7.9,<7.2", (7, 10), True),
    ],
)
def test_a_preview_lies_between_the_releases_that_it_came_between(
    wanted: str, version: tuple[int, ...], inside: bool
) -> None:
    assert parse_rocm_range(wanted).between(*span(version)) is inside
    assert parse_rocm_range(wanted).possible


bounds = st.tuples(
    st.sampled_from([">=", "<=", "==", ">", "<"]),
    st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple),
)


@given(st.lists(bounds, min_size=1, max_size=3), st.lists(st.integers(0, 2), min_size=1, max_size=3))
def test_what_cannot_be_told_is_what_differs_between_possible_versions(
    conditions: list[tuple[str, tuple[int, ...]]], version: list[int]
) -> None:
    wanted = VersionRange("", tuple(conditions))
    possible = [tuple(version)]
    for _ in range(3 - len(version)):
        possible = [(*v, n) for v in possible for n in range(5)]
    answers = {wanted.contains(v) for v in possible}
    expected = answers.pop() if len(answers) == 1 else None
    assert wanted.between(*span(tuple(version))) is expected
