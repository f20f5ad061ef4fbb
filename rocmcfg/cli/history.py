"""`rocmcfg history`: every transaction, newest first."""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer
from rocmcfg.model.trial import Outcome
from rocmcfg.records.steps import FileChanged, JournalState
from rocmcfg.trial.standing import PastTrial, past_trial

_OUTCOMES = {
    Outcome.ARMED: "trial: waits for the next boot",
    Outcome.RUNNING: "trial: is this boot",
    Outcome.OVER: "trial: over",
    Outcome.CONFIRMED: "tried, confirmed",
    Outcome.NOT_CONFIRMED: "tried, not confirmed",
    Outcome.NOT_TRIED: "trial, never begun",
    Outcome.REJECTED: "trial, rejected",
}


class Transaction(NamedTuple):
    """`files` are those that it changed."""

    transaction: int
    time: str
    user: str
    profiles: tuple[str, ...]
    settings: tuple[str, ...]
    files: tuple[str, ...]
    state: JournalState
    trial: PastTrial | None


class HistoryDocument(NamedTuple):
    transactions: tuple[Transaction, ...]


def history(printer: Printer, root: str = opt.ROOT) -> None:
    """List the transactions: who, when, what, and whether each was taken back."""
    import os

    from rocmcfg.model.diagnostic import fail
    from rocmcfg.records.journal import read_all

    host = hosts.open_host(printer, root)
    if not host.offline and os.geteuid() != 0:
        raise fail("RC3025", "the journals are readable by root only", hint="sudo rocmcfg history")
    journals = read_all(host)
    rows = tuple(
        Transaction(
            one.id,
            one.header.time,
            one.header.user,
            one.header.profiles,
            one.header.settings,
            tuple(dict.fromkeys(step.path for step in one.of(FileChanged))),
            one.state,
            past_trial(host, one, journals),
        )
        for one in journals
    )
    printer.document((), HistoryDocument(rows))
    if not rows:
        printer.line("No transaction yet.")
        return
    cells = [
        (
            str(row.transaction),
            row.time.replace("T", " ")[:16],
            row.user,
            ",".join(row.profiles) or "-",
            _state(row),
        )
        for row in rows
    ]
    printer.table(("N", "TIME (UTC)", "BY", "PROFILES", "STATE"), cells)
    for row in rows if printer.verbose else ():
        printer.heading(f"Transaction {row.transaction}")
        printer.wrapped(", ".join(row.settings) or "no settings")
        for reason in row.trial.withheld if row.trial else ():
            printer.wrapped(f"did not confirm itself: {reason}")
        if row.trial and row.trial.evidence:
            printer.wrapped(row.trial.evidence.text)
            for line in row.trial.evidence.lines:
                printer.line(f"    {line}")
        for path in row.files:
            printer.line(f"  {path}")


def _state(row: Transaction) -> str:
    if row.trial is None or row.state is JournalState.UNFINISHED:
        return row.state.value.replace("_", " ")
    outcome = row.trial.outcome
    back = outcome is Outcome.CONFIRMED and row.state is JournalState.ROLLED_BACK
    return _OUTCOMES[outcome] + (", rolled back" if back else "")
