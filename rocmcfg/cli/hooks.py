"""`rocmcfg check-kernel` and `watch-trial`: what the kernel hook and rocmcfg-trial.service run."""

from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer
from rocmcfg.host import interrupts

if TYPE_CHECKING:
    from rocmcfg.workflow.planning import Planned


def check_kernel(
    printer: Printer,
    release: str = opt.argument("RELEASE", "As `uname -r` prints it.", "free"),
    place: opt.Place = opt.Place(),
) -> None:
    """Check the applied values against an installed kernel; withdraw what would stop its driver."""
    from rocmcfg.workflow import kernels

    host = hosts.open_host(printer, *place)
    hosts.require_root(printer, host)
    hosts.may_change(printer, host)
    found = kernels.check_kernel(host, release, printer.progress)
    printer.end_progress()
    printer.document(found)
    printer.problems(found)


def watch_trial(printer: Printer, place: opt.Place = opt.Place()) -> None:
    """Wait until the trial's time has come; confirm it where all is well, else say why not."""
    from rocmcfg.workflow import confirming

    host = hosts.open_host(printer, *place)
    hosts.require_root(printer, host)
    # a shutdown while nothing is being changed is no failure, and the next boot is the old one
    signal.signal(signal.SIGTERM, _leave)
    printer.may_change(host)

    def ask(_: Planned) -> bool:
        interrupts.heed()  # from here on files change: a shutdown ends it with a rollback
        return True

    watched = confirming.watch(host, time.sleep, ask, printer.progress)
    printer.end_progress()
    printer.document([])
    if isinstance(watched, str):
        printer.line(f"Nothing to do: {watched}.")
    else:
        printer.line(f"The trial confirmed itself: applied as transaction {watched.transaction}.")


def _leave(*_: Any) -> None:
    sys.exit(0)
