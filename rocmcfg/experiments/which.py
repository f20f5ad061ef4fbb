"""Which of several settings cure the fault?

The search is exact Bayesian inference over the sets of settings that are needed together, with at most one
further setting that makes it worse, and the rates of failure unknown. It chooses the arm whose next run tells
most. What it believes is no claim: that comes from fresh runs of the set, compared with the control.
"""

from __future__ import annotations

from functools import cache
from heapq import nlargest
from itertools import combinations

from rocmcfg.experiments.course import Counted, Part, cleared, reproduced
from rocmcfg.experiments.statistics import entropy, likelihood, rate_after
from rocmcfg.model.experiment import CONTROL, Design, Finding
from rocmcfg.model.shape import NamedTuple

MOST_SETTINGS = 12
_MOST_NEEDED = 3
_NEEDED = (0.3, 0.4, 0.2, 0.1)  # the prior of the number of needed settings
_HARMFUL = 0.1  # the prior that one of the others makes it worse
_SURE, _SURE_OF_NONE = 0.97, 0.985  # beliefs at which the search ends
_CONSIDERED = 150  # the likeliest hypotheses, by which an arm is chosen
_WORN_OUT = 0.6  # of the information of an arm when it was chosen; below this another is chosen


class _Hypothesis:
    """Settings that are needed together, and one that makes it worse (0 for none). The runs are counted in
    which the fault, and the harmful setting, could show."""

    __slots__ = (
        *("need", "harm", "prior", "weight", "failures", "uncured_clean", "harm_failures", "harm_clean"),
        *("rate", "harm_rate"),
    )

    def __init__(self, need: int, harm: int, prior: float) -> None:
        self.need, self.harm, self.prior = need, harm, prior
        self.failures = self.uncured_clean = self.harm_failures = self.harm_clean = 0
        self.weight = prior
        self.rate = self.harm_rate = (0.0, 0.0)  # what is predicted, if it is among the likeliest


class Belief(NamedTuple):
    """A set of settings, and the probability that it is the one that is needed."""

    need: int
    probability: float


class Search:
    """What is believed after the runs so far."""

    def __init__(self, design: Design) -> None:
        self._settings = len(design.settings)
        weights = design.weights or (1,) * self._settings
        self._hypotheses = _hypotheses(weights)
        self._ranked: list[_Hypothesis] = []  # the likeliest, and the sum of their weights
        self._total = 1.0
        self._weigh()

    def add(self, arm: int, failed: bool) -> None:
        """Take a run into account. A failure refutes each set that would have cured."""
        remaining = []
        for each in self._hypotheses:
            if each.harm & arm:
                if failed:
                    each.harm_failures += 1
                else:
                    each.harm_clean += 1
            elif each.need and each.need & ~arm == 0:
                if failed:
                    continue
            elif failed:
                each.failures += 1
            else:
                each.uncured_clean += 1
            remaining.append(each)
        self._hypotheses = remaining
        self._weigh()

    def _weigh(self) -> None:
        total = 0.0
        for each in self._hypotheses:
            each.weight = each.prior * likelihood(each.failures, each.uncured_clean)
            if each.harm_failures or each.harm_clean:
                each.weight *= likelihood(each.harm_failures, each.harm_clean)
            total += each.weight
        for each in self._hypotheses:
            each.weight /= total
        self._ranked = nlargest(_CONSIDERED, self._hypotheses, key=lambda each: each.weight)
        self._total = sum(each.weight for each in self._ranked)
        for each in self._ranked:
            each.rate = _predicted(each.failures, each.uncured_clean)
            each.harm_rate = _predicted(each.harm_failures, each.harm_clean)

    def best(self) -> Belief:
        """Return the likeliest set of needed settings; 0 where none cures."""
        beliefs: dict[int, float] = {}
        for each in self._hypotheses:
            beliefs[each.need] = beliefs.get(each.need, 0.0) + each.weight
        need = max(beliefs, key=lambda need: (beliefs[need], -need))
        return Belief(need, beliefs[need])

    def arm(self) -> int:
        """Return the arm whose next run tells most, found by changing one setting at a time."""
        most = (1 << self._settings) - 1
        starts = {most, self._ranked[0].need} | {1 << at for at in range(self._settings)}
        chosen = max(starts, key=lambda arm: (self.information(arm), -arm))
        gain = self.information(chosen)
        while True:
            near = (chosen ^ 1 << at for at in range(self._settings))
            best = max(near, key=lambda arm: (self.information(arm), -arm))
            if self.information(best) <= gain * (1 + 1e-9):
                return chosen
            chosen, gain = best, self.information(best)

    def information(self, arm: int) -> float:
        """Return the expected loss of uncertainty by a run of the arm (D. V. Lindley, Annals of Mathematical
        Statistics 27 (1956) 986-1005)."""
        if not arm:
            return 0.0
        chance = noise = 0.0
        for each in self._ranked:
            if each.harm & arm:
                share, (rate, entropy_of_rate) = each.weight, each.harm_rate
            elif each.need and each.need & ~arm == 0:
                continue
            else:
                share, (rate, entropy_of_rate) = each.weight, each.rate
            chance += share * rate
            noise += share * entropy_of_rate
        return entropy(chance / self._total) - noise / self._total


@cache
def _predicted(failures: int, clean: int) -> tuple[float, float]:
    """Return the rate of failure that is expected after these runs, and its entropy."""
    rate = rate_after(failures, clean)
    return rate, entropy(rate)


def _hypotheses(weights: tuple[int, ...]) -> list[_Hypothesis]:
    settings = range(len(weights))
    hypotheses = []
    for size, share in enumerate(_NEEDED[: min(len(weights), _MOST_NEEDED) + 1]):
        sets = [*combinations(settings, size)]
        products = [_product(weights, chosen) for chosen in sets]
        whole = sum(products)
        for chosen, product in zip(sets, products, strict=True):
            need, prior = sum(1 << at for at in chosen), share * product / whole
            others = [at for at in settings if at not in chosen]
            harmful = _HARMFUL if others else 0.0
            hypotheses.append(_Hypothesis(need, 0, prior * (1 - harmful)))
            hypotheses += [_Hypothesis(need, 1 << at, prior * harmful / len(others)) for at in others]
    return hypotheses


def _product(weights: tuple[int, ...], chosen: tuple[int, ...]) -> float:
    product = 1.0
    for at in chosen:
        product *= weights[at]
    return product


def which(counted: Counted) -> Part[Finding]:
    """Run the control until its third failure, search, and confirm what was found. All confirmations together
    err at most as often as the design allows: each gets half of the error that the one before had."""
    design = counted.design
    control_runs = yield from reproduced(counted)
    if not control_runs:
        return Finding("not-reproduced", design.all)
    search = Search(design)
    tally = counted.of(CONTROL)
    for number in range(tally.runs):
        search.add(CONTROL, number < tally.failures)
    error = design.error / 2
    while True:
        belief = search.best()
        if not belief.need and belief.probability >= _SURE_OF_NONE:
            return Finding("no-effect", design.all)
        if belief.need and belief.probability >= _SURE:
            result = yield from cleared(counted, belief.need, control_runs, error, "confirmation", ends=False)
            if result.drifted:
                return Finding("undecided", belief.need, "drift")
            if not result.failed:
                return Finding("cures", belief.need)
            error /= 2
            for number in range(1, result.runs + 1):
                search.add(belief.need, number == result.runs)
            continue
        yield from _searched(counted, search)


def _searched(counted: Counted, search: Search) -> Part[None]:
    """Run the arm that tells most, until it tells much less."""
    arm = search.arm()
    at_first = search.information(arm)
    while True:
        failed = yield from counted.run(arm, "search", counted.left)
        search.add(arm, failed)
        belief = search.best()
        sure = belief.probability >= (_SURE if belief.need else _SURE_OF_NONE)
        if failed or sure or search.information(arm) < _WORN_OUT * at_first:
            return
