"""`rocmcfg watch-trial`: what rocmcfg-trial.service runs in the boot of a trial."""

from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from rocmcfg.cli import options as opt
from rocmcfg.host import interrupts

if TYPE_CHECKING:
    from rocmcfg.workflow.planning import Planned


def watch_trial(
    root: opt.Root = "/",
    chroot: opt.Chroot = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Wait until the trial's time has come; confirm it where all is well, else say why not."""
    with opt.session("watch-trial", json, quiet, verbose, debug) as printer:
        from rocmcfg.workflow import confirming

        host = opt.open_host(root, chroot=chroot)
        opt.require_root(host, "watch-trial")
        # a shutdown while nothing is being changed is no failure, and the next boot is the old one
        signal.signal(signal.SIGTERM, _leave)
        printer.looks(host)

        def ask(_: Planned) -> bool:
            interrupts.heed()  # from here on files change: a shutdown ends it with a rollback
            return True

        watched = confirming.watch(host, time.sleep, ask, printer.progress)
        printer.end_progress()
        printer.document([])
        if watched.applied is None:
            printer.line(f"Nothing to do: {watched.idle}.")
        else:
            printer.line(f"The trial confirmed itself: applied as transaction {watched.applied.transaction}.")


def _leave(*_: Any) -> None:
    sys.exit(0)
