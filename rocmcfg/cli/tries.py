"""Commands `tries list`, `show`, `resume` and `forget`: look after earlier tries."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.cli.run_options import allowed_runs, whole_seconds
from rocmcfg.host.user_state import UserState, user_state
from rocmcfg.model.diagnostic import fail

if TYPE_CHECKING:
    from rocmcfg.records.tries import Try

_NUMBER = opt.argument("TRY", "The number of the try; the newest if absent.", "free", required=False)


def _chosen(state: UserState, text: str) -> Try:
    """Return the try of a number, the newest for no text. Raises Misuse or RocmcfgError."""
    if text and not re.fullmatch(r"[1-9][0-9]{0,8}", text, re.ASCII):
        raise Misuse(f"{text!r} is not the number of a try", hint="`rocmcfg tries list` shows them")
    from rocmcfg.records import tries as records

    numbers = state.numbers()
    if not text and not numbers:
        raise fail("RC4503", "there is no try yet", hint="rocmcfg try --set env.NAME=VALUE -- PROGRAM")
    return records.load(state, int(text) if text else numbers[-1])


def list_tries(printer: Printer) -> None:
    """List your tries, oldest first."""
    from rocmcfg.workflow import trying
    from rocmcfg.workflow.try_report import TryListDocument, report, row

    loaded, problems = trying.every(user_state(os.environ, "tries"))
    made = [row(report(attempt)) for attempt in loaded]
    printer.document(problems, TryListDocument(tuple(made)))
    rows = [
        (
            str(each.number),
            each.began[:16].replace("T", " "),
            each.verdict or "not over",
            " ".join(each.settings) or "none",
            shlex.join(each.program),
        )
        for each in made
    ]
    if rows:
        printer.table(("TRY", "BEGAN (UTC)", "VERDICT", "SETTINGS", "PROGRAM"), rows)
    elif not problems:
        printer.line("No tries yet: rocmcfg try --set env.NAME=VALUE -- PROGRAM")
    printer.problems(problems)


def show(
    printer: Printer,
    *,
    number: str = _NUMBER,
    tracker: bool = opt.switch("--tracker", help="Print it as Markdown for an issue tracker."),
) -> None:
    """Show a try: its verdict and its counts."""
    from rocmcfg.cli import try_view
    from rocmcfg.workflow import try_tracker
    from rocmcfg.workflow.try_report import report

    state = user_state(os.environ, "tries")
    made = report(_chosen(state, number))
    printer.document((), made)
    if tracker:
        printer.result(try_tracker.text(made))
    else:
        printer.line(
            f"Try {made.number} of {made.began[:16].replace('T', ' ')} UTC: {shlex.join(made.program)}"
        )
        try_view.show(printer, made)


def resume(
    printer: Printer,
    *,
    number: str = _NUMBER,
    crashed: bool = opt.switch(
        "--crashed", help="Count the run during which the machine went down as failed."
    ),
    runs: int | None = opt.TRY_RUNS,
    budget: str = opt.TRY_BUDGET,
) -> None:
    """Go on with a try that was interrupted."""
    from rocmcfg.cli import try_view
    from rocmcfg.workflow import trying

    host = hosts.open_host(printer, "/")
    state = user_state(os.environ, "tries")
    with state.locked():
        attempt = _chosen(state, number)
        attempt, remarks = trying.take_up(
            host,
            state,
            attempt,
            dict(os.environ),
            crashed=crashed,
            most_runs=allowed_runs(runs),
            most_seconds=whole_seconds(budget, "--budget"),
        )
        try_view.carry_out(printer, host, state, attempt, remarks)


def forget(printer: Printer, *, number: str = opt.argument("TRY", "The number of the try.", "free")) -> None:
    """Remove a try and what was kept of it."""
    from rocmcfg.workflow.try_report import ForgottenDocument

    state = user_state(os.environ, "tries")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number, re.ASCII):
        raise Misuse(f"{number!r} is not the number of a try", hint="`rocmcfg tries list` shows them")
    with state.locked():
        if int(number) not in state.numbers():
            raise fail("RC4503", f"there is no try {number}", hint="`rocmcfg tries list` shows them")
        state.remove(int(number))
    printer.document((), ForgottenDocument(int(number)))
    printer.line(f"Removed: try {number}.")
