"""What do the settings cost? The time of a run with them, as a multiple of that without."""

from __future__ import annotations

from math import log

from rocmcfg.experiments.course import Counted, Part
from rocmcfg.experiments.statistics import ratio
from rocmcfg.model.experiment import CONTROL, Finding


def cost(counted: Counted) -> Part[Finding]:
    """Run pairs of control and treatment, in the order A B B A, so that a slow drift touches both alike. A
    pair in which a run failed does not count."""
    design = counted.design
    order, lost = (CONTROL, design.all), 0
    while len(counted.pairs) < design.pairs:
        pair = {}
        for at, arm in enumerate(order):
            cold = sum(other not in counted.warm for other in order[at + 1 :]) * design.warm_up
            most = 2 * (design.pairs - len(counted.pairs) + design.pairs // 2 - lost) - at + cold
            pair[arm] = yield from counted.timed(arm, "timing", most)
        if any(outcome.failure for outcome in pair.values()):
            lost += 1
            if lost > design.pairs // 2:
                return Finding("undecided", design.all, "too-few")
        else:
            with_all, without = (max(1, pair[arm].microseconds) for arm in (design.all, CONTROL))
            counted.pairs += (log(with_all / without),)
        order = order[::-1]
    _, low, high = ratio(counted.pairs, design.error)
    if low > 1:
        return Finding("slower", design.all)
    return Finding("faster" if high < 1 else "no-effect", design.all)
