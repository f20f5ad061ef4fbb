"""`rocmcfg apply`: one transaction, all of it or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse, Printer
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    import typer

    from rocmcfg.model.trial import TrialPlan
    from rocmcfg.workflow.applying import Applied
    from rocmcfg.workflow.planning import Planned


def apply(
    profile: opt.Profiles = None,
    set: opt.Set = None,
    with_: opt.With = None,
    without: opt.Without = None,
    unconditional: opt.Unconditional = False,
    any_gpu: opt.AnyGpu = False,
    via: opt.ViaOption = None,
    boot_backend: opt.BootBackend = "",
    trial: opt.Trial = False,
    confirm_after: opt.ConfirmAfter = "",
    health_check: opt.HealthCheck = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan only, as `rocmcfg plan`.")
    ] = False,
    yes: opt.Yes = False,
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Apply a profile as one transaction; replaces what rocmcfg applied before."""
    with opt.session("apply", json, quiet, verbose, debug) as printer:
        from rocmcfg.cli import plan_view
        from rocmcfg.workflow import applying, planning

        request = plan_view.request(profile, set, with_, without, unconditional, any_gpu, via, boot_backend)
        if not request.profiles and not request.set:
            raise Misuse("say what to apply: --profile NAME (or auto), or --set KEY=VALUE")
        terms = plan_view.terms(trial, confirm_after, health_check)
        host = opt.open_host(root, chroot=chroot)
        if dry_run:
            plan_view.present(printer, planning.plan(host, request, terms))
            return
        opt.require_root(host, "apply", "plan")
        opt.require_terminal(yes or json, "plan")
        if json and not yes:
            raise Misuse("--json asks no question: add --yes, or --dry-run to see the plan")
        opt.may_change(printer, host)

        def confirm(planned: Planned) -> bool:
            plan_view.show(printer, planned, planned.plan.activations)
            plan_view.remarks(printer, planned.plan.diagnostics)
            printer.line()
            printer.line(plan_view.plan_summary(planned))
            return yes or printer.ask("Try this at the next boot?" if terms else "Apply this?")

        applied = applying.apply(host, request, confirm, printer.progress, asks=not yes, terms=terms)
        printer.end_progress()
        if applied is None:
            printer.line("Nothing was changed.")
            raise SystemExit(int(ExitCode.ERROR))
        printer.document(
            applied.planned.plan.diagnostics,
            plan_view.PlanDocument(
                applied.planned.plan, applied.activations, applied.transaction, applied.planned.trial
            ),
        )
        say(printer, applied, host.root)


def say(printer: Printer, applied: Applied, root: str) -> None:
    from rocmcfg.cli import plan_view
    from rocmcfg.model.request import root_option
    from rocmcfg.model.state import ActivationState

    made = applied.planned.plan
    left = [a for a in applied.activations if a.state is ActivationState.LEFT_TO_USER]
    printer.line()
    if applied.transaction is None:
        said = "Already applied" if made.rows else "Nothing of the profile is needed on this host"
        printer.line(f"{said}: nothing was changed.")
        if not made.rows:
            printer.pairs([(s.setting, s.reason) for s in made.skipped])
        plan_view.remarks(printer, made.diagnostics)
    elif applied.planned.trial:
        _say_trial(printer, applied, applied.planned.trial)
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
