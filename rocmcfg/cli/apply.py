"""Commands `plan`, `apply` and `confirm`: show and carry out one transaction, all of it or nothing.
`check-kernel` and `watch-trial` are run by the kernel hook and by rocmcfg-trial.service."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer
from rocmcfg.host import interrupts
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import ExitCode
from rocmcfg.model.request import Request, command_line

if TYPE_CHECKING:
    from rocmcfg.workflow.planning import Planned


def plan(
    printer: Printer,
    *,
    named: tuple[str, ...] = opt.NAMED,
    requested: opt.RequestOptions = opt.RequestOptions(),
    add: tuple[str, ...] = opt.ADD,
    boot: opt.Boot = opt.Boot(),
    trial: opt.TrialTerms = opt.TrialTerms(),
    diff: bool = opt.DIFF,
    detailed_exitcode: bool = opt.switch(
        "--detailed-exitcode", help="Exit with 3 if something would change."
    ),
    place: opt.TargetHost = opt.TargetHost(),
) -> None:
    """Show what apply would change, and why."""
    from rocmcfg.cli import plan_view
    from rocmcfg.workflow import planning

    request, terms = requested.request(named, *boot), trial.terms()
    host = hosts.open_host(printer, *place)
    planned = planning.plan(host, _request(printer, host, request, add, changes=False), terms)
    printer.document(planned.plan.diagnostics, planned)
    plan_view.show(printer, planned, diff=diff)
    if not planned.plan.empty:
        again = printer.for_host(f"sudo {command_line(planned.request)}{' --trial' if terms else ''}")
        if (terms or not planned.changes) and printer.root_option and not printer.runs_tools:
            again += " --chroot"  # only that host's programs arm a trial, or run if no file changes
        printer.wrapped(f"Next: {again}", indent="")
    if detailed_exitcode and not planned.plan.empty:
        raise SystemExit(int(ExitCode.DIFFERENCES))


def apply(
    printer: Printer,
    *,
    named: tuple[str, ...] = opt.NAMED,
    requested: opt.RequestOptions = opt.RequestOptions(),
    add: tuple[str, ...] = opt.ADD,
    boot: opt.Boot = opt.Boot(),
    trial: opt.TrialTerms = opt.TrialTerms(),
    dry_run: bool = opt.switch("--dry-run", help="Show the plan only, like `rocmcfg plan --diff`."),
    diff: bool = opt.DIFF,
    yes: bool = opt.YES,
    place: opt.TargetHost = opt.TargetHost(),
) -> None:
    """Apply a profile; rollback undoes it.

    All changes are one transaction, which replaces what rocmcfg applied before.
    """
    from rocmcfg.cli import plan_view
    from rocmcfg.workflow import applying

    if dry_run:
        plan(
            printer,
            named=named,
            requested=requested,
            add=add,
            boot=boot,
            trial=trial,
            diff=True,
            detailed_exitcode=False,
            place=place,
        )
        return
    request, terms = requested.request(named, *boot), trial.terms()
    host = hosts.open_host(printer, *place)
    look = shlex.join(["plan", *sys.argv[2:]])
    request = _request(printer, host, request, add, question="" if yes else look)
    question = partial(plan_view.question, tries=terms is not None)
    show = partial(plan_view.show, diff=diff, brief=yes and not (diff or printer.verbose))
    ask = hosts.asking(printer, host, yes, show, question, look)
    applied = applying.apply(host, request, ask, printer.progress, asks=not yes, terms=terms)
    _say(printer, hosts.agreed(printer, applied, "Nothing was changed."), tries=terms is not None)


def _request(
    printer: Printer,
    host: LocalHost,
    request: Request,
    add: tuple[str, ...],
    *,
    changes: bool = True,
    question: str = "",
) -> Request:
    from rocmcfg.workflow import planning

    request = hosts.understood(printer, host, request._replace(set=request.set + add), alone=not add)
    misspelt = planning.misspelt(request)
    hosts.require_rights(printer, host, changes=changes, question=question, misspelt=misspelt)
    return planning.on_top(host, request) if add else request


def confirm(printer: Printer, *, yes: bool = opt.YES, place: opt.TargetHost = opt.TargetHost()) -> None:
    """Keep the settings of this trial boot.

    They stay applied permanently; no further reboot is needed.
    """
    from rocmcfg.change.trial import ends
    from rocmcfg.cli import plan_view
    from rocmcfg.workflow import confirming

    host = hosts.open_host(printer, *place)
    hosts.require_rights(printer, host, question="" if yes else "status")
    if not yes:
        ends.proven(host)  # its refusal comes before the one that there is no terminal to ask on
    ask = hosts.asking(printer, host, yes, plan_view.show, "Keep this?", "status")
    applied = confirming.confirm(host, ask, printer.progress, asks=not yes)
    _say(printer, hosts.agreed(printer, applied, "Nothing was changed: the trial continues."))


def check_kernel(
    printer: Printer,
    *,
    release: str = opt.argument("RELEASE", "The release, as `uname -r` prints it.", "free"),
    place: opt.TargetHost = opt.TargetHost(),
) -> None:
    """Check the applied values against an installed kernel; withdraw those that would stop its driver."""
    from rocmcfg.workflow import applying

    host = hosts.open_host(printer, *place)
    hosts.require_rights(printer, host)
    printer.may_change(host)
    interrupts.heed()
    remarks = applying.check_kernel(host, release, printer.progress)
    printer.document(remarks)
    printer.problems(remarks)


def watch_trial(printer: Printer, *, place: opt.TargetHost = opt.TargetHost()) -> None:
    """Wait until the trial is due; confirm it if all is well, else say why not."""
    from rocmcfg.workflow import confirming

    host = hosts.open_host(printer, *place)
    hosts.require_rights(printer, host)
    # a shutdown while nothing is being changed is not a failure; the next boot uses the old configuration
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    printer.may_change(host)

    def ask(_: Planned) -> bool:
        interrupts.heed()  # from here on files change: a shutdown rolls them back
        return True

    watched = confirming.watch(host, time.sleep, ask, printer.progress)
    printer.document([])
    if isinstance(watched, str):
        printer.line(f"Nothing to do: {watched}.")
    else:
        printer.line(f"The trial confirmed itself: applied as transaction {watched.transaction}.")


def _say(printer: Printer, applied: Planned, *, tries: bool = False) -> None:
    from datetime import timedelta

    from rocmcfg.cli import plan_view
    from rocmcfg.model.plan import RowOutcome

    made, trial, transaction = applied.plan, applied.trial, applied.transaction
    printer.document(made.diagnostics, applied)
    printer.line()
    if transaction is None:
        outcome = "Already applied" if made.rows else "This host needs no setting of the profile"
        printer.line(f"{outcome}: nothing was changed{', and no trial is armed' if tries else ''}.")
        if tries and any(row.outcome is RowOutcome.APPLIED for row in made.rows):
            back = printer.for_host("sudo rocmcfg rollback")
            # a trial must fall back to a configuration that has booted (RC4332)
            printer.wrapped(f"To try it: run `{back}`, reboot, then run this command again.", "")
        if not made.rows:
            plan_view.show_left_out(printer, made.skipped)
        for row in made.rows:
            if row.outcome is RowOutcome.OVERRIDDEN:
                plan_view.show_setting(printer, row)
        plan_view.remarks(printer, made.diagnostics)
        hosts.say_left_to_user(printer, made.activations)
        return
    if trial:
        printer.line(f"The next boot is a trial (transaction {transaction}).")
        outcome = (
            "If you do not confirm it, the boot after that has today's configuration, even after a hang."
        )
        if after := trial.terms.confirm_after:
            outcome = (
                f"If all is well, it confirms itself {timedelta(seconds=after)} after it starts. {outcome}"
            )
        printer.wrapped(outcome, "")
        printer.wrapped(
            "Next: reboot, then `rocmcfg verify` and `rocmcfg confirm`.  To drop it: `rocmcfg reject`.", ""
        )
        return
    printer.line(f"Applied as transaction {transaction}.")
    left = hosts.say_left_to_user(printer, made.activations)
    if any(row.setting.channel.value == "environment" for row in made.rows):
        printer.wrapped(
            "Variables take effect in new logins; containers get them with --env-file /etc/rocmcfg/env.", ""
        )
    at, where = ("there", " that host") if printer.root_option else ("", "")
    steps = ["run these commands"] if left else []
    steps += [f"reboot{where}"] if made.reboot_required else []
    printer.paragraph(f"Next: {', then '.join([*steps, f'`rocmcfg verify` {at}'.strip()])}.")
    printer.to_copy("Undo:", printer.for_host("sudo rocmcfg rollback"))
