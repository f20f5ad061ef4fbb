"""`rocmcfg rollback`, `reject` and `recover`: take back what was applied, is tried, or was interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse, Printer

if TYPE_CHECKING:
    from rocmcfg.transaction.undo import Undo

_NOTHING = "Nothing to roll back: no transaction is applied."
_FORCE = opt.switch("--force", help="Drop edits that others made to our files.")


def rollback(
    printer: Printer,
    to: int | None = opt.number(
        "--to", metavar="N", help="Back to how transaction N left it.", takes="transaction"
    ),
    pristine: bool = opt.switch("--pristine", help="Undo all that rocmcfg ever wrote."),
    force: bool = _FORCE,
    dry_run: bool = opt.switch("--dry-run", help="Show what it would do, and change nothing."),
    yes: bool = opt.YES,
    place: opt.Place = opt.Place(),
) -> None:
    """Undo the last transaction: files byte by byte, then the boot menu and images."""
    from rocmcfg.transaction.undo import plan_rollback
    from rocmcfg.workflow import undoing

    if pristine and to is not None:
        raise Misuse("--to and --pristine exclude each other")
    host = hosts.open_host(printer, *place)
    to = 0 if pristine else to
    if dry_run:
        planned = plan_rollback(host, to=to, force=force)
        if not planned.journals:
            _say(printer, planned, _NOTHING, offline=False)
            return
        printer.document(planned.diagnostics, planned)
        _show(printer, planned)
        printer.line("Dry run: nothing was changed.")
        return
    hosts.require_root(printer, host)
    hosts.require_answer(printer, yes, "rollback --dry-run", ", or --dry-run to see what it would do")
    hosts.may_change(printer, host)
    ask = hosts.asking(printer, yes, _show, "Roll back?")
    undone = undoing.rollback(host, to=to, force=force, confirm=ask, progress=printer.progress)
    _say(printer, hosts.agreed(printer, undone, "Nothing was changed."), _NOTHING, host.offline)


def reject(
    printer: Printer,
    force: bool = opt.switch("--force", help="Drop edits that others made to the trial's files."),
    yes: bool = opt.YES,
    place: opt.Place = opt.Place(),
) -> None:
    """Forget the trial that was begun.

    The next boot is as it was before the trial; a boot that tries it keeps what it has.
    """
    from rocmcfg.workflow import undoing

    host = hosts.open_host(printer, *place)
    hosts.require_root(printer, host)
    hosts.require_answer(printer, yes, "status")
    hosts.may_change(printer, host)
    ask = hosts.asking(printer, yes, _show, "Forget this trial?")
    found = undoing.reject(host, ask, printer.progress, force=force)
    undone = hosts.agreed(printer, found, "Nothing was changed: the trial stays.")
    printer.problems(undone.diagnostics)
    _say(printer, undone, "Nothing to reject: no trial is on record.", host.offline)


def recover(printer: Printer, force: bool = _FORCE, place: opt.Place = opt.Place()) -> None:
    """Finish an interrupted transaction by undoing it; safe to run at any time."""
    from rocmcfg.workflow import undoing

    host = hosts.open_host(printer, *place)
    hosts.require_root(printer, host)
    hosts.may_change(printer, host)
    undone = undoing.recover(host, force=force, progress=printer.progress)
    printer.end_progress()
    printer.problems(undone.diagnostics)
    _say(printer, undone, "Nothing to recover: no transaction was interrupted.", host.offline)


def _show(printer: Printer, planned: Undo) -> None:
    from rocmcfg.cli import plan_view

    for one in planned.journals:
        settings = ", ".join(one.header.settings) or "no settings"
        printer.wrapped(f"Undo transaction {one.id}: {settings}", indent="")
    plan_view.show_changes(printer, planned.changes)
    plan_view.show_activations(printer, planned.activations)
    printer.line()
    printer.problems(planned.diagnostics)
    printer.line(plan_view.summary(planned.changes, planned.activations, planned.reboot_required))


def _say(printer: Printer, undone: Undo, nothing: str, offline: bool) -> None:
    """What was undone, and what is left to do."""
    printer.document(undone.diagnostics, undone)
    if undone.transactions:
        printer.line(f"Undone: transaction {', '.join(map(str, undone.transactions))}.")
        hosts.say_left_to_user(printer, undone.activations)
    else:
        printer.line(nothing)
    if undone.reboot_required:
        which = "reboot that host" if offline else "reboot"
        printer.line(f"Next: {which}; until then its kernel keeps the values that it has.")
