"""`rocmcfg plan`: what apply would do. Changes nothing and needs no rights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse
from rocmcfg.model.diagnostic import ExitCode

if TYPE_CHECKING:
    import typer


def plan(
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
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 3 where something would change.")
    ] = False,
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Show what apply would change: a diff, the reasons, the programs to run."""
    with opt.session("plan", json, quiet, verbose, debug) as printer:
        from rocmcfg.cli import plan_view
        from rocmcfg.workflow import planning

        request = plan_view.request(profile, set, with_, without, unconditional, any_gpu, via, boot_backend)
        if not request.profiles and not request.set:
            raise Misuse("say what to plan: --profile NAME (or auto), or --set KEY=VALUE")
        terms = plan_view.terms(trial, confirm_after, health_check)
        planned = planning.plan(opt.open_host(root, chroot=chroot), request, terms)
        plan_view.present(printer, planned)
        if detailed_exitcode and not planned.plan.empty:
            raise SystemExit(int(ExitCode.DIFFERENCES))
