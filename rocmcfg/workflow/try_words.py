"""Word what a try found, in one sentence, with the counts and the bound that it rests on."""

from __future__ import annotations

from collections import Counter

from rocmcfg.experiments.reboots import boots_wanted
from rocmcfg.model.experiment import CONTROL, Design, Finding, LostBoot, Tally
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records.tries import REFERENCE

_SHOWN = 3  # files
_NOTABLE = 0.1  # of the time of a run: times differ that much by chance
FREQUENT = (
    "Make the fault more frequent first, because a rare fault needs more runs: run longer, repeat the "
    "failing part in a loop inside the program, or start several at once."
)
MEMORY = (
    "The kernel logged a fault that the hardware probably caused. Test the GPU's memory first, with "
    "memtest_vulkan: no setting cures bad memory."
)
STAYS = (
    "The program left processes running; rocmcfg ended them before the next run. If the program runs in the "
    "background, start it in the foreground instead: rocmcfg judges only the first process."
)
_COMPARED = (
    f"Outputs were compared with that of two runs without the settings, which is kept as {REFERENCE}. If "
    "that one is wrong, the verdict is upside down: begin again with --check or --bad-if-output."
)
_NO_INPUT = "A program in a try has no terminal and no input, so one that asks for something fails."
_ALWAYS = f"Every run failed. Run the program once by hand, and check that it works at all. {_NO_INPUT}"


class Price(NamedTuple):
    """The time of a run with the settings as a multiple of that without, and the interval that holds it with
    the confidence of the try; the ends are null for too few pairs."""

    ratio: float
    low: float | None
    high: float | None


class Evidence(NamedTuple):
    """What the words about a try are chosen by. `measured` are the runs that the verdict rests on, and
    `bound`, in percent, is that of their rate of failure. `lost` are the boots that did not count, by their
    reason, and `differing` the boot files that the host did not get back; None before the end."""

    design: Design
    finding: Finding | None
    tallies: dict[int, Tally]
    measured: Tally
    bound: float | None
    price: Price | None
    reasons: Counter[str]
    hardware: bool
    left_behind: bool
    lost: tuple[tuple[LostBoot, int], ...] = ()
    differing: tuple[str, ...] | None = None

    def of(self, arm: int) -> Tally:
        return self.tallies.get(arm, Tally())

    @property
    def unit(self) -> str:
        """Return what a run is called."""
        return "boot" if self.design.kind == "reboots" else "run"

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


_WAYS = {
    "exit": "exit code",
    "signal": "signal",
    "timeout": "timeout",
    "gpu-fault": "GPU fault",
    "bad-output": "bad output",
    "check": "failed check",
    "different-output": "different output",
    "machine-went-down": "machine down",
    "did-not-come-up": "no boot",
}


def failures(reasons: dict[str, int]) -> str:
    """Return how often runs failed for each reason."""
    return ", ".join(f"{count} × {_WAYS[reason]}" for reason, count in reasons.items())


def counts(tally: Tally, unit: str = "run") -> str:
    """Return the counts of an arm as they stand after `it failed`."""
    runs = f"{tally.runs} {unit}{'s' if tally.runs != 1 else ''}"
    return f"in {tally.failures or 'none'} of {runs}"


def progress(design: Design, tallies: dict[int, Tally]) -> str:
    """Return the failures so far, as they stand in a line of progress; empty before the first counted run."""
    control, others = tallies.get(CONTROL), [tally for arm, tally in tallies.items() if arm != CONTROL]
    failed = [f"without {control.failures}/{control.runs}"] if control else []
    if others:
        with_settings = "with some" if design.kind in ("which", "drop") else "with"
        failed.append(f"{with_settings} {sum(t.failures for t in others)}/{sum(t.runs for t in others)}")
    return f" · failed: {', '.join(failed)}" if failed else ""


def sentence(evidence: Evidence) -> str:
    """Return the sentence on a try; empty while it is not over."""
    finding = evidence.finding
    if finding is None:
        return ""
    if finding.verdict == "undecided":
        return f"Undecided: {_OBSTACLES[finding.obstacle](evidence)}"
    kinds = {"cure": _cure, "which": _which, "drop": _drop, "cost": _cost, "reboots": _cure}
    words = kinds[evidence.design.kind]
    return words(evidence, finding) + (_price(evidence) if finding.verdict == "cures" else "")


def _cure(evidence: Evidence, finding: Finding) -> str:
    design, (control, treatment) = evidence.design, (evidence.of(CONTROL), evidence.measured)
    what = names(design, finding.arm)
    if finding.verdict == "not-reproduced":
        return _not_reproduced(evidence)
    unit = evidence.unit
    seen = f"the program failed {counts(control, unit)} without"
    seen += f", and {counts(treatment, unit)} with {'it' if finding.arm & (finding.arm - 1) == 0 else 'them'}"
    seen += _got_nowhere(evidence)
    cures = "cure" if finding.arm & (finding.arm - 1) else "cures"
    if finding.verdict == "cures":
        return f"{what} {cures} the fault here: {seen}; {_at_most(evidence, 'still fail')}."
    if finding.verdict == "worse":
        return f"{what} {'make' if cures == 'cure' else 'makes'} it worse here: {seen}."
    return f"{what} {'do' if cures == 'cure' else 'does'} not cure the fault here: {seen}."


def _at_most(evidence: Evidence, fail: str) -> str:
    """Return the clause on the highest rate of failure that the runs do not exclude."""
    runs = f"{evidence.bound:.0f} % of {evidence.unit}s"
    return f"at most {runs} {fail} ({evidence.design.confidence} % confidence)"


def _got_nowhere(evidence: Evidence) -> str:
    """Return the clause on treatment boots that got nowhere, which count as failures; empty without any."""
    boots = sum(n for reason, n in evidence.reasons.items() if reason.startswith("did-not-come-up"))
    if not boots:
        return ""
    return f" ({boots} boot{'s' if boots != 1 else ''} with the settings did not come up)"


def _which(evidence: Evidence, finding: Finding) -> str:
    if finding.verdict != "no-effect":
        return _cure(evidence, finding)
    runs = sum(tally.runs for arm, tally in evidence.tallies.items() if arm)
    failures = sum(tally.failures for arm, tally in evidence.tallies.items() if arm)
    sets = {2: "nor both together", 3: "nor two or three of them together"}
    together = sets.get(len(evidence.design.settings), "nor any two or three of them together")
    return (
        f"None of these settings cures the fault here, {together}: the program failed "
        f"{counts(evidence.of(CONTROL))} without, and {counts(Tally(runs, failures))} with some of them."
    )


def _drop(evidence: Evidence, finding: Finding) -> str:
    design = evidence.design
    every, is_single = names(design, design.all), len(design.settings) == 1
    without = "without it" if is_single else "without any of them"
    if finding.arm == CONTROL:
        control = evidence.of(CONTROL)
        none = f"{every} is not" if is_single else f"None of {every} is"
        return (
            f"{none} needed here: {without} the program failed "
            f"{counts(control)}; {_at_most(evidence, 'fail')}."
        )
    kept, gone = names(design, finding.arm), names(design, design.all & ~finding.arm)
    with_kept = counts(evidence.measured)
    seen = f"the program failed {counts(evidence.of(CONTROL))} {without}, and {with_kept}"
    if finding.verdict == "needed" and is_single:
        return f"{kept} is needed here: {seen} with it."
    if finding.verdict == "needed":
        return f"Each of {kept} is needed here: {seen} with all of them; it failed when one was left out."
    at_most = _at_most(evidence, "fail")
    return f"You can drop {gone} here, and need {kept}: {seen} with only {kept}; {at_most}."


def _cost(evidence: Evidence, finding: Finding) -> str:
    price, what = evidence.price, names(evidence.design, finding.arm)
    assert price is not None
    times = f"a run takes {price.ratio:.2f} times as long"
    within = f" ({price.low:.2f} to {price.high:.2f})" if price.low and price.high else ""
    pairs = f"in {evidence.design.pairs} pairs of runs"
    if finding.verdict == "no-effect":
        return f"With {what} {times}{within} {pairs}: this shows no difference."
    return f"With {what} {times}{within} {pairs}."


def _not_reproduced(evidence: Evidence) -> str:
    control = evidence.of(CONTROL)
    runs = f"{control.runs} {evidence.unit}s"
    return (
        f"The fault did not appear in {runs} without settings, so the try shows nothing: "
        f"{_at_most(evidence, 'fail')}."
    )


def _price(evidence: Evidence) -> str:
    """Return the sentence on the price, which says no more than was measured: no interval, no difference."""
    price = evidence.price
    if price is None or evidence.finding is None:
        return ""
    them = "the setting" if evidence.finding.arm & (evidence.finding.arm - 1) == 0 else "the settings"
    if price.low is None and abs(price.ratio - 1) < _NOTABLE:
        return f" The runs that ended well took about as long with {them} as without."
    return f" The runs that ended well took {price.ratio:.2f} times as long with {them} as without."


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
    what = "runs are" if evidence.finding and evidence.finding.obstacle == "runs" else "time is"
    return f"the allowed {what} used up. The program failed {seen or 'in no counted run'}."


def _not_confirmed(evidence: Evidence) -> str:
    assert evidence.finding is not None
    return (
        f"with only {names(evidence.design, evidence.finding.arm)} the program failed again: it failed "
        f"{counts(evidence.of(evidence.finding.arm))}."
    )


def _fails_with_all(evidence: Evidence) -> str:
    return (
        f"the program fails with all of {names(evidence.design, evidence.design.all)} as well: they "
        f"do not cure the fault, so the try cannot show which of them is needed."
    )


def _too_few(_: Evidence) -> str:
    return (
        "the program failed too often to compare times. First find out whether the settings cure the fault."
    )


def _so_far(evidence: Evidence) -> str:
    control, treatment = evidence.of(CONTROL), evidence.of(evidence.design.all)
    if not control.runs and not treatment.runs:
        return "No boot counts yet."
    seen = f"The program failed {counts(control, 'boot')} without, and {counts(treatment, 'boot')} with"
    return f"{seen} {names(evidence.design, evidence.design.all)}{_got_nowhere(evidence)}."


def _rarer(evidence: Evidence) -> str:
    makes = "make" if len(evidence.design.settings) > 1 else "makes"
    what, bound = names(evidence.design, evidence.design.all), f"{evidence.bound:.0f} %"
    seen = _so_far(evidence)
    return f"{what} {makes} the fault rarer here, but at most {bound} of boots still fail. {seen}"


def _few_boots(evidence: Evidence) -> str:
    control, design = evidence.of(CONTROL), evidence.design
    wanted = boots_wanted(control.failures / control.runs, design.error)
    more = f" --reboots {wanted} would probably decide it." if wanted > design.boots else ""
    return f"chance alone may do this, as the fault is not frequent enough. {_so_far(evidence)}{more}"


def _lost_boots(evidence: Evidence) -> str:
    return f"too many boots had to be repeated. {_so_far(evidence)}"


def _control_down(evidence: Evidence) -> str:
    return (
        "two boots without the settings went down or got nowhere. This machine is not fit for a try; if the "
        f"fault takes it down, begin again with --crashed. {_so_far(evidence)}"
    )


def _host_changed(evidence: Evidence) -> str:
    return f"somebody changed the boot files of this host meanwhile. {_so_far(evidence)}"


def _ended(evidence: Evidence) -> str:
    return f"it was ended before its last boot. {_so_far(evidence)}"


_OBSTACLES = {
    "rarer": _rarer,
    "boots": _few_boots,
    "lost-boots": _lost_boots,
    "control-down": _control_down,
    "host-changed": _host_changed,
    "ended": _ended,
    "drift": _drifted,
    "runs": _out_of_runs,
    "time": _out_of_runs,
    "not-confirmed": _not_confirmed,
    "fails-with-all": _fails_with_all,
    "too-few": _too_few,
}


_WHY_LOST = {
    "went-down": "the machine went down during the run",
    "shut-down": "the host was shut down before the run had ended",
    "cut-off": "rocmcfg was ended during the run",
    "not-begun": "the boot loader did not begin it",
    "other-kernel": "another kernel was booted",
    "other-values": "the values of the kernel were not those of the boot",
    "did-not-come-up": "it got nowhere",
}


def _repeated(evidence: Evidence) -> str:
    """Return the sentence on boots that do not count."""
    number = sum(count for _, count in evidence.lost)
    reasons = "; ".join(f"{_WHY_LOST[why]} ({count})" for why, count in evidence.lost)
    return f"{number} boot{'s' if number != 1 else ''} did not count: {reasons}."


def _restored(differing: tuple[str, ...]) -> str:
    if not differing:
        return "Each boot file of this host was compared, and is byte for byte what it was before."
    shown = ", ".join(differing[:_SHOWN]) + (" and more" if len(differing) > _SHOWN else "")
    return (
        f"These boot files are not what they were before the try: {shown}. rocmcfg has taken back what it "
        "wrote; the rest was changed by others."
    )


def advice(evidence: Evidence) -> tuple[str, ...]:
    """Return what the reader should look at next or first."""
    finding = evidence.finding
    pieces = [MEMORY] if evidence.hardware else []
    pieces += [STAYS] if evidence.left_behind else []
    pieces += [_repeated(evidence)] if evidence.lost else []
    if evidence.differing is not None:
        pieces.append(_restored(evidence.differing))
    if finding is None:
        return tuple(pieces)
    if any(reason.startswith("different-output") for reason in evidence.reasons):
        pieces.append(_COMPARED)
    if evidence.every_run_failed:
        pieces.append(_ALWAYS)
    if finding.verdict == "cures" and evidence.measured.runs < evidence.of(finding.arm).runs:
        pieces.append(
            f"The sentence counts only the {evidence.measured.runs} runs that confirmed what the search "
            "found; the table counts all runs."
        )
    if finding.verdict == "not-reproduced" or finding.obstacle in ("runs", "time"):
        pieces.append(FREQUENT)
    return tuple(pieces)
