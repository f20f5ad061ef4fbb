"""Experiments whose runs are boots: their order, what they find, and how often that is wrong."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from rocmcfg.experiments.kinds import course
from rocmcfg.experiments.reboots import boots_wanted, fewest_boots, finding, order
from rocmcfg.experiments.statistics import chance_of_split, power
from rocmcfg.model.experiment import CONTROL, Design, Finding, Outcome, Step, Variable

ERROR = 0.05


def design(boots: int, confidence: int = 95) -> Design:
    setting = (Variable("amdgpu.cwsr_enable", "0"),)
    return Design("reboots", setting, confidence, 2 * boots, warm_up=False, boots=boots)


def played(boots: int, failing: tuple[tuple[bool, ...], tuple[bool, ...]]) -> tuple[Finding, int]:
    """The finding where the boots of both arms fail as told, and the number of boots."""
    under_way = course(design(boots))
    ran = [0, 0]
    while isinstance(step := under_way.next, Step):
        assert step.most == 2 * boots - sum(ran)
        failed = failing[step.arm][ran[step.arm]]
        ran[step.arm] += 1
        under_way.add(Outcome(step.arm, "exit" if failed else "", "", 1000))
    assert isinstance(under_way.next, Finding)
    return under_way.next, sum(ran)


def test_boots_alternate_so_that_a_drift_touches_both_arms() -> None:
    assert order(design(5)) == (0, 1, 1, 0, 0, 1, 1, 0, 0, 1)
    assert order(design(4)) == (0, 1, 1, 0, 0, 1, 1, 0)


@pytest.mark.parametrize("boots", [1, 3, 4, 5])
def test_the_chance_of_a_split_counts_choices(boots: int) -> None:
    for failures, others in product(range(boots + 1), repeat=2):
        choices = [*combinations(range(2 * boots), failures + others)]
        fitting = [choice for choice in choices if sum(boot < boots for boot in choice) >= failures]
        assert chance_of_split(failures, others, boots) == pytest.approx(len(fitting) / len(choices))


@pytest.mark.parametrize(
    ("rate", "boots", "percent"), [(0.9, 5, 92), (0.5, 5, 19), (0.5, 12, 93), (0.9, 3, 73)]
)
def test_the_power_is_that_of_every_outcome(rate: float, boots: int, percent: int) -> None:
    every = product((False, True), repeat=boots)
    chance = 0.0
    for failing in every:
        if finding(design(boots), sum(failing), 0).verdict == "cures":
            chance += rate ** sum(failing) * (1 - rate) ** (boots - sum(failing))
    assert power(rate, boots, ERROR) == pytest.approx(chance)
    assert round(100 * chance) == percent


def test_the_number_of_boots_that_is_asked_for_is_the_smallest() -> None:
    for rate in (0.9, 0.5, 0.2):
        wanted = boots_wanted(rate, ERROR)
        assert power(rate, wanted, ERROR) >= 0.9 > power(rate, wanted - 1, ERROR)
    assert boots_wanted(0.05, ERROR) == 0  # more than are allowed
    assert (fewest_boots(1 - 95 / 100), fewest_boots(1 - 99 / 100)) == (3, 5)


@pytest.mark.parametrize("boots", [3, 4])
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_false_cures_and_false_harm_are_as_rare_as_stated(boots: int, rate: float) -> None:
    """Every outcome of every boot, with the early end: without an effect, boots differ by chance alone."""
    wrong = {"cures": 0.0, "worse": 0.0}
    for outcomes in product((False, True), repeat=2 * boots):
        conclusion, _ = played(boots, (outcomes[:boots], outcomes[boots:]))
        chance = rate ** sum(outcomes) * (1 - rate) ** (2 * boots - sum(outcomes))
        if conclusion.verdict in wrong:
            wrong[conclusion.verdict] += chance
    assert max(wrong.values()) <= ERROR * (1 + 1e-9)


@pytest.mark.parametrize("boots", [3, 5])
def test_an_early_end_is_the_finding_of_all_boots(boots: int) -> None:
    shorter = 0
    for outcomes in product((False, True), repeat=2 * boots):
        control, treatment = outcomes[:boots], outcomes[boots:]
        conclusion, ran = played(boots, (control, treatment))
        assert conclusion == finding(design(boots), sum(control), sum(treatment))
        shorter += ran < 2 * boots
        assert conclusion.verdict != "cures" or ran == 2 * boots
    assert shorter


@pytest.mark.parametrize(
    ("control", "treatment", "verdict", "obstacle"),
    [
        (5, 0, "cures", ""),
        (4, 0, "cures", ""),
        (3, 0, "undecided", "boots"),
        (5, 1, "undecided", "rarer"),
        (5, 2, "no-effect", ""),
        (4, 4, "no-effect", ""),
        (0, 0, "not-reproduced", ""),
        (0, 2, "not-reproduced", ""),
        (0, 4, "worse", ""),
    ],
)
def test_five_and_five_boots(control: int, treatment: int, verdict: str, obstacle: str) -> None:
    conclusion = finding(design(5), control, treatment)
    assert (conclusion.verdict, conclusion.obstacle) == (verdict, obstacle)


def test_a_boot_of_another_arm_does_not_count() -> None:
    under_way = course(design(3))
    with pytest.raises(ValueError, match="not the one"):
        under_way.add(Outcome(1, "", "", 1))
    assert under_way.next == Step(CONTROL, "boot", 6)
