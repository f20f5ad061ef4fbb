"""The course of an experiment: its runs in order, and the parts that several kinds share."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeVar

from rocmcfg.experiments.statistics import FAILURES, clean_runs_wanted
from rocmcfg.model.experiment import CONTROL, Design, Finding, Outcome, Purpose, Step, Tally
from rocmcfg.model.shape import NamedTuple

T = TypeVar("T")
# A part of an experiment yields the next run, is sent how it ended, and returns a result.
Part = Generator[Step, Outcome, T]
_DRIFT = 0.01  # chance at most of calling a control drifted that has not; its runs cost only where it has
_EVERY = 4  # clean runs of the treatment, after which the control runs once: the sentinel


class Counted:
    """The counted runs of each arm so far, and the arms that had their warm-up."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.tallies: dict[int, Tally] = {}
        self.warm: set[int] = set()
        self.runs = 0
        self.pairs: tuple[float, ...] = ()  # logarithms of the ratios of times, for `cost`

    def of(self, arm: int) -> Tally:
        return self.tallies.get(arm, Tally())

    def run(self, arm: int, purpose: Purpose, most: int) -> Part[bool]:
        """Run an arm once, after its warm-up, and return whether it failed."""
        return (yield from self.timed(arm, purpose, most)).failure != ""

    def timed(self, arm: int, purpose: Purpose, most: int) -> Part[Outcome]:
        """Run an arm once, after its warm-up, and return the outcome."""
        if self.design.warm_up and arm not in self.warm:
            self.warm.add(arm)
            yield Step(arm, "warm-up", most + 1)
            self.runs += 1
        outcome = yield Step(arm, purpose, most)
        self.runs += 1
        runs, failures, times = self.of(arm)
        if outcome.failure:
            self.tallies[arm] = Tally(runs + 1, failures + 1, times)
        else:
            self.tallies[arm] = Tally(runs + 1, failures, (*times, outcome.microseconds))
        return outcome

    @property
    def left(self) -> int:
        """Return the number of runs that the design still allows."""
        return self.design.most_runs - self.runs


class Cleared(NamedTuple):
    """The result of a treatment that ran until its first failure or until it had shown enough. `drifted`: the
    control no longer fails either, so the clean runs show nothing."""

    runs: int
    failed: bool
    drifted: bool = False


def reproduced(counted: Counted) -> Part[int]:
    """Run the control until its third failure, and return the number of its runs; 0 where the fault does not
    show up."""
    while (tally := counted.of(CONTROL)).failures < FAILURES:
        if not tally.failures and tally.runs >= counted.design.give_up:
            return 0
        yield from counted.run(CONTROL, "control", counted.left)
    return tally.runs


def cleared(
    counted: Counted, arm: int, control_runs: int, error: float, purpose: Purpose, *, ends: bool = True
) -> Part[Cleared]:
    """Run the treatment until its first failure, or until it ended well often enough.

    After every fourth run of the treatment the control runs once. A cure is accepted only once such a
    sentinel has failed: the fault is then still there. If the control ended well so often that the test would
    call it cured, it drifted. `ends`: the experiment ends with the result.
    """
    wanted = clean_runs_wanted(control_runs, error)
    enough = clean_runs_wanted(control_runs, min(error, _DRIFT))
    sentinels, alive = 0, False

    def most(treated: int) -> int:
        """Return the number of runs that remain at most after this many of the treatment."""
        if not ends:
            return counted.left
        regular = wanted // _EVERY - sentinels
        return wanted - treated + (regular if alive else max(regular, enough - sentinels))

    for number in range(1, wanted + 1):
        if (yield from counted.run(arm, purpose, most(number - 1))):
            return Cleared(number, failed=True)
        if number % _EVERY == 0:
            alive |= yield from counted.run(CONTROL, "sentinel", most(number))
            sentinels += 1
    while not alive:
        if sentinels >= enough:
            return Cleared(wanted, failed=False, drifted=True)
        alive = yield from counted.run(CONTROL, "sentinel", most(wanted))
        sentinels += 1
    return Cleared(wanted, failed=False)


class Course:
    """An experiment under way. `next` is the next run, or the finding."""

    def __init__(self, counted: Counted, part: Part[Finding], outcomes: Iterable[Outcome] = ()) -> None:
        self.counted, self._part = counted, part
        self.outcomes: list[Outcome] = []
        self.purposes: list[Purpose] = []
        self.most_left = 0
        self._microseconds = 0
        self.next: Step | Finding = self._bounded(next(part))
        for outcome in outcomes:
            self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of the next run. Raises ValueError for that of another arm."""
        if isinstance(self.next, Finding) or outcome.arm != self.next.arm:
            raise ValueError("the run is not the one that the experiment asks for")
        self.outcomes.append(outcome)
        self.purposes.append(self.next.purpose)
        self._microseconds += outcome.microseconds
        try:
            self.next = self._bounded(self._part.send(outcome))
        except StopIteration as end:
            self.next = end.value

    def _bounded(self, step: Step) -> Step | Finding:
        design, runs = self.counted.design, len(getattr(self, "outcomes", ()))
        if runs >= design.most_runs:
            return Finding("undecided", design.all, "runs")
        if design.most_seconds and self._microseconds >= 1_000_000 * design.most_seconds:
            return Finding("undecided", design.all, "time")
        return step._replace(most=min(step.most, design.most_runs - runs))
