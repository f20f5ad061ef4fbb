"""The host that a command works on, and what a command that changes it does before and after."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.host import interrupts
from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import drop_ins
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, fail
from rocmcfg.model.request import Request

if TYPE_CHECKING:
    from rocmcfg.model.plan import Activation

Planned = TypeVar("Planned")
Done = TypeVar("Done")

# where --chroot finds what it runs
_OF_PROGRAMS = ("/bin", "/sbin", "/lib", "/usr/bin", "/usr/sbin", "/usr/lib", "/etc", "/boot/grub")


def open_host(printer: Printer, root: str, chroot: bool = False) -> LocalHost:
    """The host of --root. Raises RocmcfgError for a root that is none. A command that changes the host, or
    runs its programs by --chroot, calls `require_rights` next."""
    if not os.path.isdir(root):
        hint = "name the mounted root of a host"
        raise fail("RC3020", f"--root {root}: there is no such directory", hint=hint)
    if chroot and not LocalHost(root).offline:
        raise fail("RC3021", "--chroot needs --root DIR", hint="without --root the host's tools run anyway")
    host = LocalHost(root, chroot=chroot)
    if host.offline and not host.is_dir("/etc"):
        if host.hidden("/") or host.hidden("/etc"):
            raise fail("RC3020", f"--root {root}: only root may look into it", hint="run the command as root")
        hint = "name the root of a host, with its /etc; a partition of /boot alone is none"
        raise fail("RC3020", f"--root {root}: there is no host in it", hint=hint)
    printer.root, printer.runs_tools = host.root, host.runs_tools
    drop_ins.look_in(host)
    weak = next(filter(None, map(host.weakness, _OF_PROGRAMS)), None) if chroot else None
    if weak is not None:
        raise fail(
            "RC3026",
            "--chroot would run programs of that host as root,"
            f" and {weak.path} in it may be changed by others",
            location=f"{root.rstrip('/')}{weak.path}",
            hint="leave --chroot away, or give that tree back to root: no chroot keeps in what root runs",
        )
    return host


def require_rights(
    printer: Printer,
    host: LocalHost,
    *,
    changes: bool = True,
    question: str = "",
    misspelt: Sequence[Diagnostic] = (),
) -> None:
    """Raises for a caller who is not root where only root may go on: with --chroot, and for a command that
    `changes` the running host. Whoever can write an offline tree may change that.

    Wrong usage is told before missing rights, which sudo would mend and then meet the mistake: what is
    `misspelt`, and --json with a command that would ask a question; `question` is the command that only
    shows what would be asked about."""
    if question and printer.json:
        raise Misuse(f"--json asks no question: add --yes; `rocmcfg {question}` shows what it would do")
    if os.geteuid() == 0:
        return
    chroots, changes = host.chroots, changes and not host.offline
    if (chroots or changes) and misspelt:
        raise RocmcfgError(*misspelt)
    if chroots:
        raise fail("RC3022", "--chroot needs root", hint="run the command with sudo")
    if changes:
        summary = f"{printer.command} changes this host and needs root"
        raise fail("RC3023", summary, hint=f"sudo rocmcfg {shlex.join(sys.argv[1:])}")


def understood(printer: Printer, host: LocalHost, typed: Request, *, alone: bool = True) -> Request:
    """Return the request in names that rocmcfg has, and print how it was understood. Raises as
    `request_names.understood`."""
    from rocmcfg.change.planning import request_names

    command = ["sudo"] * ("SUDO_USER" in os.environ and os.geteuid() == 0) + ["rocmcfg", *sys.argv[1:]]
    request, printer.understood = request_names.understood(
        host, typed, request_names.instead_in(command), alone=alone
    )
    printer.problems(printer.understood)
    return request


def asking(
    printer: Printer,
    host: LocalHost,
    yes: bool,
    show: Callable[[Printer, Planned], None],
    question: str,
    look: str,
) -> Callable[[Planned], bool]:
    """A function that shows a plan and asks the user whether to carry it out; from here on the command may
    change things. Raises where nobody can be asked: `look` is the command that only shows the plan.
    `require_rights` has been called before."""
    if not yes and not sys.stdin.isatty():
        hint = f"add --yes to go ahead without a question; `rocmcfg {look}` shows what it would do"
        raise fail("RC3024", "nobody can be asked: the input is not a terminal", hint=hint)
    printer.may_change(host)
    interrupts.heed()

    def ask(planned: Planned) -> bool:
        show(printer, planned)
        if yes:
            return True
        with host.asking():
            return printer.ask(question)

    return ask


def agreed(printer: Printer, done: Done | None, refused: str) -> Done:
    """Ends the command, with the text `refused`, where the user said no."""
    printer.end_progress()
    if done is None:
        printer.line(refused)
        raise SystemExit(int(ExitCode.ERROR))
    return done


def say_left_to_user(printer: Printer, activations: Sequence[Activation]) -> bool:
    """Whether the user has to run programs, which are said."""
    left = [a for a in activations if a.state.value == "left_to_user"]
    if left:
        printer.line("Left to you, inside that host:")
    for activation in left:
        for line in activation.lines:
            printer.line(f"  {line}")
    return bool(left)
