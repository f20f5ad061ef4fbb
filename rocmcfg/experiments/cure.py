"""Does a set of settings cure the fault?"""

from __future__ import annotations

from rocmcfg.experiments.course import Counted, Part, cleared, reproduced
from rocmcfg.experiments.statistics import chance_of_early_failure
from rocmcfg.model.experiment import Finding


def cure(counted: Counted) -> Part[Finding]:
    """Run the control until its third failure, then the treatment until its first failure or until it ended
    well often enough."""
    design = counted.design
    control_runs = yield from reproduced(counted)
    if not control_runs:
        return Finding("not-reproduced", design.all)
    result = yield from cleared(counted, design.all, control_runs, design.error, "treatment")
    if result.drifted:
        return Finding("undecided", design.all, "drift")
    if not result.failed:
        return Finding("cures", design.all)
    worse = chance_of_early_failure(control_runs, result.runs) <= design.error
    return Finding("worse" if worse else "no-effect", design.all)
