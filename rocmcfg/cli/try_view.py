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
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error, fail
from rocmcfg.model.experiment import Step
from rocmcfg.records.tries import Try
from rocmcfg.workflow import try_words, trying
from rocmcfg.workflow.one_run import Stopped
from rocmcfg.workflow.try_report import TryReport, report


def document_of(attempt: Try) -> TryReport:
    """Return the report of a try."""
    return report(attempt)


def say_what_comes(printer: Printer, attempt: Try) -> None:
    """Say how long it may take, before the first run."""
    design, number = attempt.begun.design, attempt.number
    question = _QUESTIONS[design.kind].format(try_words.names(design, design.all))
    printer.paragraph(f"Try {number}: {question}")
    if design.kind == "cost":
        printer.wrapped(f"The program runs {2 * design.pairs + 2 * design.warm_up} times.", "")
    else:
        few, many = (expected_runs(rate, design.error) for rate in (0.5, 0.05))
        printer.wrapped(
            f"About {few} runs if every second run fails, and {many} if every twentieth does; "
            f"at most {design.most_runs}. A more frequent fault needs fewer runs: run longer, "
            "loop inside the program, or start several at once.",
            "",
        )
    likely = [s.name for s, weight in zip(design.settings, design.weights, strict=False) if weight > 1]
    if likely:
        printer.wrapped(f"Looked at first, because of the kernel's log: {', '.join(likely)}.", "")
    if attempt.begun.without and design.kind != "drop":
        names = ", ".join(attempt.begun.without)
        printer.wrapped(f"Already set in this shell, and taken away for the runs without: {names}.", "")
    memory = "If bad memory is possible, run memtest_vulkan first: no setting cures it. "
    printer.wrapped(
        f"{memory if design.kind != 'cost' else ''}Ctrl-C loses no run: `rocmcfg tries resume {number}` "
        "continues.",
        "",
    )


_QUESTIONS = {
    "cure": "does {} cure the fault?",
    "drop": "can {} go?",
    "which": "which cures the fault: {}?",
    "cost": "what does {} cost?",
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
    summary = f"stopped; try {attempt.number} keeps the runs so far"

    def watch(course: Course, step: Step) -> None:
        design = attempt.design
        times = [outcome.microseconds for outcome in course.outcomes]
        left = step.most * sum(times) / len(times) / 1e6 if times else 0
        counted = try_words.progress(design, course.counted.tallies)
        at_most = f"at most {step.most} left" + (f" ({timedelta(seconds=round(left))})" if left >= 1 else "")
        arm = "with" if step.arm else "without"
        printer.progress(f"run {len(course.outcomes) + 1} ({arm}){counted} · {at_most}")

    remarks = (*remarks, *trying.blindness(host, attempt))
    printer.problems(remarks)
    echo = 2 if printer.verbose else None
    try:
        made = trying.go_on(host, state, attempt, dict(os.environ), watch, echo)
    except (Stopped, KeyboardInterrupt):
        printer.end_progress()
        raise fail("RC4515", summary, hint=f"`{resume}` continues it") from None
    except RocmcfgError as problem:
        printer.end_progress()
        if attempt.number not in state.numbers():
            raise
        kept = error("RC4515", summary, hint=f"`{resume}` continues it")
        raise RocmcfgError(*problem.diagnostics, kept, exit_code=problem.exit_code) from problem
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
            " ".join(arm.settings) or "none",
            str(arm.runs),
            str(arm.failures),
            f"{arm.most:.0f} %",
            f"{arm.seconds:.3g} s" if arm.seconds is not None else "",
            try_words.failures(arm.reasons),
        )
        for arm in made.arms
    ]
    if rows:
        unit = "BOOTS" if made.boots else "RUNS"
        printer.table(("SETTINGS", unit, "FAILED", "AT MOST", "TIME", "FAILURES"), rows)
    if made.kept:
        folder = os.path.dirname(made.kept[0])
        printer.wrapped(f"Output and kernel messages of the first failures: {folder}", "")
    if made.apply:
        printer.line()
        printer.to_copy("To keep it:", made.apply)
    if made.obstacle in ("runs", "time"):
        more = "--runs N" if made.obstacle == "runs" else "--budget TIME"
        printer.wrapped(f"To allow more: rocmcfg tries resume {made.name} {more}", "")
    if rows:
        sudo = "sudo " if made.boots is not None else ""
        printer.wrapped(f"For a tracker: {sudo}rocmcfg tries show {made.name} --tracker", "")
