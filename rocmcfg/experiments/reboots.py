"""Does a set of settings that takes effect at a boot cure the fault? Each run is the first of its boot, since
the runs of one boot share its luck."""

from __future__ import annotations

from functools import cache
from itertools import product

from rocmcfg.experiments.course import Counted, Part
from rocmcfg.experiments.statistics import power, shown
from rocmcfg.model.experiment import CONTROL, MOST_BOOTS, Design, Finding

_ENOUGH = 0.9  # chance of finding a cure with which a number of boots counts as enough


def order(design: Design) -> tuple[int, ...]:
    """Return the arm of each boot: A B B A, so that a slow drift touches both arms alike."""
    return tuple(CONTROL if at % 4 in (0, 3) else design.all for at in range(2 * design.boots))


def reboots(counted: Counted) -> Part[Finding]:
    """Run the boots in their order, and end early where the boots that are left cannot change the finding. A
    cure is never called early: its bound rests on the number of boots that was fixed beforehand."""
    design = counted.design
    for at, arm in enumerate(order(design)):
        if settled := _settled(counted):
            return settled
        yield from counted.run(arm, "boot", 2 * design.boots - at)
    return finding(design, counted.of(CONTROL).failures, counted.of(design.all).failures)


def finding(design: Design, control: int, treatment: int) -> Finding:
    """Return the finding for the failures of the arms after all boots."""
    error, boots = design.error, design.boots
    if shown(treatment, control, boots, error):
        return Finding("worse", design.all)
    if not control:
        return Finding("not-reproduced", design.all)
    fails_less = shown(control, treatment, boots, error)
    if not treatment:
        return Finding("cures", design.all) if fails_less else Finding("undecided", design.all, "boots")
    return Finding("undecided", design.all, "rarer") if fails_less else Finding("no-effect", design.all)


def _settled(counted: Counted) -> Finding | None:
    """Return the finding, other than a cure, that every outcome of the boots that are left leads to; None if
    it is open."""
    design = counted.design
    (runs, failures, _), (treated, others, _) = counted.of(CONTROL), counted.of(design.all)
    return _only(design, failures, design.boots - runs, others, design.boots - treated)


@cache
def _only(design: Design, failures: int, left: int, others: int, others_left: int) -> Finding | None:
    ends = product(range(left + 1), range(others_left + 1))
    possible = {finding(design, failures + more, others + still) for more, still in ends}
    only = possible.pop()
    return None if possible or only.verdict == "cures" else only


@cache
def fewest_boots(error: float) -> int:
    """Return the smallest number of boots of each arm that can show anything with this error."""
    return next(boots for boots in range(1, MOST_BOOTS + 1) if shown(boots, 0, boots, error))


@cache
def boots_wanted(rate: float, error: float) -> int:
    """Return the smallest number of boots of each arm that finds the full cure of a fault with this rate in
    nine of ten experiments; 0 where more would be needed than are allowed."""
    every = range(1, MOST_BOOTS + 1)
    return next((boots for boots in every if power(rate, boots, error) >= _ENOUGH), 0)
