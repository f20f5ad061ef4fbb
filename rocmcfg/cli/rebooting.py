"""Tries with reboots: begin one, go on with it in each boot as rocmcfg-try.service does, and end it."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.experiments.reboots import boots_wanted
from rocmcfg.experiments.statistics import power
from rocmcfg.host import interrupts
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.experiment import MOST_BOOTS, Design, boots_name
from rocmcfg.model.request import Request, command_line
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from rocmcfg.records.reboots import RootTries
    from rocmcfg.records.tries import Terms
    from rocmcfg.workflow.reboot_start import Prepared
    from rocmcfg.workflow.rebooting import Machine

_RATES = (0.9, 0.5, 0.2)  # of a fault, for which it is said beforehand how many boots find its cure


class RebootOptions(NamedTuple):
    """Whether boots are compared, for settings of the kernel."""

    reboots: int | None = opt.number(
        "--reboots",
        metavar="N",
        help="As root: compare N boots with kernel settings to N boots without. This reboots the host.",
        takes="free",
    )
    user: str = opt.text(
        "--user",
        metavar="NAME",
        help="With --reboots: the user who runs the program (default: the one who called sudo).",
        takes="free",
    )
    crashed: bool = opt.switch(
        "--crashed",
        help="With --reboots: a boot that goes down during the run has failed, even if it was a power cut.",
    )
    yes: bool = opt.YES


def machine_of(host: LocalHost) -> Machine:
    """Return the machine of this host."""
    from rocmcfg.workflow.machine import RealMachine

    return RealMachine(host)


def begin(
    printer: Printer,
    host: LocalHost,
    program: tuple[str, ...],
    request: Request,
    design: Design,
    terms: Terms,
    options: RebootOptions,
) -> None:
    """Begin a try with reboots, after a question."""
    from rocmcfg.cli.try_view import document_of
    from rocmcfg.host.other_user import account
    from rocmcfg.workflow import reboot_start

    assert options.reboots is not None
    if not 1 <= options.reboots <= MOST_BOOTS:
        raise Misuse(f"{options.reboots} is not from 1 to {MOST_BOOTS}", "--reboots")
    if request == Request():
        hint = "rocmcfg try --reboots 5 --set amdgpu.NAME=VALUE -- PROGRAM"
        raise Misuse("name what to try with --set or --profile", hint=hint)
    look = command_line(request).removeprefix("rocmcfg ").replace("apply", "plan --trial", 1)
    hosts.require_rights(printer, host, question="" if options.yes else look)
    request = hosts.understood(printer, host, request)
    user = account(options.user or host.user())
    design = design._replace(
        kind="reboots", boots=options.reboots, most_runs=2 * options.reboots, warm_up=False
    )
    prepared = reboot_start.prepare(
        host, request, program, design, terms, user, os.environ, going_down_fails=options.crashed
    )
    ask = hosts.asking(printer, host, options.yes, _show, _question, look)
    if not ask(prepared):
        hosts.agreed(printer, None, "Nothing was changed.")
    taken = reboot_start.begin(host, prepared, machine_of(host), printer.progress)
    printer.end_progress()
    printer.document(prepared.remarks, document_of(taken.attempt))
    name = taken.attempt.name
    printer.line(f"Try {name} has begun: this host reboots now.")
    printer.wrapped(f"Its state: sudo rocmcfg tries show {name}.  To end it: sudo rocmcfg reject", "")


def _show(printer: Printer, prepared: Prepared) -> None:
    """Say what will happen, and at which rates of failure it can decide."""
    from rocmcfg.workflow.try_words import names

    design, begun = prepared.design, prepared.begun
    assert begun.boots is not None
    number = design.boots
    printer.line(f"Test {names(design, design.all)}: {number} boots with the settings, {number} without")
    printer.pairs(
        [
            ("program", f"{shlex.join(begun.program)}, once in each boot, as {begun.boots.user}"),
            ("folder", begun.folder),
        ]
    )
    rows = []
    for rate in _RATES:
        wanted = boots_wanted(rate, design.error)
        needed = f"{wanted} + {wanted} boots" if wanted else f"more than {MOST_BOOTS} + {MOST_BOOTS} boots"
        chance = f"{100 * power(rate, number, design.error):.0f} %"
        rows.append((f"in {100 * rate:.0f} % of boots", chance, needed))
    printer.line()
    printer.table(("THE FAULT COMES", "A CURE IS FOUND", "FOR A 90 % CHANCE"), rows)
    printer.line()
    printer.wrapped(
        "A boot with the settings is a trial boot. After a panic, the host boots its old configuration by "
        "itself; after a hang, switch the machine off and on. Such a boot counts as failed. "
        f"{'One more reboot ends the last boot with the settings. ' if number % 2 else ''}Use this host "
        "for nothing else meanwhile: a change of its boot files ends the try.",
        "",
    )
    printer.problems(prepared.remarks)


def _question(prepared: Prepared) -> str:
    boots = prepared.design.boots
    last = boots % 2  # the last boot is then one of the treatment, and one more follows
    return f"Reboot this host now, and up to {2 * boots + last} times in all?"


def continue_try(printer: Printer) -> None:
    """Go on with a try with reboots in this boot, as its unit does."""
    from rocmcfg.workflow import rebooting
    from rocmcfg.workflow.one_run import Stopped

    host = hosts.open_host(printer, "/")
    hosts.require_rights(printer, host)
    printer.may_change(host)
    interrupts.heed()
    try:
        taken = rebooting.go_on(host, machine_of(host), printer.progress)
    except (Stopped, KeyboardInterrupt):
        printer.line("Stopped by a shutdown: this boot does not count.")
        return
    printer.document([])
    if taken is None:
        printer.line("Nothing to do: no try with reboots is under way.")
    else:
        printer.line(f"Try {taken.attempt.name}: {taken.text}.")


def root_tries(host: LocalHost) -> RootTries:
    """Return the tries with reboots. Raises RocmcfgError for a user who may not read them."""
    from rocmcfg.records.reboots import RootTries

    if not host.is_root:
        raise fail("RC4615", "only root can read tries with reboots", hint="run the command with sudo")
    return RootTries(host)


def goes_on(printer: Printer, number: int) -> bool:
    """Return whether a try with reboots goes on by itself."""
    from rocmcfg.records import reboots

    return reboots.under_way(hosts.open_host(printer, "/")) == number


def resume(printer: Printer, host: LocalHost, number: int, yes: bool) -> None:
    """Go on with a try with reboots that has stopped, after a question."""
    from rocmcfg.cli.try_view import document_of
    from rocmcfg.records import tries
    from rocmcfg.workflow import rebooting

    look = f"tries show {boots_name(number)}"
    hosts.require_rights(printer, host, question="" if yes else look)
    attempt = tries.load(root_tries(host), number)
    rebooting.require_under_way(attempt)
    ask = hosts.asking(printer, host, yes, _show_attempt, "Reboot this host now, and go on?", look)
    if not ask(attempt):
        hosts.agreed(printer, None, "Nothing was changed.")
    taken = rebooting.resume(host, number, machine_of(host), printer.progress)
    printer.end_progress()
    printer.document((), document_of(taken.attempt))
    printer.line(f"Try {taken.attempt.name}: {taken.text}.")


def _show_attempt(printer: Printer, attempt: object) -> None:
    from rocmcfg.cli import try_view
    from rocmcfg.records.tries import Try

    assert isinstance(attempt, Try)
    try_view.show(printer, try_view.document_of(attempt))


def stop_if_under_way(host: LocalHost, printer: Printer, number: int | None = None) -> str:
    """End the try with reboots that is under way, and its program; with a `number`, only if it is that try.
    Return what to say; empty where nothing was done."""
    from rocmcfg.change.trial.plan import TRY_UNIT
    from rocmcfg.records import reboots
    from rocmcfg.workflow import rebooting

    under_way = reboots.under_way(host)
    if under_way is None or number not in (None, under_way):
        return ""
    printer.may_change(host)
    # the unit waits for its program, and holds the lock of the tries meanwhile
    host.execute(("systemctl", "stop", TRY_UNIT), timeout=120, progress=lambda: None)
    rebooting.stop(host, printer.progress)
    name = boots_name(under_way)
    return f"Try {name} is ended: sudo rocmcfg tries show {name}"
