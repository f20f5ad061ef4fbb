"""`rocmcfg check-kernel RELEASE`: what the kernel hook runs after a kernel was installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rocmcfg.cli import options as opt

if TYPE_CHECKING:
    import typer


def check_kernel(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="As `uname -r` prints it.")],
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Check the applied values against an installed kernel; withdraw what would stop its driver."""
    with opt.session("check-kernel", json, quiet, verbose, debug) as printer:
        from rocmcfg.workflow import kernels as workflow

        host = opt.open_host(root, chroot=chroot)
        opt.require_root(host, "check-kernel")
        opt.may_change(printer, host)
        found = workflow.check_kernel(host, release, printer.progress)
        printer.end_progress()
        printer.document(found)
        printer.problems(found)
