"""Commands `tries list`, `show`, `resume` and `forget`: look after earlier tries."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts, rebooting
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.cli.rebooting import root_tries
from rocmcfg.cli.run_options import allowed_runs, whole_seconds
from rocmcfg.host.user_state import UserState, user_state
from rocmcfg.model.diagnostic import cut, fail

if TYPE_CHECKING:
    from rocmcfg.records.tries import Try

_NUMBER = opt.argument(
    "TRY",
    "The number of the try, R1 and so on for one with reboots; the newest if absent.",
    "free",
    required=False,
)


def _place(printer: Printer, text: str) -> tuple[UserState, int | None]:
    """Return the tries that a number belongs to, and the number; None for no text. Raises Misuse, or
    RocmcfgError for tries with reboots where the caller is not root."""
    match = re.fullmatch(r"([Rr]?)([1-9][0-9]{0,8})", text, re.ASCII) if text else None
    if text and match is None:
        raise Misuse(f"{text!r} is not the number of a try", hint="`rocmcfg tries list` shows them")
    if match is not None and match[1]:
        return root_tries(hosts.open_host(printer, "/")), int(match[2])
    own = user_state(os.environ, "tries")
    if match is None and (host := hosts.open_host(printer, "/")).is_root and not own.numbers():
        return root_tries(host), None
    return own, int(match[2]) if match is not None else None


def _chosen(state: UserState, number: int | None) -> Try:
    """Return the try of a number, the newest for none. Raises RocmcfgError."""
    from rocmcfg.records import tries as records

    numbers = state.numbers()
    if number is None and not numbers:
        raise fail("RC4503", "there is no try yet", hint="rocmcfg try --set env.NAME=VALUE -- PROGRAM")
    return records.load(state, numbers[-1] if number is None else number)


def list_tries(printer: Printer) -> None:
    """List your tries, oldest first."""
    from rocmcfg.workflow import trying
    from rocmcfg.workflow.try_report import TryListDocument, report, row

    host = hosts.open_host(printer, "/")
    loaded, problems = trying.every(user_state(os.environ, "tries"))
    if host.is_root:
        with_reboots, more = trying.every(root_tries(host))
        loaded, problems = [*loaded, *with_reboots], [*problems, *more]
    made = [row(report(attempt)) for attempt in loaded]
    printer.document(problems, TryListDocument(tuple(made)))
    for each in made:
        began = each.began[:16].replace("T", " ")
        printer.paragraph(f"{each.name}  {began} UTC  {cut(shlex.join(each.program))}")
        printer.wrapped(each.sentence or f"Not over yet: {' '.join(each.settings)}", indent="    ")
    if not made and not problems:
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

    state, wanted = _place(printer, number)
    made = report(_chosen(state, wanted))
    printer.document((), made)
    if tracker:
        printer.result(try_tracker.text(made))
    else:
        printer.line(
            f"Try {made.name} of {made.began[:16].replace('T', ' ')} UTC: {shlex.join(made.program)}"
        )
        try_view.show(printer, made, under_way=state.of_root and rebooting.goes_on(printer, made.number))


def resume(
    printer: Printer,
    *,
    number: str = _NUMBER,
    crashed: bool = opt.switch(
        "--crashed", help="Count the run during which the machine went down as failed."
    ),
    runs: int | None = opt.TRY_RUNS,
    budget: str = opt.TRY_BUDGET,
    yes: bool = opt.YES,
) -> None:
    """Go on with a try that was interrupted."""
    from rocmcfg.cli import try_view
    from rocmcfg.workflow import trying

    host = hosts.open_host(printer, "/")
    state, wanted = _place(printer, number)
    if state.of_root and state.numbers():
        if crashed or runs is not None or budget:
            raise Misuse("--crashed, --runs and --budget do not go with a try with reboots")
        rebooting.resume(printer, host, wanted or state.numbers()[-1], yes)
        return
    with state.locked():
        attempt = _chosen(state, wanted)
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

    state, wanted = _place(printer, number)
    if wanted is None:
        raise Misuse("name a try to forget", hint="`rocmcfg tries list` shows them")
    if state.of_root:
        rebooting.stop_if_under_way(hosts.open_host(printer, "/"), printer, wanted)
    with state.locked():
        if wanted not in state.numbers():
            raise fail("RC4503", f"there is no try {number}", hint="`rocmcfg tries list` shows them")
        state.remove(wanted)
    printer.document((), ForgottenDocument(wanted))
    printer.line(f"Removed: try {number}.")
