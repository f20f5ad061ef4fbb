"""Simulate experiments, and hold what they find against what they claim.

    python -m tests.experiments.simulate            the whole: `make simulate`, at most 20 minutes
    python -m tests.experiments.simulate 0.05       a twentieth of it

Each simulated program fails with a chance that depends on the arm alone. Runs are those that count, sentinels
included; two warm-ups come on top. The seeds are fixed, so the figures are always the same.
"""

from __future__ import annotations

import multiprocessing
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocmcfg.experiments.kinds import course
from rocmcfg.experiments.statistics import power, upper_bound
from rocmcfg.model.experiment import CONTROL, Design, Finding, Kind, Outcome, Step, Tally, Variable

RATES = (0.05, 0.1, 0.2, 0.5, 0.9)
SEARCHED = (0.1, 0.2, 0.5, 0.9)
SETTINGS = 12
NO_BOUND = 1_000_000
BOOTS = ((0.9, 5), (0.5, 12))  # rate of failure, and boots of each arm
BAD = ((0.8, 0.0), (0.6, 0.2))  # rates of failure in a bad boot and in a good one; half of all are bad
_CURES, _SEARCHES = 10_000, 400  # experiments a cell
_MOST_FAILURES = 5.0  # percent of false cures; the confidence of the experiments is 95 %
Rate = Callable[[int], float]


def experiment(kind: Kind, settings: int, rate: Rate, seed: int) -> tuple[Finding, int, Tally]:
    """The finding of an experiment, the number of its runs, and the runs of the arm that was found."""
    chance = random.Random(seed)
    variables = tuple(Variable(f"V{at}", "1") for at in range(settings))
    design = Design(kind, variables, most_runs=NO_BOUND, give_up=NO_BOUND, warm_up=False)
    under_way = course(design)
    while isinstance(step := under_way.next, Step):
        failed = chance.random() < rate(step.arm)
        under_way.add(Outcome(step.arm, "exit" if failed else "", "", 1000))
    finding = under_way.next
    assert isinstance(finding, Finding)
    return finding, len(under_way.outcomes), under_way.counted.of(finding.arm)


@dataclass(frozen=True)
class Cell:
    """What many experiments of one sort found. `misses` are upper bounds below the true rate."""

    verdicts: Counter[str]
    mean_runs: float
    misses: int = 0
    right: int = 0
    false: int = 0

    def share(self, verdict: str) -> float:
        return self.verdicts[verdict] / self.verdicts.total()


def cures(rate: float, treated: float, experiments: int, seed: int = 1) -> Cell:
    """Experiments on one setting: the program fails with `rate` without it and with `treated` with it."""
    verdicts: Counter[str] = Counter()
    runs = misses = 0
    for number in range(experiments):
        finding, length, tally = experiment(
            "cure", 1, lambda arm: rate if arm == CONTROL else treated, seed * NO_BOUND + number
        )
        verdicts[finding.verdict] += 1
        runs += length
        misses += bool(tally.runs) and upper_bound(tally.failures, tally.runs, 0.05) < treated
    return Cell(verdicts, runs / experiments, misses)


def searches(rate: float, needed: int, experiments: int, seed: int = 2) -> Cell:
    """Experiments on which of twelve settings are needed together. In a tenth of them another one makes the
    program fail nine times of ten."""
    verdicts: Counter[str] = Counter()
    runs = right = false = 0
    for number in range(experiments):
        here = random.Random(seed * NO_BOUND + number)
        chosen = here.sample(range(SETTINGS), needed)
        need = sum(1 << at for at in chosen)
        others = [at for at in range(SETTINGS) if at not in chosen]
        harm = 1 << here.choice(others) if here.random() < 0.1 else 0

        def failing(arm: int, need: int = need, harm: int = harm) -> float:
            if arm & harm:
                return max(0.9, rate)
            return 0.0 if need and need & ~arm == 0 else rate

        finding, length, _ = experiment("which", SETTINGS, failing, here.randrange(NO_BOUND))
        verdicts[f"{finding.verdict} {finding.obstacle}".strip()] += 1
        runs += length
        cure = finding.arm if finding.verdict == "cures" else 0
        right += finding.verdict == ("cures" if need else "no-effect") and cure == need
        false += finding.verdict == "cures" and cure != need
    return Cell(verdicts, runs / experiments, right=right, false=false)


def boots(number: int, rates: tuple[Rate, Rate], experiments: int, seed: int = 3) -> Cell:
    """Experiments on a setting of the kernel, with this number of boots of each arm. Half of all boots are
    bad, whatever their arm: the program fails with the first rate in these and with the second in others."""
    verdicts: Counter[str] = Counter()
    ran = misses = 0
    for at in range(experiments):
        chance = random.Random(seed * NO_BOUND + at)
        setting = (Variable("amdgpu.cwsr_enable", "0"),)
        under_way = course(Design("reboots", setting, most_runs=2 * number, warm_up=False, boots=number))
        while isinstance(step := under_way.next, Step):
            rate = rates[chance.random() < 0.5](step.arm)
            under_way.add(Outcome(step.arm, "exit" if chance.random() < rate else "", "", 1000))
        finding, tally = under_way.next, under_way.counted.of(1)
        assert isinstance(finding, Finding)
        verdicts[finding.verdict] += 1
        ran += len(under_way.outcomes)
        mean = (rates[0](1) + rates[1](1)) / 2
        misses += finding.verdict == "cures" and upper_bound(tally.failures, tally.runs, 0.05) < mean
    return Cell(verdicts, ran / experiments, misses)


def without_effect(bad: tuple[float, float]) -> tuple[Rate, Rate]:
    return (lambda _: bad[0]), (lambda _: bad[1])


def full_cure(rate: float) -> tuple[Rate, Rate]:
    def of_arm(arm: int) -> float:
        return rate if arm == CONTROL else 0.0

    return of_arm, of_arm


def _boots_row(task: tuple[float, int, int]) -> tuple[list[str], bool]:
    rate, number, experiments = task
    full = boots(number, full_cure(rate), experiments)
    none = [boots(number, without_effect((rate, rate)), experiments)]
    none += [boots(number, without_effect(bad), experiments) for bad in BAD]
    share_cured, false = full.share("cures"), [cell.share("cures") for cell in none]
    stated = power(rate, number, 0.05)
    figures = [f"{rate:.2f}", str(number), f"{100 * share_cured:.1f} %", f"{100 * stated:.1f} %"]
    figures += [f"{100 * share:.2f} %" for share in false]
    figures += [f"{full.mean_runs:.1f}", f"{none[0].mean_runs:.1f}"]
    # four standard errors of so many experiments
    return figures, abs(share_cured - stated) <= 2 / experiments**0.5 and max(false) <= _MOST_FAILURES / 100


def _cure_row(task: tuple[float, int]) -> tuple[list[str], bool]:
    rate, experiments = task
    none, full = cures(rate, rate, experiments), cures(rate, 0.0, experiments)
    third = cures(rate, rate / 3, experiments)
    coverage = 1 - max(cell.misses for cell in (none, full, third)) / experiments
    false = none.share("cures")
    holds = (
        false <= _MOST_FAILURES / 100
        and full.mean_runs <= 10 / rate
        and none.mean_runs <= 5 / rate
        and coverage >= 0.95
    )
    figures = (
        f"{100 * false:.2f} %",
        f"{100 * none.share('worse'):.2f} %",
        f"{none.mean_runs * rate:.2f}/p",
        f"{100 * full.share('cures'):.1f} %",
        f"{full.mean_runs * rate:.2f}/p",
        f"{100 * third.share('cures'):.1f} %",
        f"{100 * coverage:.1f} %",
    )
    return [f"{rate:.2f}", *figures], holds


def _search_row(task: tuple[float, int, int]) -> tuple[list[str], bool]:
    rate, needed, experiments = task
    cell = searches(rate, needed, experiments)
    right, false = cell.right / experiments, cell.false / experiments
    others = ", ".join(f"{verdict} {count}" for verdict, count in cell.verdicts.most_common())
    figures = [f"{rate:.2f}", str(needed), f"{100 * right:.1f} %", f"{100 * false:.1f} %"]
    return [*figures, f"{cell.mean_runs:.0f}", others], right >= 0.95 and false <= 0.02


def _table(head: str, rows: Iterable[tuple[list[str], bool]]) -> bool:
    print(head, flush=True)
    every = True
    for figures, holds in rows:
        every &= holds
        print("  ".join(figures), "" if holds else "  MISSES ITS BAR", flush=True)
    return every


def main(share: float) -> int:
    began = time.monotonic()
    cures_each, searches_each = max(100, round(share * _CURES)), max(10, round(share * _SEARCHES))
    with multiprocessing.Pool() as pool:
        rows = pool.imap(_cure_row, [(rate, cures_each) for rate in RATES])
        head = "rate, false cures, false worse, runs; cures found, runs; a third left: cures; coverage"
        head += f" ({cures_each} each)"
        holds = _table(head, rows)
        tasks = [(rate, needed, searches_each) for rate in SEARCHED for needed in range(4)]
        head = f"\nrate, needed of 12, right, false, runs, verdicts ({searches_each} each)"
        holds &= _table(head, pool.imap(_search_row, tasks, chunksize=1))
        head = (
            "\nrate, boots of each arm, cures found, as stated; false cures: none bad, bad .8/0, bad .6/.2; "
        )
        head += f"boots, cure and none ({cures_each} each)"
        tasks_of_boots = [(rate, number, cures_each) for rate, number in BOOTS]
        holds &= _table(head, pool.imap(_boots_row, tasks_of_boots))
    print(f"\n{time.monotonic() - began:.0f} s; {'all bars hold' if holds else 'A BAR IS MISSED'}")
    return not holds


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))
