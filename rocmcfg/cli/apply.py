"""`rocmcfg plan`, `apply` and `confirm`: one transaction, all of it or nothing, and what it would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    from rocmcfg.model.trial import TrialPlan
    from rocmcfg.workflow.applying import Applied
    from rocmcfg.workflow.planning import Planned

_MISSING = "say what to {}: --profile NAME (or auto), or --set KEY=VALUE"


def plan(
    printer: Printer,
    asked: opt.Asked = opt.Asked(),
    boot: opt.Boot = opt.Boot(),
    trial: opt.Trial = opt.Trial(),
    detailed_exitcode: bool = opt.switch("--detailed-exitcode", help="Exit 3 where something would change."),
    place: opt.Place = opt.Place(),
) -> None:
    """Show what apply would change: a diff, the reasons, the programs to run."""
    from rocmcfg.cli import plan_view
    from rocmcfg.workflow import planning

    request, terms = asked.request(_MISSING.format("plan"), *boot), trial.terms()
    planned = planning.plan(hosts.open_host(printer, *place), request, terms)
    plan_view.present(printer, planned)
    if detailed_exitcode and not planned.plan.empty:
        raise SystemExit(int(ExitCode.DIFFERENCES))


def apply(
    printer: Printer,
    asked: opt.Asked = opt.Asked(),
    boot: opt.Boot = opt.Boot(),
    trial: opt.Trial = opt.Trial(),
    dry_run: bool = opt.switch("--dry-run", help="Show the plan only, as `rocmcfg plan`."),
    yes: bool = opt.YES,
    place: opt.Place = opt.Place(),
) -> None:
    """Apply a profile as one transaction; replaces what rocmcfg applied before."""
    from rocmcfg.cli import plan_view
    from rocmcfg.workflow import applying, planning

    request, terms = asked.request(_MISSING.format("apply"), *boot), trial.terms()
    host = hosts.open_host(printer, *place)
    if dry_run:
        plan_view.present(printer, planning.plan(host, request, terms))
        return
    hosts.require_root(printer, host, "plan")
    hosts.require_answer(printer, yes, "plan", ", or --dry-run to see the plan")
    hosts.may_change(printer, host)
    ask = _ask(printer, yes, "Try this at the next boot?" if terms else "Apply this?")
    applied = applying.apply(host, request, ask, printer.progress, asks=not yes, terms=terms)
    _say(printer, applied, host.root, "Nothing was changed.")


def confirm(printer: Printer, yes: bool = opt.YES, place: opt.Place = opt.Place()) -> None:
    """Keep the settings that this boot tries.

    They are applied for good, and no other reboot is needed.
    """
    from rocmcfg.workflow import confirming

    host = hosts.open_host(printer, *place)
    hosts.require_root(printer, host)
    hosts.require_answer(printer, yes, "status")
    hosts.may_change(printer, host)
    applied = confirming.confirm(host, _ask(printer, yes, "Keep this?"), printer.progress, asks=not yes)
    _say(printer, applied, host.root, "Nothing was changed: the trial goes on.")


def _ask(printer: Printer, yes: bool, question: str) -> Callable[[Planned], bool]:
    """Shows the plan, and asks."""

    def ask(planned: Planned) -> bool:
        from rocmcfg.cli import plan_view

        plan_view.show(printer, planned)
        return yes or printer.ask(question)

    return ask


def _say(printer: Printer, applied: Applied | None, root: str, refused: str) -> None:
    """What was applied, and what is left to do; `refused` where the user said no."""
    from rocmcfg.cli import plan_view
    from rocmcfg.model.request import root_option
    from rocmcfg.model.state import ActivationState

    printer.end_progress()
    if applied is None:
        printer.line(refused)
        raise SystemExit(int(ExitCode.ERROR))
    planned = applied.planned
    printer.document(
        planned.plan.diagnostics,
        plan_view.PlanDocument(planned.plan, applied.activations, applied.transaction, planned.trial),
    )
    made = planned.plan
    left = [a for a in applied.activations if a.state is ActivationState.LEFT_TO_USER]
    printer.line()
    if applied.transaction is None:
        said = "Already applied" if made.rows else "Nothing of the profile is needed on this host"
        printer.line(f"{said}: nothing was changed.")
        if not made.rows:
            printer.pairs([(s.setting, s.reason) for s in made.skipped])
        plan_view.remarks(printer, made.diagnostics)
    elif planned.trial:
        _say_trial(printer, applied, planned.trial)
        return
    else:
        printer.line(f"Applied as transaction {applied.transaction}.")
    if left:
        printer.line("Left to you, inside that host:")
        for activation in left:
            printer.line(f"  {' '.join(activation.argv)}")
    if any(row.setting.channel.value == "environment" for row in made.rows) and applied.transaction:
        printer.wrapped(
            "Variables reach new logins; containers take them with --env-file /etc/rocmcfg/env.", ""
        )
    if applied.transaction and root != "/":
        steps = ["run that"] if left else []
        steps += ["reboot that host"] if made.reboot_required else []
        steps.append(f"{'then ' if steps else ''}`rocmcfg verify` there")
        printer.line(f"Next: {', '.join(steps)}.")
        printer.wrapped(f"Undo: rocmcfg rollback{root_option(root)}", indent="")
    elif made.reboot_required and applied.transaction:
        printer.line("Next: reboot, then `rocmcfg verify`.  Undo: `rocmcfg rollback`.")
    elif applied.transaction:
        printer.line("Next: `rocmcfg verify`.  Undo: `rocmcfg rollback`.")


def _say_trial(printer: Printer, applied: Applied, made: TrialPlan) -> None:
    from rocmcfg.cli.plan_view import duration

    printer.line(f"The next boot is a trial (transaction {applied.transaction}).")
    after = made.terms.confirm_after
    alone = f"It confirms itself {duration(after)} after its begin, if all is well. " if after else ""
    printer.wrapped(f"{alone}Unconfirmed, the boot after it is as this one, also after a hang.", "")
    printer.wrapped(
        "Next: reboot, then `rocmcfg verify` and `rocmcfg confirm`.  Forget it: `rocmcfg reject`.", ""
    )
