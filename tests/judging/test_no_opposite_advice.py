"""No two commands give opposite advice about a setting: plan takes what lint writes, lint keeps nothing that
plan refuses, and nobody proposes what explain knows to have no effect. Settings and machines are drawn. What
the commands say is compared, and not the table from which they say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from rocmcfg.advice.explain.explanation import Explanation
from rocmcfg.advice.lint.check import Fate, check, mended
from rocmcfg.advice.lint.check import verdicts as fates
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.judging import words
from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.judging.words import Advice, Words
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, Severity
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import Spelling, parse
from tests.judging import test_one_judge
from tests.judging.test_one_judge import KNOWN, MACHINES, explain_says, plan_says

DRAWN = some.sampled_from(test_one_judge.settings())
MASKS = some.integers(0, 0xFFFFFFFF).map(lambda mask: parse(f"amdgpu.ppfeaturemask={mask:#x}"))
ON = some.sampled_from(MACHINES)
# Warnings that are no advice against a setting: what another kernel has, what cannot be looked into, whose
# default a mask begins with, and that a setting hands over the machine, which lint does not judge.
_NO_ADVICE = {"RC2102", "RC2109", "RC2023", "RC2055"}


def _text(asked: Spelling) -> str:
    return str(asked) if asked.kind is Kind.PARAMETER else str(asked).partition(".")[2]


def _linted(text: str, asked: Spelling, on: Machine) -> tuple[Checked, Knowledge]:
    kind = FileKind.ENVIRONMENT if asked.kind is Kind.ENV else FileKind.CMDLINE
    knowledge = Knowledge(KNOWN, on)
    return check("a", f"{text}\n", knowledge, kind=kind), knowledge


def _warned(planned: tuple[Diagnostic, ...]) -> set[str]:
    """What a plan advises against. That a kernel may not provide all of a value is a matter of the kernel."""
    said = {d.summary for d in planned if d.severity is not Severity.INFO and d.id not in _NO_ADVICE}
    return {summary for summary in said if "may not provide all of" not in summary}


def opposites(asked: Spelling, on: Machine) -> Iterator[str]:
    """Each pair of commands that advise the opposite of each other about a setting on a machine."""
    if asked.kind is Kind.FEATURE:
        return  # no file says one
    planned, said = plan_says(asked, on), explain_says(asked, on)
    checked, knowledge = _linted(_text(asked), asked, on)
    if not checked.assignments:
        return
    fate = fates(checked)[0].fate
    if any(d.severity is Severity.ERROR for d in planned) and fate is Fate.KEEP:
        yield "plan refuses what lint keeps"
    if _warned(planned) and fate is Fate.KEEP:
        yield "plan warns of what lint keeps"
    if fate in (Fate.TAKE_OUT, Fate.NOT_NEEDED) and any(f"write {asked}" in d.hint for d in planned):
        yield "lint takes out what plan proposes"
    after = mended(checked, knowledge).strip()
    if after and after != _text(asked):
        yield from _of_what_is_written(after, asked, on, _warned(planned))
    if isinstance(said, Explanation):
        nothing = said.acts_here is False or any(t.here and t.kind == "no_effect" for t in said.traps)
        if nothing and not said.verdict and fate is Fate.KEEP:
            yield "explain knows no effect, and lint keeps it"
        if said.instead and fate is Fate.KEEP:
            yield f"explain proposes {said.instead}, and lint keeps it"
        hints = [d.hint for d in planned]
        if said.instead and any(hint == f"write {asked}" for hint in hints):
            yield "plan proposes what explain replaces"


def _of_what_is_written(after: str, asked: Spelling, on: Machine, before: set[str]) -> Iterator[str]:
    """What --fix leaves is clean: lint has no more to propose, and plan neither refuses it nor warns anew."""
    again, knowledge = _linted(after, asked, on)
    if mended(again, knowledge).strip() != after:
        yield f"lint does not leave alone what it wrote: {after}"
    accused = {f.remark.id for f in again.findings if f.remark.severity is not Severity.INFO}
    if accused - {f.remark.id for f in _linted(_text(asked), asked, on)[0].findings}:
        yield f"lint accuses what it wrote: {after}"
    scope = {Kind.ENV: "env.", Kind.KARG: "karg."}
    module = after.partition(".")[0] in KNOWN.modules()
    written = parse(after if module else f"{scope.get(asked.kind, '')}{after}")
    if not isinstance(written, Spelling):
        return
    planned = plan_says(written, on)
    if any(d.severity is Severity.ERROR for d in planned):
        yield f"plan refuses what lint wrote: {after}"
    if _warned(planned) - before and fates(again)[0].fate is Fate.KEEP:
        yield f"plan warns of what lint wrote: {after}"


@pytest.mark.bulk
@settings(max_examples=1_500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.one_of(DRAWN, DRAWN, DRAWN, MASKS), ON)
def test_no_two_commands_give_opposite_advice(asked: Spelling, on: Machine) -> None:
    found = [f"{asked} on {on}: {what}" for what in opposites(asked, on)]
    assert not found, "\n".join(found)


# -- planted contradictions ---------------------------------------------------------------------------------

NAVI48 = Machine((test_one_judge.kernel("6.19.1"),), (test_one_judge.gpu("gfx1201"),))


LINT, PLAN = "rocmcfg.advice.lint.wording.words", "rocmcfg.change.planning.wording.words"


@pytest.mark.parametrize(
    ("text", "planted_in", "about", "change", "complaint"),
    [
        ("amdgpu.tmz=1", LINT, About.NO_EFFECT, {"advice": Advice.NOTE}, "explain knows no effect"),
        (
            "env.TORCH_BLAS_PREFER_HIPBLASLT=1",
            LINT,
            About.UNDOES,
            {"advice": Advice.NOTE},
            "plan warns of what lint keeps",
        ),
        ("amdgpu.tmz=1", PLAN, About.NO_EFFECT, {"cure": "write amdgpu.tmz=1"}, "lint takes out what plan"),
    ],
)
def test_a_planted_contradiction_is_seen(
    text: str, planted_in: str, about: About, change: dict[str, Any], complaint: str
) -> None:
    asked, sound = parse(text), words.words
    assert isinstance(asked, Spelling)

    def planted(verdict: Verdict, setting: Spelling, known: Catalogue, machine: Machine) -> Words:
        said = sound(verdict, setting, known, machine)
        return said._replace(**change) if verdict.about is about else said

    assert not [*opposites(asked, NAVI48)]
    with mock.patch(planted_in, planted):
        assert any(complaint in one for one in opposites(asked, NAVI48))
