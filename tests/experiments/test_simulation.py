"""A small part of `make simulate`: false cures, runs, coverage and searches, with fixed seeds."""

from __future__ import annotations

import pytest

from tests.experiments.simulate import cures, searches


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_false_cures_runs_and_bounds_are_as_stated(rate: float) -> None:
    none, full = cures(rate, rate, 300), cures(rate, 0.0, 300)
    assert none.share("cures") <= 0.07  # of 300, where 5 % are stated
    assert none.mean_runs <= 5 / rate
    assert full.share("cures") >= 0.95
    assert full.mean_runs <= 10.5 / rate  # where 10 is stated
    assert none.misses + full.misses <= 30


@pytest.mark.parametrize("needed", range(4))
def test_a_search_names_what_is_needed(needed: int) -> None:
    cell = searches(0.5, needed, 10)
    assert cell.right >= 9
    assert cell.false == 0
