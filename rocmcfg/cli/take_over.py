"""Command `take-over`: move the owner's own module parameters into a local profile, and apply it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.request import Via

if TYPE_CHECKING:
    from rocmcfg.change.planning.taking_over import Occurrence
    from rocmcfg.workflow.taking_over import TakenOver


def take_over(
    printer: Printer,
    *,
    name: str = opt.text(
        "--name", metavar="NAME", help="The name of the new profile.", takes="free", default="own"
    ),
    via: Via = opt.VIA,
    boot_backend: str = opt.BOOT_BACKEND,
    dry_run: bool = opt.switch("--dry-run", help="Show what it would do, and change nothing."),
    diff: bool = opt.DIFF,
    yes: bool = opt.YES,
    place: opt.TargetHost = opt.TargetHost(),
) -> None:
    """Move your own settings into a profile.

    Parameters of amdgpu and ttm move from GRUB's defaults and /etc/modprobe.d to /etc/rocmcfg/profiles. Their
    values stay in effect.
    """
    from rocmcfg.knowledge import profiles
    from rocmcfg.workflow import taking_over as workflow

    opt.require_profile_name(name)
    request = opt.through(via, boot_backend)
    host = hosts.open_host(printer, *place)
    look = shlex.join([*sys.argv[1:], "--dry-run"])
    question = "" if yes or dry_run else look
    hosts.require_rights(printer, host, changes=not dry_run, question=question)
    if os.path.isfile(profiles.shipped_path(name)):
        summary = f"{name} is a shipped profile, which a local profile of that name would replace"
        raise fail("RC1013", summary, hint="choose another name with --name")
    if dry_run:
        planned = workflow.plan_take_over(host, name, request)
        printer.document(planned.planned.plan.diagnostics, planned)
        _show(printer, planned, diff=True)
        printer.line("Dry run: nothing was changed.")
        return
    ask = hosts.asking(printer, host, yes, partial(_show, diff=diff), "Take these over?", look)
    taken = workflow.take_over(host, name, request, ask, printer.progress, asks=not yes)
    _say(printer, hosts.agreed(printer, taken, "Nothing was changed."))


def _show(printer: Printer, taken: TakenOver, *, diff: bool) -> None:
    from rocmcfg.cli import plan_view

    made = taken.planned.plan
    printer.pairs(plan_view.host_rows(taken.planned.facts), indent="")
    moved = [
        (f"{occurrence.parameter}={occurrence.value}", f"from {occurrence.source}")
        for occurrence in taken.moved
    ]
    printer.section(f"Moves to {taken.profile}", moved)
    _show_left(printer, taken.left)
    plan_view.show_command_line(printer, made.command_line)
    plan_view.show_changes(printer, made.changes, made.due, diff)
    plan_view.show_activations(printer, made.activations, made.tools)
    printer.line()
    due = [*made.due, *(tool.step for tool in made.tools)]
    printer.paragraph(plan_view.summary(made.changes, due, made.reboot_required))
    plan_view.remarks(printer, made.diagnostics)


def _show_left(printer: Printer, left: Sequence[Occurrence]) -> None:
    if left:
        printer.heading("Stays where it is")
    for occurrence in left:
        printer.paragraph(f"  {occurrence.text}  ({occurrence.source})")
        printer.wrapped(occurrence.reason, indent="      ")


def _say(printer: Printer, taken: TakenOver) -> None:
    made = taken.planned.plan
    printer.document(made.diagnostics, taken)
    printer.line()
    printer.line(f"Taken over as transaction {taken.planned.transaction}.")
    left = hosts.say_left_to_user(printer, made.activations)
    at, where = ("there", " that host") if printer.root_option else ("", "")
    steps = ["run these commands"] if left else []
    steps += [f"reboot{where}"] if made.reboot_required else []
    printer.paragraph(f"Next: {', then '.join([*steps, f'`rocmcfg verify` {at}'.strip()])}.")
    printer.wrapped(f"To change a value, edit {taken.profile}, then apply that profile.", "")
    printer.to_copy("Undo:", printer.for_host("sudo rocmcfg rollback"))
