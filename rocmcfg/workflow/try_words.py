"""Word what a try found, in one sentence, with the counts and the bound that it rests on."""

from __future__ import annotations

from collections import Counter

from rocmcfg.model.experiment import CONTROL, Design, Finding, Tally
from rocmcfg.model.shape import NamedTuple

FREQUENT = (
    "Make the fault more frequent first, since the number of runs grows with its rarity: run longer, repeat "
    "the failing part in a loop inside the program, or start several at once."
)
MEMORY = (
    "The kernel logged a fault that is probably the hardware's. Test the GPU's memory first, with "
    "memtest_vulkan: no setting cures bad memory."
)
STAYS = (
    "The program left processes running, which were ended before the next run. Of a program that forks and "
    "stays, only the first process is judged: start it in the foreground."
)
_ALWAYS = (
    "Every run failed, with the settings and without. Run the program once by hand, and check that it works "
    "at all."
)


class Price(NamedTuple):
    """The time of a run with the settings as a multiple of that without, and the interval that holds it with
    the confidence of the try; the ends are null for too few pairs."""

    ratio: float
    low: float | None
    high: float | None


class Evidence(NamedTuple):
    """What the words about a try are chosen by. `measured` are the runs that the verdict rests on, and
    `bound`, in percent, is that of their rate of failure."""

    design: Design
    finding: Finding | None
    tallies: dict[int, Tally]
    measured: Tally
    bound: float | None
    price: Price | None
    reasons: Counter[str]
    hardware: bool
    left_behind: bool

    def of(self, arm: int) -> Tally:
        return self.tallies.get(arm, Tally())

    @property
    def every_run_failed(self) -> bool:
        tallies = self.tallies.values()
        return bool(tallies) and all(tally.failures == tally.runs for tally in tallies)


def names(design: Design, arm: int) -> str:
    """Return the settings of an arm as text."""
    settings = [s.spelled if design.kind != "drop" else s.name for s in design.of(arm)]
    if len(settings) > 1:
        return f"{', '.join(settings[:-1])} and {settings[-1]}"
    return "".join(settings)


def counts(tally: Tally) -> str:
    """Return the counts of an arm as they stand after `it failed`."""
    runs = f"{tally.runs} run{'s' if tally.runs != 1 else ''}"
    return f"in {tally.failures or 'none'} of {runs}"


def sentence(evidence: Evidence) -> str:
    """Return the sentence on a try; empty while it is not over."""
    finding = evidence.finding
    if finding is None:
        return ""
    if finding.verdict == "undecided":
        return f"Undecided: {_OBSTACLES[finding.obstacle](evidence)}"
    words = {"cure": _cure, "which": _which, "drop": _drop, "cost": _cost}[evidence.design.kind]
    return words(evidence, finding) + (_price(evidence) if finding.verdict == "cures" else "")


def _cure(evidence: Evidence, finding: Finding) -> str:
    design, (control, treatment) = evidence.design, (evidence.of(CONTROL), evidence.measured)
    what = names(design, finding.arm)
    if finding.verdict == "not-reproduced":
        return _not_reproduced(evidence)
    seen = f"the program failed {counts(control)} without"
    seen += f", and {counts(treatment)} with {'it' if finding.arm & (finding.arm - 1) == 0 else 'them'}"
    cures = "cure" if finding.arm & (finding.arm - 1) else "cures"
    if finding.verdict == "cures":
        return f"{what} {cures} the fault here: {seen}; at most {evidence.bound:.0f} % of runs still fail."
    if finding.verdict == "worse":
        return f"{what} {'make' if cures == 'cure' else 'makes'} it worse here: {seen}."
    return f"{what} {'do' if cures == 'cure' else 'does'} not cure the fault here: {seen}."


def _which(evidence: Evidence, finding: Finding) -> str:
    if finding.verdict != "no-effect":
        return _cure(evidence, finding)
    runs = sum(tally.runs for arm, tally in evidence.tallies.items() if arm)
    failures = sum(tally.failures for arm, tally in evidence.tallies.items() if arm)
    return (
        f"None of these settings, and no pair or triple of them, cures the fault here: the program failed "
        f"{counts(evidence.of(CONTROL))} without, and {counts(Tally(runs, failures))} with some of them."
    )


def _drop(evidence: Evidence, finding: Finding) -> str:
    design = evidence.design
    if finding.arm == CONTROL:
        control = evidence.of(CONTROL)
        return (
            f"None of {names(design, design.all)} is needed here: without any the program failed "
            f"{counts(control)}; at most {evidence.bound:.0f} % of runs fail."
        )
    kept, gone = names(design, finding.arm), names(design, design.all & ~finding.arm)
    with_kept = counts(evidence.measured)
    seen = f"the program failed {counts(evidence.of(CONTROL))} without any, and {with_kept}"
    if finding.verdict == "needed":
        return f"Each of {kept} is needed here: {seen} with all; without any one of them it failed."
    at_most = f"at most {evidence.bound:.0f} % of runs fail"
    return f"{gone} can go here, {kept} stays: {seen} with only that; {at_most}."


def _cost(evidence: Evidence, finding: Finding) -> str:
    price, what = evidence.price, names(evidence.design, finding.arm)
    assert price is not None
    times = f"a run takes {price.ratio:.2f} times as long"
    within = f" ({price.low:.2f} to {price.high:.2f})" if price.low and price.high else ""
    pairs = f"in {evidence.design.pairs} pairs of runs"
    if finding.verdict == "no-effect":
        return f"With {what} {times}{within} {pairs}: no difference is shown."
    return f"With {what} {times}{within} {pairs}."


def _not_reproduced(evidence: Evidence) -> str:
    control = evidence.of(CONTROL)
    return (
        f"The fault did not appear in {control.runs} runs without settings, so nothing can be shown: at most "
        f"{evidence.bound:.0f} % of runs fail."
    )


def _price(evidence: Evidence) -> str:
    price = evidence.price
    return f" A run takes {price.ratio:.2f} times as long with the setting." if price is not None else ""


def _drifted(_: Evidence) -> str:
    return (
        "the program no longer fails without the settings either. Something else has changed meanwhile: "
        "temperature, a cache, an update."
    )


def _out_of_runs(evidence: Evidence) -> str:
    seen = "; ".join(
        f"{counts(tally)} {'with ' + names(evidence.design, arm) if arm else 'without'}"
        for arm, tally in list(evidence.tallies.items())[:3]
    )
    what = "runs" if evidence.finding and evidence.finding.obstacle == "runs" else "time"
    return f"the {what} that was allowed is used up. The program failed {seen or 'in no counted run'}."


def _not_confirmed(evidence: Evidence) -> str:
    assert evidence.finding is not None
    return (
        f"with only {names(evidence.design, evidence.finding.arm)} the program failed again: it failed "
        f"{counts(evidence.of(evidence.finding.arm))}."
    )


def _fails_with_all(evidence: Evidence) -> str:
    return (
        f"the program fails with all of {names(evidence.design, evidence.design.all)} as well: they "
        f"do not cure the fault, so which of them is needed cannot be shown."
    )


def _too_few(_: Evidence) -> str:
    return "the program failed too often to compare times. See first whether the settings cure it."


_OBSTACLES = {
    "drift": _drifted,
    "runs": _out_of_runs,
    "time": _out_of_runs,
    "not-confirmed": _not_confirmed,
    "fails-with-all": _fails_with_all,
    "too-few": _too_few,
}


def advice(evidence: Evidence) -> tuple[str, ...]:
    """Return what the reader should look at next or first."""
    finding = evidence.finding
    pieces = [MEMORY] if evidence.hardware else []
    pieces += [STAYS] if evidence.left_behind else []
    if finding is None:
        return tuple(pieces)
    if evidence.every_run_failed:
        pieces.append(_ALWAYS)
    if finding.verdict == "not-reproduced" or finding.obstacle in ("runs", "time"):
        pieces.append(FREQUENT)
    return tuple(pieces)
