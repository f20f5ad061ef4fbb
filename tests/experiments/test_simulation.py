"""A small part of `make simulate`: false cures, runs, coverage and searches, with fixed seeds."""

from __future__ import annotations

import pytest

from rocmcfg.experiments.statistics import power
from tests.experiments.simulate import BAD, boots, cures, full_cure, searches, without_effect


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


@pytest.mark.parametrize("bad", BAD)
def test_bad_boots_make_no_cure(bad: tuple[float, float]) -> None:
    """Runs of a boot that count as independent give 6 to 37 % false cures where half of all boots are bad."""
    assert boots(5, without_effect(bad), 500).share("cures") <= 0.05
    assert boots(12, without_effect(bad), 200).share("cures") <= 0.07


def test_boots_find_a_cure_as_often_as_is_said_before() -> None:
    cures = boots(5, full_cure(0.9), 500).share("cures")
    assert cures == pytest.approx(power(0.9, 5, 0.05), abs=0.05)
