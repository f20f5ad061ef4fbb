"""Rank the settings of a search beforehand, as doctor ranks the issues that they cure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.experiment import Variable
from rocmcfg.workflow.diagnosing import diagnose

_MOST = 9  # that the score of an issue adds to the weight 1 of a setting


def weights(
    view: HostView, log: str, environment: Mapping[str, str], settings: Sequence[Variable]
) -> tuple[int, ...]:
    """Return the weight of each setting: the logs of this boot and the last one, or `log`, may show the crash
    after which somebody searches. Empty where they speak for none of the settings or cannot be read."""
    try:
        candidates = diagnose(view, (log,) if log else (), Options(), environment).candidates
    except RocmcfgError:
        return ()
    scores: dict[str, float] = {}
    for candidate in candidates:
        for cure in candidate.match.issue.workaround.settings:
            name = str(cure).removeprefix("env.")
            scores[name] = max(scores.get(name, 0.0), candidate.match.score)
    made = tuple(1 + round(_MOST * scores.get(setting.spelled, 0.0)) for setting in settings)
    return made if any(weight > 1 for weight in made) else ()
