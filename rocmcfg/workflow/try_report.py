"""Report a try: the counts by arm, what they show, and the command that keeps the setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rocmcfg.experiments.kinds import course
from rocmcfg.experiments.statistics import median, ratio, upper_bound
from rocmcfg.model.experiment import CONTROL, Design, Kind, Obstacle, Outcome, Purpose, Tally, TryRow, Verdict
from rocmcfg.model.request import Request, command_line
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.records.tries import Ran, Restored, Try
from rocmcfg.workflow import try_words
from rocmcfg.workflow.try_words import Evidence, Price

_FEWEST = 3  # clean runs of both arms for a price


class Arm(NamedTuple):
    """The runs of an arm. `settings` are those that the arm has. `warm_ups` are apart from `runs`. `reasons`
    maps why runs failed to their number. `seconds` is the median of the runs that ended well, null without
    any. `most` is the highest rate of failure that the runs do not exclude, in percent."""

    name: str
    settings: tuple[str, ...]
    runs: int
    failures: int
    warm_ups: int
    reasons: dict[str, int]
    seconds: float | None
    most: float


class BootCounts(NamedTuple):
    """The boots of a try with reboots. `of_each_arm` is their number as planned, `came_not_up` is the number
    of treatment boots that got nowhere, and `lost` maps why boots did not count to their number. `restored`
    says whether each boot file of the host was what it was before; null while the try is not over."""

    of_each_arm: int
    came_not_up: int
    lost: dict[str, int]
    restored: bool | None


@published(
    "try=number program kind verdict obstacle sentence advice settings confidence bound price? runs failures",
    "arms apply began ended interrupted kept faults boots?",
)
class TryReport(NamedTuple):
    """A try: an experiment on settings. `verdict` is `cures`, `no-effect`, `worse`, `undecided` or
    `not-reproduced`; of `--drop` also `needed` or `not-needed`, of `--cost` also `slower` or `faster`; null
    while the try is not over. `obstacle` says why it is undecided. `settings` are those that the verdict is
    on. `bound` is the highest rate of failure in percent that is not excluded for them; null where it was not
    measured. `runs` and `failures` are by arm, without warm-ups. `apply` is the command that keeps the
    settings, empty where there is nothing to keep. With `--reboots` a run is the first of its boot, and
    `boots` says what became of the boots; left out for any other try. `kept` are the paths of the files with
    output and kernel lines of failed runs, `faults` the ids of what the kernel logged."""

    number: int
    program: tuple[str, ...]
    kind: Kind
    verdict: Verdict | None
    obstacle: Obstacle
    sentence: str
    advice: tuple[str, ...]
    settings: tuple[str, ...]
    confidence: int
    bound: float | None
    price: Price | None
    runs: dict[str, int]
    failures: dict[str, int]
    arms: tuple[Arm, ...]
    apply: str
    began: str
    ended: str
    interrupted: bool
    kept: tuple[str, ...]
    faults: tuple[str, ...]
    boots: BootCounts | None = None
    name: str = ""


def row(made: TryReport) -> TryRow:
    """Return the row of a try in a list."""
    return TryRow(*(getattr(made, name) for name in TryRow._fields))


@published("tries")
class TryListDocument(NamedTuple):
    """All tries of this user on this host, oldest first."""

    tries: tuple[TryRow, ...]


@published("number")
class ForgottenDocument(NamedTuple):
    """The try that was removed."""

    number: int


def name_of(design: Design, arm: int) -> str:
    """Return the name of an arm."""
    if arm == CONTROL:
        return "control"
    if arm == design.all and design.kind != "which":
        return "all" if design.kind == "drop" else "treatment"
    return " ".join(s.spelled for s in design.of(arm))


def report(attempt: Try) -> TryReport:
    """Return the report of a try, whether or not it is over."""
    design, outcomes = attempt.design, attempt.outcomes
    under_way = course(design, outcomes)
    tallies = under_way.counted.tallies
    finding = attempt.finding
    arms = []
    for arm in dict.fromkeys(outcome.arm for outcome in outcomes):
        of_arm = [(o, p) for o, p in zip(outcomes, under_way.purposes, strict=True) if o.arm == arm]
        tally = tallies.get(arm, Tally())
        arms.append(
            Arm(
                name_of(design, arm),
                tuple(s.spelled for s in design.of(arm)),
                tally.runs,
                tally.failures,
                sum(purpose == "warm-up" for _, purpose in of_arm),
                dict(Counter(o.failure for o, p in of_arm if o.failure and p != "warm-up")),
                round(median(tally.microseconds) / 1e6, 3) if tally.microseconds else None,
                _percent(tally, design.error),
            )
        )
    ran = [line for line in attempt.lines if isinstance(line, Ran)]
    concerned = finding.arm if finding is not None else design.all
    shown = CONTROL if finding is not None and finding.verdict == "not-reproduced" else concerned
    measured = _measured(outcomes, under_way.purposes, shown, tallies.get(shown, Tally()))
    bound = _percent(measured, design.error) if measured.runs else None
    price = _price(design, tallies, under_way.counted.pairs)
    counted = [o for o, p in zip(outcomes, under_way.purposes, strict=True) if p != "warm-up"]
    evidence = Evidence(
        design,
        finding,
        tallies,
        measured,
        bound,
        price,
        Counter(f"{o.failure} {o.detail}".strip() for o in counted if o.failure),
        any(line.fault.startswith("AMD-8") for line in ran),
        any(outcome.left_behind for outcome in outcomes),
        tuple(sorted(Counter(line.why for line in attempt.lost).items())),
        _restored(attempt),
    )
    settings = tuple(s.spelled for s in design.of(concerned))
    return TryReport(
        attempt.number,
        attempt.begun.program,
        design.kind,
        finding.verdict if finding is not None else None,
        finding.obstacle if finding is not None else "",
        try_words.sentence(evidence),
        try_words.advice(evidence),
        settings,
        design.confidence,
        bound,
        price,
        {arm.name: arm.runs for arm in arms},
        {arm.name: arm.failures for arm in arms},
        tuple(arms),
        _apply(attempt, settings) if finding is not None and finding.verdict == "cures" else "",
        attempt.begun.time,
        attempt.last_time if finding is not None else "",
        attempt.open_run is not None,
        tuple(f"{attempt.folder}/{name}" for line in ran for name in line.kept),
        tuple(dict.fromkeys(line.fault for line in ran if line.fault)),
        _boots(attempt),
        attempt.name,
    )


def _boots(attempt: Try) -> BootCounts | None:
    if attempt.begun.boots is None:
        return None
    nowhere = sum(outcome.failure == "did-not-come-up" for outcome in attempt.outcomes)
    lost = Counter[str](line.why for line in attempt.lost)
    changed = _restored(attempt)
    return BootCounts(attempt.design.boots, nowhere, {**lost}, None if changed is None else not changed)


def _restored(attempt: Try) -> tuple[str, ...] | None:
    """Return the boot files that differed at the end from those at the beginning; None before the end."""
    ends = (line.differing for line in reversed(attempt.lines) if isinstance(line, Restored))
    return next(ends, None) if attempt.finding is not None else None


def _measured(outcomes: tuple[Outcome, ...], purposes: Sequence[Purpose], arm: int, whole: Tally) -> Tally:
    """Return the runs of an arm that the verdict rests on: those of a confirmation alone, where there was
    one, since the arm was chosen by those before."""
    fresh = [o for o, p in zip(outcomes, purposes, strict=True) if o.arm == arm and p == "confirmation"]
    return Tally(len(fresh), sum(o.failure != "" for o in fresh)) if fresh else whole


def _apply(attempt: Try, settings: tuple[str, ...]) -> str:
    boots = attempt.begun.boots
    if boots is not None and attempt.begun.profiles:
        return f"sudo {command_line(boots.request)}"
    if boots is not None:
        return f"sudo {command_line(Request(set=settings)).replace(' --set ', ' --add ')}"
    request = Request(set=tuple(f"env.{setting}" for setting in settings))
    return f"sudo {command_line(request).replace(' --set ', ' --add ')}"


def _percent(tally: Tally, error: float) -> float:
    return round(100 * upper_bound(tally.failures, tally.runs, error), 1) if tally.runs else 100.0


def _price(design: Design, tallies: dict[int, Tally], pairs: tuple[float, ...]) -> Price | None:
    """Return the price of all settings: from pairs where they were run, else from the runs that ended
    well."""
    if pairs:
        middle, low, high = ratio(pairs, design.error)
        return Price(round(middle, 4), round(low, 4) or None, round(high, 4) if low else None)
    without, with_all = (tallies.get(arm, Tally()).microseconds for arm in (CONTROL, design.all))
    if min(len(without), len(with_all)) < _FEWEST or not median(without):
        return None
    return Price(round(median(with_all) / median(without), 4), None, None)
