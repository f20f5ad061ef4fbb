"""Commands `rollback`, `reject` and `recover`: roll back applied settings, a trial, or an interrupted
transaction. Command `history`: list all transactions, newest first."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from rocmcfg.change.trial.standing import PastTrial, past_trial
from rocmcfg.cli import hosts, rebooting
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.host import interrupts
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.trial import Outcome
from rocmcfg.records import reboots
from rocmcfg.records.journal import read_all
from rocmcfg.records.receipt import load_quietly
from rocmcfg.records.steps import FileChanged, Journal, JournalState

if TYPE_CHECKING:
    from rocmcfg.change.transaction.undo import Undo

_NOTHING = "Nothing to roll back: no transaction is applied."
_FORCE = opt.switch("--force", help="Overwrite edits made to rocmcfg's files.")


def rollback(
    printer: Printer,
    *,
    to: int | None = opt.number(
        "--to", metavar="N", help="Go back to the state after transaction N.", takes="transaction"
    ),
    pristine: bool = opt.switch("--pristine", "--all", help="Undo everything that rocmcfg ever wrote."),
    force: bool = _FORCE,
    dry_run: bool = opt.switch("--dry-run", help="Show what it would do, and change nothing."),
    diff: bool = opt.DIFF,
    yes: bool = opt.YES,
    place: opt.TargetHost = opt.TargetHost(),
) -> None:
    """Undo the last transaction.

    Files are restored byte for byte, then the boot menu and images are rebuilt.
    """
    from rocmcfg.change.transaction.undo import plan_rollback
    from rocmcfg.workflow import undoing

    if pristine and to is not None:
        raise Misuse("--to and --pristine exclude each other")
    host = hosts.open_host(printer, *place)
    question = "" if yes or dry_run else "rollback --dry-run"
    hosts.require_rights(printer, host, changes=not dry_run, question=question)
    to = 0 if pristine else to
    if dry_run:
        planned = plan_rollback(host, to=to, force=force)
        if not planned.journals and not planned.activations:
            _say(printer, planned, _NOTHING, host)
            return
        printer.document(planned.diagnostics, planned)
        _show(printer, planned, True)
        printer.line("Dry run: nothing was changed.")
        return
    ask = hosts.asking(printer, host, yes, partial(_show, diff=diff), "Roll back?", "rollback --dry-run")
    undone = undoing.rollback(host, to=to, force=force, confirm=ask, progress=printer.progress)
    _say(printer, hosts.agreed(printer, undone, "Nothing was changed."), _NOTHING, host)


def reject(
    printer: Printer,
    *,
    force: bool = opt.switch("--force", help="Overwrite edits made to the trial's files."),
    yes: bool = opt.YES,
    place: opt.TargetHost = opt.TargetHost(),
) -> None:
    """Drop the trial.

    The next boot is as before the trial; a running trial boot keeps its settings.
    """
    from rocmcfg.workflow import undoing

    host = hosts.open_host(printer, *place)
    compares = host.is_root and reboots.under_way(host) is not None
    needless = yes or not (undoing.has_trial(host) or compares)  # the question
    hosts.require_rights(printer, host, question="" if needless else "status")
    ask = hosts.asking(printer, host, needless, _show, "Drop this trial?", "status")
    nothing = "Nothing to reject: no trial is on record."
    if compares and (yes or printer.ask("End the try that compares boots of this host?")):
        nothing = rebooting.stop_if_under_way(host, printer)
    rejected = undoing.reject(host, ask, printer.progress, force=force)
    undone = hosts.agreed(printer, rejected, "Nothing was changed: the trial stays.")
    _say(printer, undone, nothing, host)


def recover(
    printer: Printer, *, force: bool = _FORCE, yes: bool = opt.YES, place: opt.TargetHost = opt.TargetHost()
) -> None:
    """Undo an interrupted transaction.

    Safe to run at any time.
    """
    from rocmcfg.workflow import undoing

    del yes  # it asks nothing; --yes is accepted because other commands need it
    host = hosts.open_host(printer, *place)
    hosts.require_rights(printer, host)
    printer.may_change(host)
    interrupts.heed()
    undone = undoing.recover(host, force=force, progress=printer.progress)
    printer.end_progress()
    _say(printer, undone, "Nothing to recover: no transaction was interrupted.", host)


def _show(printer: Printer, planned: Undo, diff: bool = False) -> None:
    from rocmcfg.cli import plan_view

    if planned.journals:
        several = "s" if planned.journals[1:] else ""
        printer.line(f"Undo of transaction{several} {', '.join(map(str, planned.transactions))}")
    rows = [("rolls back", planned.takes_back), ("restores", planned.brings_back)]
    tried = [
        text
        for transaction in planned.journals
        if transaction.header.trial
        for text in transaction.header.settings
    ]
    rows += [("keeps", planned.keeps), ("drops the trial of", tuple(dict.fromkeys(tried)))]
    printer.pairs([(name, ", ".join(texts)) for name, texts in rows if texts])
    plan_view.show_changes(printer, planned.changes, planned.activations, diff)
    plan_view.show_activations(printer, planned.activations)
    printer.line()
    printer.problems(planned.diagnostics)
    printer.paragraph(plan_view.summary(planned.changes, planned.activations, planned.reboot_required))


def _say(printer: Printer, undone: Undo, nothing: str, host: HostView) -> None:
    printer.document(undone.diagnostics, undone)
    printer.problems(undone.diagnostics)
    if undone.transactions:
        printer.line(f"Rolled back: transaction {', '.join(map(str, undone.transactions))}.")
    elif undone.activations:
        printer.line("The boot menu still had arguments of settings that are rolled back already.")
    else:
        printer.line(nothing)
    if hosts.say_left_to_user(printer, undone.activations):
        printer.line(
            f"Next: run these commands{', then reboot that host' if undone.reboot_required else ''}."
        )
        return
    if any(remark.id == "RC4016" for remark in undone.diagnostics):  # a reboot does not fix it
        return
    receipt = load_quietly(host)
    if undone.transactions and receipt is not None and receipt.settings:
        settings = ", ".join(setting.spelled for setting in receipt.settings)
        printer.paragraph(f"Still applied, by transaction {receipt.transaction}: {settings}.")
    if undone.reboot_required and (undone.transactions or undone.activations):
        which = "reboot that host" if host.offline else "reboot"
        printer.line(f"Next: {which}; until then its kernel keeps the current values.")


@published(
    "transaction=journal.id",
    "journal.header: time user profiles settings",
    "files state=journal.state trial",
)
class Transaction(NamedTuple):
    """A transaction in the history. `files` are the files that it changed."""

    journal: Journal
    trial: PastTrial | None

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.path for step in self.journal.of(FileChanged)))


class HistoryDocument(NamedTuple):
    transactions: tuple[Transaction, ...]


def history(
    printer: Printer,
    *,
    number: str = opt.argument("[N]", "Show only this transaction, in full.", "free", required=False),
    root: str = opt.ROOT,
) -> None:
    """List what was applied and rolled back."""
    host = hosts.open_host(printer, root)
    if not host.offline and os.geteuid() != 0:
        raise fail("RC3025", "only root can read the journals", hint="sudo rocmcfg history")
    journals = read_all(host)
    shown = [transaction for transaction in journals if number in ("", str(transaction.id))]
    if number and not shown:
        raise fail("RC4024", f"there is no transaction {number}", hint="see `rocmcfg history`")
    rows = tuple(Transaction(transaction, past_trial(host, transaction, journals)) for transaction in shown)
    printer.document((), HistoryDocument(rows))
    if not rows:
        printer.line("No transaction yet.")
        return
    cells = []
    for row in rows:
        header, when = row.journal.header, row.journal.header.time.replace("T", " ")[:16]
        first, *more = (*header.profiles, *header.request.set, "-")
        which = f"{first} and {len(more) - 1} more" if more[1:] else first
        cells.append((str(row.journal.id), when, header.user, which, _state_of(row)))
    printer.table(("N", "TIME (UTC)", "BY", "REQUESTED", "STATE"), cells)
    for row in rows if printer.verbose or number else ():
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


def _state_of(row: Transaction) -> str:
    state = row.journal.state
    if row.trial is None or state is JournalState.UNFINISHED:
        return state.value.replace("_", " ")
    outcome = row.trial.outcome
    back = outcome is Outcome.CONFIRMED and state is JournalState.ROLLED_BACK
    return f"trial: {outcome.value.replace('_', ' ')}{', rolled back' if back else ''}"
