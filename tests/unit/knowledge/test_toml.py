"""Where a key stands in a TOML file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.knowledge import toml

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
    document, problem = toml.parse(b"a = 1\nb = [", "f")
    assert document is None
    assert problem is not None
    assert problem.location.startswith("f:2")
