"""`rocmcfg run`: one command with the variables of a profile. Needs no rights and changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse
from rocmcfg.model.diagnostic import fail

if TYPE_CHECKING:
    import typer


def run(
    command: Annotated[list[str], typer.Argument(metavar="CMD [ARG…]", help="What to run, after --.")],
    profile: opt.Profiles = None,
    set: opt.Set = None,
    with_: opt.With = None,
    without: opt.Without = None,
    unconditional: opt.Unconditional = False,
    any_gpu: opt.AnyGpu = False,
    debug: opt.Debug = False,
) -> None:
    """Run a command with the variables of a profile: rocmcfg run -p rdna4 -- python train.py"""
    with opt.session("run", False, debug=debug):
        from rocmcfg.cli import plan_view
        from rocmcfg.workflow import environment as workflow

        if not profile and not set:
            raise Misuse("say which variables: --profile NAME (or auto)")
        request = plan_view.request(profile, set, with_, without, unconditional, any_gpu, None, "")
        pairs = workflow.variables(opt.open_host("/"), request)
        try:
            os.execvpe(command[0], command, {**os.environ, **dict(pairs)})
        except OSError as problem:
            raise fail(
                "RC2031",
                f"cannot run {command[0]}: {problem.strerror}",
                hint="check the name and that it is executable",
            ) from problem
