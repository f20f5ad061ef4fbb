"""Which of the settings that are set can go?"""

from __future__ import annotations

from rocmcfg.experiments.course import Counted, Part, cleared, reproduced
from rocmcfg.experiments.statistics import clean_runs_wanted
from rocmcfg.model.experiment import CONTROL, Finding


def drop(counted: Counted) -> Part[Finding]:
    """Run without any setting until the third failure. Then leave out halves of the settings: a failure shows
    that something of the half is needed, and a half without a failure stays out. What is left is confirmed by
    fresh runs, which alone carry the claim."""
    design = counted.design
    control_runs = yield from reproduced(counted)
    if not control_runs:
        return Finding("not-needed", CONTROL)
    wanted = clean_runs_wanted(control_runs, design.error)
    keep = design.all
    groups = _halves(design.all)
    while groups:
        group = groups.pop(0)
        rest = keep & ~group
        failed = rest == CONTROL
        runs = 0
        while not failed and runs < wanted:
            failed = yield from counted.run(rest, "search", counted.left)
            runs += 1
        if not failed:
            keep = rest
        else:
            groups[:0] = _halves(group)
    result = yield from cleared(counted, keep, control_runs, design.error, "confirmation")
    if result.drifted:
        return Finding("undecided", keep, "drift")
    if result.failed:
        return Finding("undecided", keep, "fails-with-all" if keep == design.all else "not-confirmed")
    return Finding("needed" if keep == design.all else "not-needed", keep)


def _halves(group: int) -> list[int]:
    """Return the two halves of a set of settings; nothing for a single setting."""
    bits = [1 << at for at in range(group.bit_length()) if group >> at & 1]
    if len(bits) < 2:
        return []
    middle = len(bits) // 2
    return [sum(bits[:middle]), sum(bits[middle:])]
