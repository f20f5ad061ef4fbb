"""`rocmcfg history`: every transaction, newest first."""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer
from rocmcfg.model.published import published
from rocmcfg.model.trial import Outcome
from rocmcfg.records.steps import FileChanged, Journal, JournalState
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


@published(
    "transaction=journal.id",
    "time=journal.header.time",
    "user=journal.header.user",
    "profiles=journal.header.profiles",
    "settings=journal.header.settings",
    "files",
    "state=journal.state",
    "trial",
)
class Transaction(NamedTuple):
    """`files` are those that it changed."""

    journal: Journal
    trial: PastTrial | None

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.path for step in self.journal.of(FileChanged)))


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
    rows = tuple(Transaction(one, past_trial(host, one, journals)) for one in journals)
    printer.document((), HistoryDocument(rows))
    if not rows:
        printer.line("No transaction yet.")
        return
    cells = []
    for row in rows:
        header, when = row.journal.header, row.journal.header.time.replace("T", " ")[:16]
        profiles = ",".join(header.profiles) or "-"
        cells.append((str(row.journal.id), when, header.user, profiles, _state(row)))
    printer.table(("N", "TIME (UTC)", "BY", "PROFILES", "STATE"), cells)
    for row in rows if printer.verbose else ():
        printer.heading(f"Transaction {row.journal.id}")
        printer.wrapped(", ".join(row.journal.header.settings) or "no settings")
        for reason in row.trial.withheld if row.trial else ():
            printer.wrapped(f"did not confirm itself: {reason}")
        if row.trial and row.trial.evidence:
            printer.wrapped(row.trial.evidence.text)
            for line in row.trial.evidence.lines:
                printer.line(f"    {line}")
        for path in row.files:
            printer.line(f"  {path}")


def _state(row: Transaction) -> str:
    state = row.journal.state
    if row.trial is None or state is JournalState.UNFINISHED:
        return state.value.replace("_", " ")
    outcome = row.trial.outcome
    back = outcome is Outcome.CONFIRMED and state is JournalState.ROLLED_BACK
    return _OUTCOMES[outcome] + (", rolled back" if back else "")
