"""Every shape in which people set things: what is set is read, nothing else is, and what --fix proposes
leaves a file that its own language still reads."""

from __future__ import annotations

import pytest

from tests.lint.judging import judged
from tests.lint.shapes import settings, shapes


@pytest.mark.parametrize("name", shapes())
def test_what_is_set_is_read_and_nothing_else(name: str) -> None:
    shape = shapes()[name]
    assert settings(judged(shape.file, shape.text)) == sorted(shape.read)
