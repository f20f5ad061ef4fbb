"""Lists, by setting, the values that cure known issues of some GPUs, so that the judge sees the opposite of a
cure without reading every issue. `docs/generate.py` compiles the list of what comes with the program."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.kargs import canonical
from rocmcfg.model.known_cure import KnownCure
from rocmcfg.model.spelling import switched

READY = "knowledge/cures"


def cures_of(issues: Iterable[KnownIssue]) -> dict[str, tuple[KnownCure, ...]]:
    """Return the cures by the id of their setting: those of faults of some GPUs alone, whose value switches
    something on or off. What cures a fault of every GPU may be right for none in particular."""
    cures: dict[str, list[KnownCure]] = {}
    for issue in issues:
        for setting in issue.workaround.settings:
            if issue.kind == "fault" and issue.gfx and switched(setting.value) is not None:
                cures.setdefault(canonical(setting.id), []).append(_cure(issue, setting.value or ""))
    return {id: tuple(listed) for id, listed in sorted(cures.items())}


def _cure(issue: KnownIssue, value: str) -> KnownCure:
    return KnownCure(
        issue.id,
        issue.title,
        value,
        issue.confidence,
        issue.gfx,
        issue.kernel.text if issue.kernel else "",
        issue.lacks_fix,
        issue.fixed_by,
        issue.fixed_kernels.text if issue.fixed_kernels else "",
        issue.fixed_in,
        issue.fixed_elsewhere
        or issue.fixed_rocm is not None
        or (issue.rocm is not None and "<" in issue.rocm.text),
        issue.several_gpus,
        *issue.evidence[:1],
    )
