"""Options that several commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated

import typer

from rocmcfg.cli.render import Printer
from rocmcfg.host import interrupts
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import fail


def _checked_set(values: list[str] | None) -> list[str] | None:
    for text in values or []:
        key, equals, _ = text.partition("=")
        scope, _, name = key.partition(".")
        if not (scope and name) or (not equals and scope != "karg"):
            raise typer.BadParameter(
                f"{text!r} does not say what to set; write amdgpu.runpm=0, feature.gfxoff=false, "
                "karg.iommu=pt, env.NAME=VALUE or profile.NAME=NUMBER"
            )
    return values


# where --chroot finds what it runs
_OF_PROGRAMS = ("/bin", "/sbin", "/lib", "/usr/bin", "/usr/sbin", "/usr/lib", "/etc", "/boot/grub")


class Via(str, Enum):
    cmdline = "cmdline"
    modprobe = "modprobe"


Root = Annotated[
    str,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Work on the host in DIR; nothing of the running one is touched.",
        rich_help_panel=None,
    ),
]
Chroot = Annotated[bool, typer.Option("--chroot", help="With --root: run that host's own tools inside it.")]
# `--log *.log` hands over one file as the option's and the others like this
MoreLogs = Annotated[
    list[str] | None, typer.Argument(metavar="[FILE]…", help="Logs as well, so that --log *.log works.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print problems only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print evidence, sources and details.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Profiles = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME",
        help="A profile: its name, a .toml file, or auto. May be repeated.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE, and profile.NAME=NUMBER "
        "for what a profile leaves to you. May be repeated.",
        callback=_checked_set,
    ),
]
With = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="SETTING", help="Add an optional setting of the profile."),
]
Without = Annotated[
    list[str] | None, typer.Option("--without", metavar="SETTING", help="Leave a setting of the profile out.")
]
Unconditional = Annotated[
    bool, typer.Option("--unconditional", help="Apply also what this kernel and ROCm do not need.")
]
AnyGpu = Annotated[bool, typer.Option("--any-gpu", help="Apply although no GPU of the profile is here.")]
ViaOption = Annotated[
    Via | None, typer.Option("--via", help="Where module parameters go (default: the kernel command line).")
]
Trial = Annotated[
    bool,
    typer.Option(
        "--trial", help="For the next boot only: kept if you confirm, forgotten by the boot after it if not."
    ),
]
ConfirmAfter = Annotated[
    str,
    typer.Option(
        "--confirm-after",
        metavar="TIME",
        help="With --trial: it confirms itself so long after its boot began (90s, 10m, 1h) where verify "
        "holds, the kernel log is clean and somebody has logged in.",
    ),
]
HealthCheck = Annotated[
    str,
    typer.Option(
        "--health-check",
        metavar="COMMAND",
        help="With --confirm-after: a shell command, run as root, that has to succeed in place of a login. "
        "Everybody can read it in the record: put secrets into a script.",
    ),
]
BootBackend = Annotated[
    str, typer.Option("--boot-backend", metavar="NAME", help="The boot loader, where two are installed.")
]


@contextmanager
def session(
    command: str, json: bool, quiet: bool = False, verbose: bool = False, debug: bool = False
) -> Iterator[Printer]:
    """A printer for one command; whatever stops the command is printed by it, in its format."""
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
