"""The formulas behind the verdicts, each with its source. They are exact: no approximation for large numbers
of runs is used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb, exp, log

FAILURES = 3  # of the control; the treatment starts after the third
_GRID = tuple((2 * step + 1) / 50 for step in range(25))  # possible rates of failure: 0.02, 0.06 … 0.98
_STEPS = 60  # of a bisection; each halves the interval


def chance_of_clean(control_runs: int, clean_runs: int, failures: int = FAILURES) -> float:
    """Return the chance that all failures are among the control's runs if the arms do not differ.

    Each order of the runs is then equally likely, so the chance is C(n0, f) / C(n0 + n1, f): Fisher's exact
    test (R. A. Fisher, The Design of Experiments, 1935, chapter II) for a table with one empty cell.
    """
    return comb(control_runs, failures) / comb(control_runs + clean_runs, failures)


@cache
def clean_runs_wanted(control_runs: int, error: float, failures: int = FAILURES) -> int:
    """Return the smallest number of clean runs of the treatment that shows that it fails less, where the
    control's last failure was in its last run: the smallest n1 with `chance_of_clean` ≤ error."""
    clean_runs = 0
    while chance_of_clean(control_runs, clean_runs, failures) > error * (1 + 1e-12):
        clean_runs += 1
    return clean_runs


def expected_runs(rate: float, error: float) -> int:
    """Return about how many runs show a full cure of a fault with this rate: those of the control, those of
    the treatment, and a sentinel after every fourth of these."""
    control = FAILURES / rate
    return round(control + 1.25 * clean_runs_wanted(max(FAILURES, round(control)), error))


def chance_of_early_failure(control_runs: int, treatment_runs: int, failures: int = FAILURES) -> float:
    """Return the chance that the treatment fails as early as in its run number `treatment_runs`, if the arms
    do not differ.

    The control ran until its f-th failure, the treatment until its first. Given the sum s of both numbers,
    the treatment's number t has the probability C(s-t-1, f-1) / C(s-1, f), because the sum is sufficient for
    the rate (negative binomial; E. L. Lehmann and J. P. Romano, Testing Statistical Hypotheses, 2005,
    section 4.5). The sum over all t up to `treatment_runs` is 1 - C(n0-1, f) / C(n0+t-1, f).
    """
    whole = comb(control_runs + treatment_runs - 1, failures)
    return 1 - comb(control_runs - 1, failures) / whole if whole else 1.0


@cache
def chance_of_split(failures: int, others: int, runs: int) -> float:
    """Return the chance that an arm has at least this many of all failures if the arms do not differ, where
    `others` are the failures of the other arm, and each arm has this many runs.

    It is Fisher's exact test, one-sided: given the number of all failures, each choice of the runs that
    failed is equally likely, so the failures of an arm have the hypergeometric distribution (R. A. Fisher,
    Statistical Methods for Research Workers, 5th edition 1934, section 21.02).
    """
    every = failures + others
    ways = sum(comb(runs, n) * comb(runs, every - n) for n in range(failures, min(every, runs) + 1))
    return ways / comb(2 * runs, every)


def power(rate: float, runs: int, error: float) -> float:
    """Return the chance that a full cure of a fault with this rate is found with this many runs of each
    arm."""
    enough = (n for n in range(runs + 1) if shown(n, 0, runs, error))
    return sum(comb(runs, n) * rate**n * (1 - rate) ** (runs - n) for n in enough)


def shown(failures: int, others: int, runs: int, error: float) -> bool:
    """Return whether these failures of an arm, and those of the other arm, show that this arm fails more."""
    return chance_of_split(failures, others, runs) <= error * (1 + 1e-12)


def upper_bound(failures: int, runs: int, error: float) -> float:
    """Return the highest rate of failure that the runs do not exclude, with the chance `error` of exceeding
    it.

    The bound is one-sided and exact: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404-413. Without a
    failure it is 1 - error^(1/n).
    """
    if failures >= runs:
        return 1.0
    if not failures:
        return float(1 - error ** (1 / runs))
    low, high = failures / runs, 1.0
    for _ in range(_STEPS):
        rate = (low + high) / 2
        if _chance_of_at_most(failures, runs, rate) > error:
            low = rate
        else:
            high = rate
    return high


def _chance_of_at_most(failures: int, runs: int, rate: float) -> float:
    return sum(comb(runs, n) * rate**n * (1 - rate) ** (runs - n) for n in range(failures + 1))


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two in the middle."""
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def ratio(logarithms: Sequence[float], error: float) -> tuple[float, float, float]:
    """Return the typical ratio of pairs, with the ends of its interval, from the logarithm of each pair's
    ratio.

    The estimate is the median of the means of all pairs of values (J. L. Hodges and E. L. Lehmann, Annals of
    Mathematical Statistics 34 (1963) 598-611), and the interval inverts Wilcoxon's signed-rank test
    (M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric Statistical Methods, 2014, section 3.3). With too
    few pairs for this error the interval has no ends.
    """
    means = sorted((a + b) / 2 for at, a in enumerate(logarithms) for b in logarithms[at:])
    middle = median(means)
    outside = _ranks_outside(len(logarithms), error)
    if outside < 0:
        return exp(middle), 0.0, float("inf")
    return exp(middle), exp(means[outside]), exp(means[-1 - outside])


def _ranks_outside(pairs: int, error: float) -> int:
    """Return the highest rank sum w with P(W ≤ w) ≤ error / 2, where each sign is equally likely; -1 where
    there is none."""
    ways = [1]
    for rank in range(1, pairs + 1):
        longer = [*ways, *[0] * rank]
        for at, number in enumerate(ways):
            longer[at + rank] += number
        ways = longer
    chance, rank_sum = 0.0, -1
    while (chance := chance + ways[rank_sum + 1] / 2**pairs) <= error / 2:
        rank_sum += 1
    return rank_sum


@cache
def likelihood(failures: int, clean: int) -> float:
    """Return the chance of these runs in one order, if each rate of a grid is equally likely beforehand: the
    marginal likelihood of Bayes' theorem (H. Jeffreys, Theory of Probability, 1961, chapter I)."""
    return sum(rate**failures * (1 - rate) ** clean for rate in _GRID) / len(_GRID)


def rate_after(failures: int, clean: int) -> float:
    """Return the mean of the rate of failure after these runs, on the same grid."""
    return likelihood(failures + 1, clean) / likelihood(failures, clean)


def entropy(chance: float) -> float:
    """Return the entropy of a yes-or-no answer in nats (C. E. Shannon, Bell System Technical Journal 27
    (1948), section 6)."""
    if chance <= 0 or chance >= 1:
        return 0.0
    return -chance * log(chance) - (1 - chance) * log(1 - chance)
