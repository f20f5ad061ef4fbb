"""The kinds of experiments by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rocmcfg.experiments.course import Counted, Course, Part
from rocmcfg.experiments.cure import cure
from rocmcfg.experiments.drop import drop
from rocmcfg.experiments.reboots import reboots
from rocmcfg.experiments.timing import cost
from rocmcfg.experiments.which import which
from rocmcfg.model.experiment import Design, Finding, Kind, Outcome

KINDS: Mapping[Kind, Callable[[Counted], Part[Finding]]] = {
    "cure": cure,
    "drop": drop,
    "which": which,
    "cost": cost,
    "reboots": reboots,
}


def course(design: Design, outcomes: Iterable[Outcome] = ()) -> Course:
    """Return the experiment after these outcomes. Raises ValueError for outcomes that it did not ask for."""
    counted = Counted(design)
    return Course(counted, KINDS[design.kind](counted), outcomes)
