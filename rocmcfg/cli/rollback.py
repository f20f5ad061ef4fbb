"""`rocmcfg rollback`: take back what was applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse, Printer
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    import typer

    from rocmcfg.transaction.undo import Undo

_NOTHING = "Nothing to roll back: no transaction is applied."


def rollback(
    to: Annotated[
        int | None, typer.Option("--to", metavar="N", help="Back to how transaction N left it.")
    ] = None,
    pristine: Annotated[bool, typer.Option("--pristine", help="Undo all that rocmcfg ever wrote.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Drop edits that others made to our files.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what it would do, and change nothing.")
    ] = False,
    yes: opt.Yes = False,
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Undo the last transaction: files byte by byte, then the boot menu and images."""
    with opt.session("rollback", json, quiet, verbose, debug) as printer:
        from rocmcfg.transaction.undo import plan_rollback
        from rocmcfg.workflow import undoing

        if pristine and to is not None:
            raise Misuse("--to and --pristine exclude each other")
        host = opt.open_host(root, chroot=chroot)
        to = 0 if pristine else to
        if dry_run:
            _present(printer, plan_rollback(host, to=to, force=force))
            return
        opt.require_root(host, "rollback")
        opt.require_terminal(yes or json, "rollback --dry-run")
        if json and not yes:
            raise Misuse("--json asks no question: add --yes, or --dry-run to see what it would do")
        opt.may_change(printer, host)

        def confirm(planned: Undo) -> bool:
            show(printer, planned)
            return yes or printer.ask("Roll back?")

        undone = undoing.rollback(host, to=to, force=force, confirm=confirm, progress=printer.progress)
        printer.end_progress()
        if undone is None:
            printer.line("Nothing was changed.")
            raise SystemExit(int(ExitCode.ERROR))
        say(printer, undone, _NOTHING, host.offline)


def _present(printer: Printer, planned: Undo) -> None:
    printer.document(planned.diagnostics, planned)
    if planned.journals:
        show(printer, planned)
        printer.line("Dry run: nothing was changed.")
    else:
        printer.line(_NOTHING)
        _remind(printer, planned.reboot_required, offline=False)


def show(printer: Printer, planned: Undo) -> None:
    from rocmcfg.cli import plan_view

    for one in planned.journals:
        settings = ", ".join(one.header.settings) or "no settings"
        printer.wrapped(f"Undo transaction {one.id}: {settings}", indent="")
    plan_view.show_changes(printer, planned.changes)
    plan_view.show_activations(printer, planned.activations)
    printer.line()
    printer.problems(planned.diagnostics)
    printer.line(plan_view.summary(planned.changes, planned.activations, planned.reboot_required))


def say(printer: Printer, undone: Undo, nothing: str, offline: bool) -> None:
    """What was undone, and what is left to do; for rollback and recover."""
    from rocmcfg.model.state import ActivationState

    printer.document(undone.diagnostics, undone)
    if not undone.transactions:
        printer.line(nothing)
        _remind(printer, undone.reboot_required, offline)
        return
    printer.line(f"Undone: transaction {', '.join(str(id) for id in undone.transactions)}.")
    left = [a for a in undone.activations if a.state is ActivationState.LEFT_TO_USER]
    if left:
        printer.line("Left to you, inside that host:")
        for step in left:
            printer.line(f"  {' '.join(step.argv)}")
    _remind(printer, undone.reboot_required, offline)


def _remind(printer: Printer, reboot_required: bool, offline: bool) -> None:
    if reboot_required:
        which = "reboot that host" if offline else "reboot"
        printer.line(f"Next: {which}; until then its kernel keeps the values that it has.")
