"""The figures in docs/knowledge.md are those of the data and of doctor as they are."""

from __future__ import annotations

import pytest

from tests.catalogue.figures import PAGE, page

pytestmark = pytest.mark.bulk


def test_the_figures_are_current() -> None:
    assert PAGE.read_text() == page(), "run `make knowledge`, and look at what changed"
