"""Options that several commands share, as typer reads them, so that they read the same everywhere."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer


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
