"""Open the host that a command works on, check the caller's rights, and ask before the host is changed."""

from __future__ import annotations

import os
import shlex
import sys
import time
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

# --chroot runs programs from these folders
_OF_PROGRAMS = ("/bin", "/sbin", "/lib", "/usr/bin", "/usr/sbin", "/usr/lib", "/etc", "/boot/grub")


def open_host(printer: Printer, root: str, chroot: bool = False) -> LocalHost:
    """Return the host of --root. Raises RocmcfgError if there is no host in that folder. A command that
    changes the host, or runs its programs with --chroot, calls `require_rights` next."""
    if not os.path.isdir(root):
        hint = "specify the mounted root of a host"
        raise fail("RC3020", f"--root {root}: there is no such directory", hint=hint)
    if chroot and not LocalHost(root).offline:
        raise fail("RC3021", "--chroot needs --root DIR", hint="without --root the host's tools run anyway")
    host = LocalHost(root, chroot=chroot)
    if host.offline and not host.is_dir("/etc"):
        if host.hidden("/") or host.hidden("/etc"):
            raise fail("RC3020", f"--root {root}: only root can read it", hint="run the command as root")
        hint = "specify the root of a host, with its /etc; a /boot partition alone is not enough"
        raise fail("RC3020", f"--root {root}: there is no host in it", hint=hint)
    printer.root, printer.runs_tools = host.root, host.runs_tools
    drop_ins.look_in(host)
    weak = next(filter(None, map(host.weakness, _OF_PROGRAMS)), None) if chroot else None
    if weak is not None:
        raise fail(
            "RC3026",
            f"--chroot would run programs of that host as root, but other users can change {weak.path} in it",
            location=f"{root.rstrip('/')}{weak.path}",
            hint="leave --chroot out, or make root the owner of that tree: a chroot does not confine root",
        )
    return host


def name_host(printer: Printer, host: LocalHost, wanted: bool, is_saved: bool = False) -> None:
    """Make the documents of the command say which host this is, and when. Without --name-host they do not,
    since they go into bug reports. `is_saved`: one is written to a file. Raises Misuse."""
    if not wanted:
        return
    if not printer.json and not is_saved:
        raise Misuse("--name-host adds to the JSON document: add --json")
    from rocmcfg.facts.system import read_name

    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    printer.identity = {"host": read_name(host), "written": written}


def require_rights(
    printer: Printer,
    host: LocalHost,
    *,
    changes: bool = True,
    question: str = "",
    misspelt: Sequence[Diagnostic] = (),
) -> None:
    """Raise if only root may go on and the caller is not root: with --chroot, and for a command that
    `changes` the running host. A caller who can write an offline tree may change it.

    A usage error is reported before missing rights; otherwise the user would only meet it after adding sudo.
    Usage errors are the `misspelt` settings, and --json with a command that would ask a question. `question`
    is the command that only shows the change, empty if nothing is asked."""
    if question and printer.json:
        raise Misuse(f"--json cannot ask a question: add --yes; `rocmcfg {question}` shows what it would do")
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
    """Return the request with the names that rocmcfg uses, and print how it was understood. Raises like
    `request_names.understood`."""
    request, printer.understood = read_request(host, typed, alone=alone)
    printer.problems(printer.understood)
    return request


def read_request(
    host: LocalHost, typed: Request, *, alone: bool = True
) -> tuple[Request, Sequence[Diagnostic]]:
    """Return the request with the names that rocmcfg uses, and how it was understood. Raises like
    `request_names.understood`."""
    from rocmcfg.change.planning import request_names

    command = ["sudo"] * ("SUDO_USER" in os.environ and os.geteuid() == 0) + ["rocmcfg", *sys.argv[1:]]
    return request_names.understood(host, typed, request_names.instead_in(command), alone=alone)


def asking(
    printer: Printer,
    host: LocalHost,
    yes: bool,
    show: Callable[[Printer, Planned], None],
    question: str | Callable[[Planned], str],
    look: str,
) -> Callable[[Planned], bool]:
    """Return a function that shows a plan and asks the user whether to carry it out. From here on the command
    may change the host. Raises if there is no terminal to ask on; `look` is the command that only shows the
    plan. Call `require_rights` first."""
    if not yes and not sys.stdin.isatty():
        hint = f"add --yes to go ahead without a question; `rocmcfg {look}` shows what it would do"
        raise fail("RC3024", "cannot ask a question: the input is not a terminal", hint=hint)
    printer.may_change(host)
    interrupts.heed()

    def ask(planned: Planned) -> bool:
        show(printer, planned)
        if yes:
            return True
        with host.asking():
            return printer.ask(question if isinstance(question, str) else question(planned))

    return ask


def agreed(printer: Printer, done: Done | None, refused: str) -> Done:
    """Return `done`; if the user said no, print the text `refused` and end the command."""
    printer.end_progress()
    if done is None:
        printer.line(refused)
        raise SystemExit(int(ExitCode.ERROR))
    return done


def say_left_to_user(printer: Printer, activations: Sequence[Activation]) -> bool:
    """Print the programs that are left to the user; return whether there are any."""
    left = [a for a in activations if a.state.value == "left_to_user"]
    if left:
        printer.line("Left to you, inside that host:")
    for activation in left:
        for line in activation.lines:
            printer.line(f"  {line}")
    return bool(left)
