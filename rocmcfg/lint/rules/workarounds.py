"""Workarounds whose fix every kernel of the machine already has."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.lint.assignment import Assignment, What
from rocmcfg.lint.rules.machine import Machine
from rocmcfg.lint.verdict import Verdict, info
from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.kargs import canonical
from rocmcfg.model.value import same


def judge(
    found: Assignment, known: Catalogue, machine: Machine, issues: tuple[KnownIssue, ...]
) -> Iterator[Verdict]:
    """Needs GPUs and kernels: where one issue that the setting works around is open, it stays."""
    if not machine.kernels or not machine.named or found.opaque:
        return
    cured = [issue for issue in issues if issue.kind == "fault" and _works_around(found, issue)]
    here = [i for i in cured if not i.gfx or any(matches(g.gfx or "", i.gfx) for g in machine.named)]
    if here and all(_fixed(issue, known, machine) for issue in here):
        kernels = ", ".join(kernel.release for kernel in machine.kernels)
        yield info(
            "RC7115",
            f"{found.name}={found.value} is no longer needed: every kernel here has the fix ({kernels})",
            why=" ".join(f"{issue.title}: fixed in {issue.fixed_in}" for issue in here),
            instead="",
            sources=tuple(source for issue in here for source in issue.evidence[:1]),
        )


def _works_around(found: Assignment, issue: KnownIssue) -> bool:
    prefix = {What.VARIABLE: "env.", What.ARGUMENT: "karg."}.get(found.what, "")
    return any(
        canonical(setting.id) == canonical(prefix + found.name) and same(setting.value, found.value)
        for setting in issue.workaround.settings
    )


def _fixed(issue: KnownIssue, known: Catalogue, machine: Machine) -> bool:
    if issue.fixed_by == "both":
        return False  # the other half is ROCm's, and nothing here tells its version
    if issue.lacks_fix:
        fix = known.fixes[issue.lacks_fix]
        return all(not k.dkms and fix.present_in(k.version) is True for k in machine.kernels)
    fixed = issue.fixed_kernels
    return fixed is not None and all(
        not k.dkms and fixed.contains(k.version.numbers[:3]) for k in machine.kernels
    )
