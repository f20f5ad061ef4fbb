"""`rocmcfg rollback`: take back what was applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    from rocmcfg.engine.journal import Journal
    from rocmcfg.workflow.undoing import Undone

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("rollback")
def rollback(
    to: Annotated[
        int | None, typer.Option("--to", metavar="N", help="Back to how transaction N left it.")
    ] = None,
    pristine: Annotated[bool, typer.Option("--pristine", help="Undo all that rocmcfg ever wrote.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Drop edits that others made to our files.")] = False,
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
        from rocmcfg.cli.apply import only_words_are_left, stop_politely
        from rocmcfg.engine.journal import STATE_DIR
        from rocmcfg.workflow import undoing

        if pristine and to is not None:
            raise typer.BadParameter("--to and --pristine exclude each other")
        host = opt.open_host(root, chroot=chroot)
        opt.require_root(host, "rollback")
        opt.require_terminal(yes or json)
        if json and not yes:
            raise typer.BadParameter("--json asks no question: add --yes")
        stop_politely()

        def confirm(chosen: Sequence[Journal]) -> bool:
            for one in chosen:
                settings = ", ".join(one.header["settings"]) or "no settings"
                printer.wrapped(f"Undo transaction {one.id}: {settings}", indent="")
                for path in dict.fromkeys(step["path"] for step in one.of("file")):
                    if not path.startswith(STATE_DIR):
                        printer.line(f"  {path}")
            return yes or printer.ask("Roll back?")

        undone = undoing.rollback(
            host, to=0 if pristine else to, force=force, confirm=confirm, progress=printer.progress
        )
        only_words_are_left()
        printer.end_progress()
        if undone is None:
            printer.line("Nothing was changed.")
            raise typer.Exit(int(ExitCode.ERROR))
        say(printer, undone, "Nothing to roll back: no transaction is applied.", host.offline)


def say(printer: Printer, undone: Undone, nothing: str, offline: bool) -> None:
    """What was undone, and what is left to do; for rollback and recover."""
    from rocmcfg.cli.plan_view import activation
    from rocmcfg.model.state import ActivationState

    printer.document(
        (),
        transactions=list(undone.transactions),
        activations=[activation(a) for a in undone.activations],
        reboot_required=undone.reboot_required,
    )
    if not undone.transactions:
        printer.line(nothing)
        return
    printer.line(f"Undone: transaction {', '.join(str(id) for id in undone.transactions)}.")
    left = [a for a in undone.activations if a.state is ActivationState.LEFT_TO_USER]
    if left:
        printer.line("Left to you, inside that host:")
        for step in left:
            printer.line(f"  {' '.join(step.argv)}")
    if undone.reboot_required:
        which = "reboot that host" if offline else "reboot"
        printer.line(f"Next: {which}; until then its kernel keeps the values that it has.")
