"""The formulas of the experiments against exact enumeration: every order, every sign, every outcome."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, exp, log

import pytest

from rocmcfg.experiments.statistics import (
    FAILURES,
    chance_of_clean,
    chance_of_early_failure,
    clean_runs_wanted,
    likelihood,
    rate_after,
    ratio,
    upper_bound,
)

ERROR = 0.05


@pytest.mark.parametrize(("control", "clean"), [(3, 3), (4, 2), (5, 5), (7, 4)])
def test_the_chance_of_clean_runs_counts_orders(control: int, clean: int) -> None:
    orders = [*combinations(range(control + clean), FAILURES)]
    fitting = [order for order in orders if max(order) < control]
    assert chance_of_clean(control, clean) == pytest.approx(len(fitting) / len(orders))


@pytest.mark.parametrize(("control", "wanted"), [(3, 3), (4, 5), (5, 7), (6, 9), (12, 19), (30, 50)])
def test_the_number_of_clean_runs_is_the_smallest(control: int, wanted: int) -> None:
    assert clean_runs_wanted(control, ERROR) == wanted
    assert comb(control, 3) / comb(control + wanted, 3) <= ERROR
    assert comb(control, 3) / comb(control + wanted - 1, 3) > ERROR


def test_three_of_three_against_none_of_three_is_one_in_twenty() -> None:
    """C(3, 3) / C(6, 3) = 1 / 20, which rounding must not push over the limit of 5 %."""
    assert clean_runs_wanted(3, 1 - 95 / 100) == 3


@pytest.mark.parametrize("rate", [step / 50 for step in range(1, 50)])
def test_false_cures_stay_below_the_stated_chance_at_every_rate(rate: float) -> None:
    """The sum over all lengths of the control, without sentinels, which only make them rarer."""
    false = rest = 0.0
    for control in range(FAILURES, 3000):
        chance = comb(control - 1, FAILURES - 1) * rate**FAILURES * (1 - rate) ** (control - FAILURES)
        false += chance * (1 - rate) ** clean_runs_wanted(control, ERROR)
        rest += chance
        if rest > 1 - 1e-6:
            break
    assert rest > 1 - 1e-3
    assert false <= ERROR


@pytest.mark.parametrize("total", [5, 8, 12])
def test_the_chance_of_an_early_failure_counts_orders(total: int) -> None:
    """The last run of the control and the last of the treatment failed, and two others of the control."""
    lengths = [  # of the treatment, for each place of the other failures
        treatment
        for treatment in range(1, total - FAILURES + 1)
        for _ in combinations(range(total - treatment - 1), FAILURES - 1)
    ]
    for treatment in range(1, total - FAILURES + 1):
        share = sum(length <= treatment for length in lengths) / len(lengths)
        assert chance_of_early_failure(total - treatment, treatment) == pytest.approx(share)


@pytest.mark.parametrize("runs", [1, 2, 5, 12, 24])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.5, 0.8, 0.97])
def test_the_upper_bound_covers_the_rate(runs: int, rate: float) -> None:
    missed = sum(
        comb(runs, failures) * rate**failures * (1 - rate) ** (runs - failures)
        for failures in range(runs + 1)
        if upper_bound(failures, runs, ERROR) < rate
    )
    assert missed <= ERROR


def test_the_upper_bound_is_that_of_the_tables() -> None:
    """Clopper and Pearson's own chart, and the figure of the issue: 0 of 24 leaves at most 12 %."""
    assert upper_bound(0, 24, ERROR) == pytest.approx(0.1173, abs=1e-4)
    assert upper_bound(1, 10, ERROR) == pytest.approx(0.3942, abs=1e-4)
    assert upper_bound(5, 5, ERROR) == 1.0


@pytest.mark.parametrize("pairs", [6, 7, 8])
def test_the_interval_of_a_ratio_inverts_the_test_of_every_sign(pairs: int) -> None:
    logarithms = [log(1.1 + 0.01 * at * at) for at in range(pairs)]
    middle, low, high = ratio(logarithms, ERROR)
    assert low < middle < high
    sums = [sum(rank for rank, up in enumerate(signs, 1) if up) for signs in product((0, 1), repeat=pairs)]
    for bound, outside in ((low, -1e-9), (high, 1e-9)):
        # just outside of an end the test rejects, just inside it does not
        assert _rejects(logarithms, log(bound) + outside, sums)
        assert not _rejects(logarithms, log(bound) - outside, sums)


def _rejects(logarithms: list[float], shift: float, sums: list[int]) -> bool:
    ordered = sorted((value - shift for value in logarithms), key=abs)
    up = sum(rank for rank, value in enumerate(ordered, 1) if value > 0)
    smaller = sum(each <= up for each in sums) / len(sums)
    larger = sum(each >= up for each in sums) / len(sums)
    return min(smaller, larger) <= ERROR / 2


def test_too_few_pairs_have_no_interval() -> None:
    middle, low, high = ratio([log(1.5)] * 5, ERROR)
    assert middle == pytest.approx(1.5)
    assert (low, high) == (0.0, float("inf"))


def test_the_likelihood_is_the_mean_over_the_rates() -> None:
    assert likelihood(0, 0) == pytest.approx(1)
    assert sum(comb(5, n) * likelihood(n, 5 - n) for n in range(6)) == pytest.approx(1)
    assert rate_after(0, 0) == pytest.approx(0.5)
    assert exp(log(rate_after(30, 10))) == pytest.approx(31 / 42, abs=0.01)  # Laplace's rule
