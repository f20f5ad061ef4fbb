"""Experiments as functions of their outcomes: which run comes next, and what the runs show."""

from __future__ import annotations

import random

import pytest

from rocmcfg.experiments.course import Course
from rocmcfg.experiments.kinds import course
from rocmcfg.experiments.which import Search
from rocmcfg.model.experiment import CONTROL, Design, Finding, Kind, Outcome, Step, Variable

VARIABLES = tuple(Variable(name, "1") for name in "ABCDEFGHIJKL")


def design(kind: Kind = "cure", settings: int = 1, **more: object) -> Design:
    return Design(kind, VARIABLES[:settings], **{"warm_up": False, **more})  # type: ignore[arg-type]


def played(of: Design, script: str) -> Course:
    """An experiment after runs that failed (x) or ended well (.)."""
    under_way = course(of)
    for letter in script:
        assert isinstance(under_way.next, Step), f"over before the end of {script}"
        under_way.add(Outcome(under_way.next.arm, "exit" if letter == "x" else "", "", 1000))
    return under_way


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("xxx" + "..." + "x", "cures"),  # three clean runs, and the control that fails again
        ("xxx" + "x", "no-effect"),
        ("xxx" + "..x", "no-effect"),
        ("." * 59, "not-reproduced"),
        ("." * 58 + "xx", None),
        ("xxx" + "..." + "." * 7, "undecided"),  # the control no longer fails either
        ("x" + "." * 20 + "x" + "." * 40 + "x" + "x", "worse"),  # 3 of 63, then the first run
        ("." * 27 + "xxx" + "x", "no-effect"),
    ],
)
def test_a_cure_is_found_as_its_rule_says(script: str, verdict: str | None) -> None:
    end = played(design(), script).next
    assert (end.verdict if isinstance(end, Finding) else None) == verdict


def test_after_every_fourth_run_of_the_treatment_the_control_runs() -> None:
    under_way = played(design(), "..xxx" + "....x" + "...")
    after = [purpose for purpose in under_way.purposes if purpose != "control"]
    assert after == [*["treatment"] * 4, "sentinel", *["treatment"] * 3]
    assert under_way.next == Finding("cures", 1)


def test_the_first_run_of_an_arm_is_recorded_and_not_counted() -> None:
    under_way = played(design(warm_up=True), "x" + "xxx" + "x" + "...")
    assert under_way.purposes == ["warm-up", *["control"] * 3, "warm-up", *["treatment"] * 3]
    assert under_way.counted.of(CONTROL).failures == 3
    assert under_way.counted.of(1)[:2] == (3, 0)


@pytest.mark.parametrize("kind", ["cure", "drop", "which", "cost"])
def test_a_replay_of_any_part_asks_for_the_same_run(kind: Kind) -> None:
    chance = random.Random(kind)
    whole = course(design(kind, 4, warm_up=True, most_runs=120))
    requested = []
    while isinstance(step := whole.next, Step):
        requested.append(step)
        failed = chance.random() < (0.0 if step.arm & 1 else 0.5)
        whole.add(Outcome(step.arm, "exit" if failed else "", "", 1000 + chance.randrange(100)))
    for length in range(len(requested)):
        assert course(whole.counted.design, whole.outcomes[:length]).next == requested[length]
    assert course(whole.counted.design, whole.outcomes).next == whole.next


@pytest.mark.parametrize("kind", ["cure", "drop", "which", "cost"])
def test_no_more_runs_follow_than_a_step_says(kind: Kind) -> None:
    for seed in range(30):
        chance = random.Random(seed)
        rate = chance.choice((0.2, 0.5, 0.9))
        under_way = course(design(kind, 4, warm_up=chance.random() < 0.5, most_runs=150))
        most = []
        while isinstance(step := under_way.next, Step):
            most.append(step.most)
            failed = chance.random() < (0.0 if step.arm & 2 else rate)
            under_way.add(Outcome(step.arm, "exit" if failed else "", "", 1000))
        for at, number in enumerate(most):
            assert len(most) - at <= number, f"{kind}, seed {seed}: run {at + 1} of {len(most)} said {number}"


def test_an_outcome_of_another_arm_is_refused() -> None:
    with pytest.raises(ValueError, match="not the one"):
        course(design(), [Outcome(1, "", "", 1000)])
    with pytest.raises(ValueError, match="not the one"):
        played(design(), "xxxx").add(Outcome(0, "", "", 1000))


@pytest.mark.parametrize("bound", [{"most_runs": 7}, {"most_seconds": 7}])
def test_a_bound_ends_an_experiment_undecided(bound: dict[str, object]) -> None:
    under_way = course(design(**bound))  # type: ignore[arg-type]
    while isinstance(under_way.next, Step):
        under_way.add(Outcome(under_way.next.arm, "", "", 1_000_000))
    assert isinstance(under_way.next, Finding)
    assert under_way.next.verdict == "undecided"
    assert len(under_way.outcomes) == 7


def chances(of: Design, rate: dict[int, float], deep: int) -> dict[str, float]:
    """The exact chance of each verdict, by following every outcome of every run."""
    shares: dict[str, float] = {}
    rest = [("", 1.0)]
    while rest:
        script, chance = rest.pop()
        under_way = played(of, script)
        if isinstance(under_way.next, Finding) or len(script) == deep:
            end = under_way.next.verdict if isinstance(under_way.next, Finding) else "more"
            shares[end] = shares.get(end, 0.0) + chance
            continue
        failing = rate[under_way.next.arm]
        rest += [(script + "x", chance * failing), (script + ".", chance * (1 - failing))]
    return shares


def test_all_courses_of_a_frequent_fault_are_followed() -> None:
    """By enumeration at most 5 % are false cures, and a real cure is hardly ever missed."""
    none = chances(design(), {0: 0.8, 1: 0.8}, 14)
    assert sum(none.values()) == pytest.approx(1)
    assert none["cures"] + none.get("more", 0.0) <= 0.05
    full = chances(design(), {0: 0.8, 1: 0.0}, 14)
    assert full["cures"] > 0.85
    assert full.get("no-effect", 0.0) == 0


def outcome_of(under_way: Course, needed: int, harmful: int = 0) -> Outcome:
    assert isinstance(under_way.next, Step)
    arm = under_way.next.arm
    failed = bool(arm & harmful) or arm & needed != needed or not needed
    return Outcome(arm, "exit" if failed else "", "", 1000)


@pytest.mark.parametrize("needed", [0, 0b1, 0b1000, 0b110, 0b11111])
def test_drop_keeps_what_a_fault_that_always_comes_needs(needed: int) -> None:
    under_way = course(design("drop", 5, give_up=9))
    while isinstance(under_way.next, Step):
        # without anything needed the fault is gone
        done = outcome_of(under_way, needed)
        under_way.add(done if needed else done._replace(failure=""))
    assert under_way.next.arm == needed
    assert under_way.next.verdict == ("needed" if needed == 0b11111 else "not-needed")


def test_drop_says_so_where_all_settings_together_do_not_help() -> None:
    under_way = course(design("drop", 3))
    while isinstance(under_way.next, Step):
        under_way.add(outcome_of(under_way, 0))
    assert (under_way.next.verdict, under_way.next.obstacle) == ("undecided", "fails-with-all")


@pytest.mark.parametrize(("needed", "harmful"), [(0, 0), (0b1, 0), (0b1, 0b10), (0b1001, 0), (0b111, 0b1000)])
def test_which_finds_what_is_needed_beside_what_makes_it_worse(needed: int, harmful: int) -> None:
    under_way = course(design("which", 6))
    while isinstance(under_way.next, Step):
        under_way.add(outcome_of(under_way, needed, harmful))
    assert under_way.next == (("cures", needed, "") if needed else ("no-effect", 63, ""))


def test_what_is_believed_is_bayes_theorem() -> None:
    """Two settings: every hypothesis and every rate, multiplied out by hand."""
    search = Search(design("which", 2))
    runs = [(0, True), (0, True), (1, True), (2, False), (2, False), (3, False)]
    for arm, failed in runs:
        search.add(arm, failed)
    rates = [(2 * step + 1) / 50 for step in range(25)]
    weights: dict[int, float] = {}
    for need, prior in ((0, 0.3), (1, 0.2), (2, 0.2), (3, 0.2)):
        others = [bit for bit in (1, 2) if not bit & need]
        for harm in (0, *others):
            weight = prior * ((0.1 / len(others) if harm else 0.9) if others else 1.0)
            total = 0.0
            for rate in rates:
                for harm_rate in rates:
                    chance = 1.0
                    for arm, failed in runs:
                        failing = harm_rate if arm & harm else 0.0 if need and need & ~arm == 0 else rate
                        chance *= failing if failed else 1 - failing
                    total += chance
            weights[need] = weights.get(need, 0.0) + weight * total / len(rates) ** 2
    best = max(weights, key=lambda need: weights[need])
    assert search.best().need == best
    assert search.best().probability == pytest.approx(weights[best] / sum(weights.values()))


def test_a_weight_makes_a_setting_come_first() -> None:
    plain = Search(design("which", 4))
    weighted = Search(design("which", 4, weights=(1, 1, 20, 1)))
    assert plain.best().need == 0
    assert weighted.best().need == 0b100


def test_cost_interleaves_its_pairs() -> None:
    under_way = course(design("cost", 1, pairs=6))
    arms = []
    while isinstance(step := under_way.next, Step):
        arms.append(step.arm)
        under_way.add(Outcome(step.arm, "", "", 3000 if step.arm else 1000))
    assert arms == [0, 1, 1, 0] * 3
    assert isinstance(under_way.next, Finding)
    assert under_way.next.verdict == "slower"
