"""`rocmcfg recover`: undo what a crash or a power cut interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rocmcfg.cli import options as opt

if TYPE_CHECKING:
    import typer


def recover(
    force: Annotated[bool, typer.Option("--force", help="Drop edits that others made to our files.")] = False,
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Finish an interrupted transaction by undoing it; safe to run at any time."""
    with opt.session("recover", json, quiet, verbose, debug) as printer:
        from rocmcfg.cli.rollback import say
        from rocmcfg.workflow import undoing

        host = opt.open_host(root, chroot=chroot)
        opt.require_root(host, "recover")
        opt.may_change(printer, host)
        undone = undoing.recover(host, force=force, progress=printer.progress)
        printer.end_progress()
        printer.problems(undone.diagnostics)
        say(printer, undone, "Nothing to recover: no transaction was interrupted.", host.offline)
