"""Describe a try as Markdown for an issue tracker."""

from __future__ import annotations

import os
import shlex

import rocmcfg
from rocmcfg.workflow.try_report import TryReport
from rocmcfg.workflow.try_words import failures

_OF_BOOTS = "Each boot counts once, by its first run; boots alternated between the arms."


def text(made: TryReport) -> str:
    """Return the report as Markdown. Only the name of the program is in it, not its folder or arguments."""
    program = os.path.basename(made.program[0])
    lines = [
        f"**{made.sentence or 'Not over.'}**",
        "",
        f"| arm | settings | {'boots' if made.boots else 'runs'} | failed | at most | failures |",
        "|---|---|---|---|---|---|",
    ]
    for arm in made.arms:
        settings = " ".join(f"`{setting}`" for setting in arm.settings) or "none"
        counted = f"{arm.runs} | {arm.failures} | {arm.most:.0f} %"
        lines.append(f"| {arm.name} | {settings} | {counted} | {failures(arm.reasons)} |")
    lines += [
        "",
        f"Program: `{shlex.quote(program)}`. Bounds have {made.confidence} % confidence, one-sided. "
        + (_OF_BOOTS if made.boots else "Warm-up runs are not counted."),
    ]
    if made.faults:
        lines.append(f"The kernel logged: {', '.join(made.faults)} (numbers of `rocmcfg explain`).")
    lines.append(f"Measured with `rocmcfg try` {rocmcfg.__version__}, {made.began[:10]}.")
    return "\n".join(lines) + "\n"
