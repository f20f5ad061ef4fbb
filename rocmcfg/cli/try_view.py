"""Carry a try out for `try` and `tries resume`, and print what it found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta

from rocmcfg.cli.printer import Printer
from rocmcfg.experiments.course import Course
from rocmcfg.experiments.statistics import expected_runs
from rocmcfg.host.local import LocalHost
from rocmcfg.host.user_state import UserState
from rocmcfg.model.diagnostic import Diagnostic, fail
from rocmcfg.model.experiment import Step
from rocmcfg.records.tries import Try
from rocmcfg.workflow import try_words, trying
from rocmcfg.workflow.one_run import Stopped
from rocmcfg.workflow.try_report import TryReport, name_of, report


def document_of(attempt: Try) -> TryReport:
    """Return the report of a try."""
    return report(attempt)


def say_what_comes(printer: Printer, attempt: Try) -> None:
    """Say how long it may take, before the first run."""
    design, number = attempt.begun.design, attempt.number
    printer.line(f"Try {number}: {_QUESTIONS[design.kind]} {try_words.names(design, design.all)}")
    if design.kind == "cost":
        printer.wrapped(f"{2 * design.pairs + 2 * design.warm_up} runs, each as long as yours.", "")
    else:
        few, many = (expected_runs(rate, design.error) for rate in (0.5, 0.05))
        printer.wrapped(
            f"About {few} runs if every second run fails, and {many} if every twentieth does; "
            f"at most {design.most_runs}. A more frequent fault needs fewer runs: run longer, "
            "loop inside the program, or start several at once.",
            "",
        )
    if attempt.begun.without:
        names = ", ".join(attempt.begun.without)
        printer.wrapped(f"{names}: already set in this shell; the control runs do not have it.", "")
    printer.wrapped(
        "If bad memory is possible, run memtest_vulkan first: no setting cures it. Ctrl-C loses no run: "
        f"`rocmcfg tries resume {number}` continues.",
        "",
    )


_QUESTIONS = {
    "cure": "does it cure?",
    "drop": "which can go?",
    "which": "which is it?",
    "cost": "what does it cost?",
}


def carry_out(
    printer: Printer,
    host: LocalHost,
    state: UserState,
    attempt: Try,
    remarks: Sequence[Diagnostic] = (),
) -> None:
    """Run the try to its end, and print what it found after these remarks."""
    resume = f"rocmcfg tries resume {attempt.number}"

    def watch(course: Course, step: Step) -> None:
        design = attempt.design
        times = [outcome.microseconds for outcome in course.outcomes]
        left = step.most * sum(times) / len(times) / 1e6 if times else 0
        counted = ", ".join(
            f"{name_of(design, arm)} {tally.failures}/{tally.runs}"
            for arm, tally in course.counted.tallies.items()
        )
        at_most = f"at most {step.most} left" + (f" ({timedelta(seconds=round(left))})" if left >= 1 else "")
        failed = f" · failed: {counted}" if counted else ""
        printer.progress(f"run {len(course.outcomes) + 1} ({step.purpose}){failed} · {at_most}")

    remarks = (*remarks, *trying.blindness(host, attempt))
    printer.problems(remarks)
    echo = 2 if printer.verbose else None
    try:
        made = trying.go_on(host, state, attempt, dict(os.environ), watch, echo)
    except (Stopped, KeyboardInterrupt):
        printer.end_progress()
        summary = f"stopped; try {attempt.number} keeps the runs so far"
        raise fail("RC4515", summary, hint=f"`{resume}` continues it") from None
    printer.document(remarks, made)
    show(printer, made)


def show(printer: Printer, made: TryReport, *, under_way: bool = False) -> None:
    """Print a try. `under_way`: it goes on by itself."""
    printer.line()
    if made.sentence:
        printer.paragraph(made.sentence)
    elif under_way and made.boots is not None:
        done, every = sum(made.runs.values()), 2 * made.boots.of_each_arm
        printer.wrapped(f"Try {made.name} is under way, and goes on by itself: {done} of {every} boots.", "")
    else:
        sudo = "sudo " if made.boots is not None else ""
        printer.wrapped(
            f"Try {made.name} has not ended: `{sudo}rocmcfg tries resume {made.name}` continues it.", ""
        )
    for advice in made.advice:
        printer.paragraph(advice)
    printer.line()
    rows = [
        (
            arm.name,
            str(arm.runs),
            str(arm.failures),
            f"{arm.most:.0f} %",
            f"{arm.seconds:.3g} s" if arm.seconds is not None else "",
            try_words.failures(arm.reasons),
        )
        for arm in made.arms
    ]
    printer.table(("ARM", "BOOTS" if made.boots else "RUNS", "FAILED", "AT MOST", "TIME", "FAILURES"), rows)
    if made.kept:
        printer.wrapped(
            f"Output and kernel messages of the first failures: {os.path.dirname(made.kept[0])}", ""
        )
    if made.apply:
        printer.line()
        printer.to_copy("To keep it:", made.apply)
    printer.wrapped(f"For a tracker: rocmcfg tries show {made.name} --tracker", "")
