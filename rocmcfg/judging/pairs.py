"""Kernels and ROCm releases of a host that do not work together on its GPUs, whatever is set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocmcfg.judging.conditions import has_fix, rocms
from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.facts import Facts, Kernel
from rocmcfg.model.issue import KnownIssue

_OF_AMD = "/opt/"  # distributions install below /usr, and took fixes that AMD's release of the number lacks


def unworkable(facts: Facts, issues: Iterable[KnownIssue], catalogue: Catalogue) -> Iterator[Diagnostic]:
    """Yield a warning for each known pair that is certainly on the host."""
    for issue in issues:
        gpus = [gfx for gfx in facts.gfx if matches(gfx, issue.gfx)] if issue.pair else []
        kernels = [kernel for kernel in facts.driven if gpus and _concerned(kernel, issue, facts, catalogue)]
        releases = [*_releases(issue, facts)] if kernels else []
        if releases:
            names = ", ".join(kernel.release for kernel in kernels)
            yield warning(
                "RC2061",
                f"kernel {names} and {', '.join(releases)} do not work together on {', '.join(gpus)}",
                detail=issue.summary,
                hint=f"{issue.workaround.steps[0].removesuffix('.')} (`rocmcfg explain {issue.id}`)",
            )


def _concerned(kernel: Kernel, issue: KnownIssue, facts: Facts, catalogue: Catalogue) -> bool:
    if issue.kernel and (kernel.dkms or not issue.kernel.between(*kernel.version.span)):
        return False
    if issue.has_fix and has_fix(catalogue.fixes[issue.has_fix], kernel, facts.gpus) is not True:
        return False
    return not issue.lacks_fix or has_fix(catalogue.fixes[issue.lacks_fix], kernel, facts.gpus) is False


def _releases(issue: KnownIssue, facts: Facts) -> Iterator[str]:
    for rocm in rocms(facts._replace(rocm=facts.rocm if facts.rocm_source.startswith(_OF_AMD) else None)):
        if issue.rocm is not None and issue.rocm.between(rocm.low, rocm.high):
            yield rocm.name
