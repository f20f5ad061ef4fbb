"""`rocmcfg reject`: forget a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    import typer

    from rocmcfg.transaction.undo import Undo


def reject(
    force: Annotated[
        bool, typer.Option("--force", help="Drop edits that others made to the trial's files.")
    ] = False,
    yes: opt.Yes = False,
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Forget the trial that was begun.

    The next boot is as it was before the trial; a boot that tries it keeps what it has.
    """
    with opt.session("reject", json, quiet, verbose, debug) as printer:
        from rocmcfg.cli.rollback import say, show
        from rocmcfg.workflow import undoing

        host = opt.open_host(root, chroot=chroot)
        opt.require_root(host, "reject")
        opt.require_terminal(yes or json, "status")
        if json and not yes:
            raise Misuse("--json asks no question: add --yes")
        opt.may_change(printer, host)

        def ask(planned: Undo) -> bool:
            show(printer, planned)
            return yes or printer.ask("Forget this trial?")

        undone = undoing.reject(host, ask, printer.progress, force=force)
        printer.end_progress()
        if undone is None:
            printer.line("Nothing was changed: the trial stays.")
            raise SystemExit(int(ExitCode.ERROR))
        printer.problems(undone.diagnostics)
        say(printer, undone, "Nothing to reject: no trial is on record.", host.offline)
