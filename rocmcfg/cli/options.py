"""What commands do with the options that several of them share, so that these behave the same everywhere.

`declarations` has the options themselves; `opt.Root` is found there when typer asks what a command's
annotations mean, which most commands do without (`prepared`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rocmcfg.cli import render
from rocmcfg.cli.render import Printer
from rocmcfg.host import interrupts
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import fail

if TYPE_CHECKING:
    from rocmcfg.cli.declarations import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        from rocmcfg.cli import declarations

        return getattr(declarations, name)


# where --chroot finds what it runs
_OF_PROGRAMS = ("/bin", "/sbin", "/lib", "/usr/bin", "/usr/sbin", "/usr/lib", "/etc", "/boot/grub")


@contextmanager
def session(
    command: str, json: bool, quiet: bool = False, verbose: bool = False, debug: bool = False
) -> Iterator[Printer]:
    """A printer for one command; whatever stops the command is printed by it, in its format."""
    render.root = "/"
    printer = Printer(command, json=json, quiet=quiet, verbose=verbose)
    with printer.errors(debug=debug):
        yield printer


def open_host(root: str, *, chroot: bool = False) -> LocalHost:
    """The host of --root. Raises RocmcfgError for a root that is none."""
    if not os.path.isdir(root):
        raise fail(
            "RC3020", f"--root {root}: there is no such directory", hint="name the mounted root of a host"
        )
    if chroot and not LocalHost(root).offline:
        raise fail("RC3021", "--chroot needs --root DIR", hint="without --root the host's tools run anyway")
    if chroot and os.geteuid() != 0:
        raise fail("RC3022", "--chroot needs root", hint="run the command with sudo")
    host = LocalHost(root, chroot=chroot)
    render.root = host.root
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


def require_root(host: LocalHost, command: str, look: str = "") -> None:
    """Changing the running host is root's; an offline tree belongs to whoever can write it. `look` is the
    command that shows without any rights what this one would do, where there is one."""
    if not host.offline and os.geteuid() != 0:
        raise fail(
            "RC3023",
            f"{command} changes this host and needs root",
            hint=f"sudo rocmcfg {command} …"
            + (f"; `rocmcfg {look}` shows what it would do without any rights" if look else ""),
        )


def may_change(printer: Printer, host: LocalHost) -> None:
    """From here on the command changes things: a signal ends it where nothing is left half done, and before
    it says how the host is, it looks."""
    printer.looks(host)
    interrupts.heed()


def require_terminal(yes: bool, look: str) -> None:
    """`look` is the command that shows what would be asked about."""
    if not yes and not sys.stdin.isatty():
        raise fail(
            "RC3024",
            "nobody can be asked: the input is not a terminal",
            hint=f"add --yes to go ahead without a question; `rocmcfg {look}` shows what it would do",
        )
