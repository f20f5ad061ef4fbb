"""The one judge: a machine and a setting in, verdicts out. Pure.

`judge` says everything that is known of a setting. Whoever knows only its name, or cannot be sure where its
value ends, asks for `of_the_name` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.judging import arguments, parameters, variables
from rocmcfg.judging.traps import no_effect
from rocmcfg.judging.verdict import REFUSED, About, Verdict
from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.facts import Machine
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.kargs import canonical
from rocmcfg.model.spelling import Spelling, closest, same
from rocmcfg.model.state import Kind


def judge(
    asked: Spelling,
    machine: Machine,
    known: Catalogue,
    issues: Sequence[KnownIssue] = (),
    beside: str = "",
) -> list[Verdict]:
    """`beside` are the words around the setting, where they may tell what is meant by it."""
    found = list(of_the_name(asked, machine, known))
    if any(verdict.about is not About.DEPRECATED and not verdict.others for verdict in found):
        return found
    if asked.kind is Kind.PARAMETER:
        values = parameters.of_the_value(asked, machine, known, beside)
    elif asked.kind is Kind.KARG:
        values = arguments.of_the_value(asked, machine)
    elif asked.kind is Kind.ENV:
        values = variables.of_the_value(asked, machine)
    else:
        values = _feature(asked, machine, known)
    found += values
    if any(one.about in REFUSED and one.holds for one in found):
        return [one for one in found if one.about is not About.DEPRECATED]
    if not found:
        found += _fixed(asked, machine, known, issues)
    return found


def of_the_name(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    if asked.kind is Kind.PARAMETER:
        return parameters.of_the_name(asked, machine, known)
    if asked.kind is Kind.KARG:
        return arguments.of_the_name(asked, known)
    if asked.kind is Kind.ENV:
        return variables.of_the_name(asked)
    return _feature_name(asked, known)


# -- features -----


def _feature_name(asked: Spelling, known: Catalogue) -> Iterator[Verdict]:
    if asked.name not in known.features:
        yield Verdict(About.UNKNOWN, names=tuple(closest(asked.name, list(known.features))))


def _feature(asked: Spelling, machine: Machine, known: Catalogue) -> Iterator[Verdict]:
    found = known.features[asked.name]
    if asked.enabled and found.taints and machine.runs(found.taints) is not False:
        yield Verdict(
            About.FEATURE_TAINTS, machine.runs(found.taints), found.summary, names=(found.name, found.taints)
        )
    yield from no_effect(found.acts_on, found.summary, found.sources, machine)


# -- fixes -----


def _fixed(
    asked: Spelling, machine: Machine, known: Catalogue, issues: Sequence[KnownIssue]
) -> Iterator[Verdict]:
    """Needs GPUs and kernels: where one issue that the setting works around is open, it stays."""
    if not machine.kernels or not machine.named:
        return
    cured = [issue for issue in issues if issue.kind == "fault" and _works_around(asked, issue)]
    here = [i for i in cured if not i.gfx or any(matches(g.gfx or "", i.gfx) for g in machine.named)]
    if here and all(_is_fixed(issue, known, machine) for issue in here):
        yield Verdict(
            About.FIXED,
            why=" ".join(f"{issue.title}: fixed in {issue.fixed_in}" for issue in here),
            kernels=tuple(kernel.release for kernel in machine.kernels),
            sources=tuple(source for issue in here for source in issue.evidence[:1]),
        )


def _works_around(asked: Spelling, issue: KnownIssue) -> bool:
    return any(
        canonical(setting.id) == canonical(asked.id) and same(setting.value, asked.value)
        for setting in issue.workaround.settings
    )


def _is_fixed(issue: KnownIssue, known: Catalogue, machine: Machine) -> bool:
    if issue.fixed_by == "both":
        return False  # the other half is ROCm's, and nothing here tells its version
    if any(kernel.dkms for kernel in machine.kernels):
        return False
    if issue.lacks_fix:
        fix = known.fixes[issue.lacks_fix]
        return all(fix.present_in(kernel.version) is True for kernel in machine.kernels)
    fixed = issue.fixed_kernels
    return fixed is not None and all(fixed.contains(k.version.numbers[:3]) for k in machine.kernels)
