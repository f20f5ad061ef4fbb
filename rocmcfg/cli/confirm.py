"""`rocmcfg confirm`: keep what this boot tries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    from rocmcfg.workflow.planning import Planned


def confirm(
    yes: opt.Yes = False,
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Keep the settings that this boot tries.

    They are applied for good, and no other reboot is needed.
    """
    with opt.session("confirm", json, quiet, verbose, debug) as printer:
        from rocmcfg.cli import plan_view
        from rocmcfg.cli.apply import say
        from rocmcfg.workflow import confirming

        host = opt.open_host(root, chroot=chroot)
        opt.require_root(host, "confirm")
        opt.require_terminal(yes or json, "status")
        if json and not yes:
            raise Misuse("--json asks no question: add --yes")
        opt.may_change(printer, host)

        def ask(planned: Planned) -> bool:
            plan_view.show(printer, planned, planned.plan.activations)
            plan_view.remarks(printer, planned.plan.diagnostics)
            printer.line()
            printer.line(plan_view.plan_summary(planned))
            return yes or printer.ask("Keep this?")

        applied = confirming.confirm(host, ask, printer.progress, asks=not yes)
        printer.end_progress()
        if applied is None:
            printer.line("Nothing was changed: the trial goes on.")
            raise SystemExit(int(ExitCode.ERROR))
        printer.document(
            applied.planned.plan.diagnostics,
            plan_view.PlanDocument(applied.planned.plan, applied.activations, applied.transaction),
        )
        say(printer, applied, host.root)
