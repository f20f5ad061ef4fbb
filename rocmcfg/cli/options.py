"""Declare options and arguments of commands, and read a command line by the declarations.

The default of a command's keyword-only parameter is its declaration, or a group of declarations (a
NamedTuple); `app.call` passes the values in their place. `read` reads a command line in plain spellings by
these declarations. `parser` makes typer's declarations from the same ones and reads everything else: unknown
options, too many or too few words, and rare spellings such as -vq. Loading typer takes as long as a whole
`verify`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from rocmcfg.cli.printer import Misuse
from rocmcfg.model.request import Request, Via
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.trial import Terms
from rocmcfg.model.version import Version, parse_version

_SOONEST, _LATEST = 30, 24 * 3600  # seconds for --confirm-after; a boot alone takes longer than 30 s


class Option(NamedTuple):
    """An option, or an argument if it has no `names`. `takes` says how a value is completed: by a kind of
    `complete`, by words that the scripts know (`gfx`, `boot-backend`, `document`), by one of `choices`
    (`choice`), by a `file`, a `directory`, a profile or a file (`profile-file`), any command and its own
    arguments (`command`), or not at all (`free`)."""

    names: tuple[str, ...]
    kind: Literal["switch", "text", "texts", "number"]
    help: str
    metavar: str = ""
    takes: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    required: bool = False

    def value(self, given: Any) -> Any:
        """Return the value that the command's function gets for a value as it was read, which is None if the
        option is absent. Raises Misuse for a missing required value, for a number below 0, for a
        value that is not one of the choices, and for a file or folder without a name."""
        if given is None and self.required:
            raise Misuse(f"Missing argument '{self.metavar}'.")
        if self.kind == "texts":
            return tuple(given or ())
        if given is None:
            return self.default
        if self.kind == "number":
            return self._number(given)
        if given == "" and self.takes in ("file", "directory"):  # a variable of a script that is not set
            raise Misuse("the name is empty", self.names[0] if self.names else self.metavar)
        if self.choices and given not in self.choices:
            raise Misuse(f"{given!r} is not one of {', '.join(map(repr, self.choices))}.", self.names[0])
        return given

    def _number(self, given: str) -> int:
        try:
            number = int(given)
        except ValueError:
            raise Misuse(f"{given!r} is not a whole number.", self.names[0]) from None
        if number < 0:
            raise Misuse(f"{given} is below 0", self.names[0])
        return number


def option(*names: str, kind: Any = "text", takes: str = "choice", default: Any = "", **others: Any) -> Any:
    return Option(names, kind, takes=takes, default=default, **others)


switch = partial(option, kind="switch", takes="", default=False)
text = option
texts = partial(option, kind="texts", default=None)  # may be repeated
number = partial(option, kind="number", default=None)


def argument(metavar: str, help: str, takes: str, kind: Any = "text", required: bool = True) -> Any:
    default = None if kind == "texts" else ""
    return option(help=help, kind=kind, takes=takes, metavar=metavar, default=default, required=required)


def declared(function: Callable[..., None]) -> Mapping[str, Any]:
    """Return the declarations of a command's function, by the names of its keyword-only parameters. Each is
    an Option or a group of Options."""
    return function.__kwdefaults__ or {}


def read(declared: Mapping[str, Option], words: list[str], passes_on: bool) -> dict[str, Any] | None:
    """Read the words after the name of a command. Return the texts of each option and argument that is
    present, True for a switch; None if typer has to read the words. `passes_on`: no word after the first
    argument is an option of the command."""
    by_spelling = {spelling: (name, option) for name, option in declared.items() for spelling in option.names}
    values: dict[str, Any] = {}
    arguments: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            arguments += reversed(rest)
            break
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            if passes_on:
                arguments += reversed(rest)
                break
            continue
        spelling, equals, value = word.partition("=")
        name, option = by_spelling.get(spelling, ("", None))
        if option is None:
            return None
        if option.kind == "switch" and not equals:
            values[name] = True
            continue
        if option.kind == "switch" or (equals and not spelling.startswith("--")):
            return None
        if not equals:
            if not rest:
                return None
            value = rest.pop()
        if option.kind == "texts":
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    if values.get("help"):
        return {"help": True}
    return _placed(declared, arguments, values)


def _placed(
    declared: Mapping[str, Option], words: list[str], values: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the values, with the words that belong to no option as arguments; None if words are left
    over."""
    for name, argument in declared.items():
        if argument.names or not words:
            continue
        if argument.kind == "texts":
            values[name], words = words, []
        else:
            values[name], words = words[0], words[1:]
    return None if words else values


# The options for the printer that every command gets. `commands.Command` says which of them a command has.
OUTPUT: dict[str, Any] = {
    "json": switch("--json", help="Print one JSON document and nothing else."),
    "quiet": switch("--quiet", "-q", help="Print problems only."),
    "verbose": switch("--verbose", "-v", help="Print evidence, sources and details."),
    "debug": switch("--debug", help="Show the traceback of an unexpected error."),
}
HELP = switch("-h", "--help", help="Show this help and exit.")
ROOT = text(
    "--root",
    metavar="DIR",
    help="Work on the host in DIR; the running host is not touched.",
    takes="directory",
    default="/",
)
NAME_HOST = switch("--name-host", help="Add the host's name and the time to the JSON document.")
YES = switch("--yes", "-y", help="Do not ask.")
DIFF = switch("--diff", help="Show file changes as diffs.")
BOOT_BACKEND = text(
    "--boot-backend", metavar="NAME", help="The boot loader, if two are installed.", takes="boot-backend"
)
LOG = texts(
    "--log",
    metavar="FILE",
    help="A log, compressed or not; - reads standard input. May be repeated.",
    takes="file",
)
GFX = texts(
    "--gfx", metavar="G", help="For this GPU, such as gfx1100 or 9070xt. May be repeated.", takes="gfx"
)
KERNELS = texts("--kernel", metavar="V", help="For this kernel instead of those of the host.", takes="kernel")
ROCM = text(
    "--rocm",
    metavar="V",
    help="The ROCm release in use, such as the one that a PyTorch wheel brings.",
    takes="free",
)
# the shell expands `--log *.log` to one value of the option and further words
MORE_LOGS = argument("[FILE]…", "Log files; same as --log.", "file", "texts", required=False)


PROFILES = texts(
    "--profile",
    "-p",
    metavar="NAME",
    help="A profile: its name, a GPU (rx9070xt), a .toml file, or auto. May be repeated.",
    takes="profile-file",
)
NAMED = argument("[PROFILE]…", "Same as --profile (default: auto).", "profile-file", "texts", required=False)


class TargetHost(NamedTuple):
    """The host, and whether its own tools are run inside it."""

    root: str = ROOT
    chroot: bool = switch("--chroot", help="With --root: run that host's own tools inside it.")


class Machine(NamedTuple):
    """A machine that is not this host: the one where a fault happened, or the one to print a profile for."""

    gfx: tuple[str, ...] = GFX
    kernel: str = text("--kernel", metavar="V", help="For this kernel.", takes="kernel")
    rocm: str = ROCM


class RequestOptions(NamedTuple):
    """The requested profiles and settings."""

    profiles: tuple[str, ...] = PROFILES
    set: tuple[str, ...] = texts(
        "--set",
        metavar="KEY=VALUE",
        help="Set one value: amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE, or "
        "profile.NAME=NUMBER for a number that a profile leaves to you. May be repeated.",
        takes="setting",
    )
    with_: tuple[str, ...] = texts(
        "--with", metavar="SETTING", help="Add an optional setting of the profile.", takes="optional"
    )
    without: tuple[str, ...] = texts(
        "--without", metavar="SETTING", help="Leave out a setting of the profile.", takes="leavable"
    )
    unconditional: bool = switch(
        "--unconditional", help="Also apply settings that this kernel and ROCm do not need."
    )
    any_gpu: bool = switch("--any-gpu", help="Apply even if this host has no GPU of the profile.")
    rocm: str = ROCM

    def request(
        self,
        named: tuple[str, ...] = (),
        via: Via = "",
        boot_backend: str = "",
        env_target: tuple[str, ...] = (),
    ) -> Request:
        """Return the request. `named` are further profiles. Raises Misuse for an unknown boot loader or
        reader of variables, and for a text that is no ROCm release."""
        release(self.rocm)
        # the kernel hook reads the profile file again later, from another directory
        profiles = (
            os.path.abspath(name) if "/" in name or name.endswith(".toml") else name
            for name in (*self.profiles, *named)
        )
        _require_known(boot_backend, env_target)
        options = self._asdict() | {"profiles": tuple(profiles)}
        return Request(**options, via=via, boot_backend=boot_backend, env_target=env_target)


ADD = texts(
    "--add",
    metavar="KEY=VALUE",
    help="Like --set, but keep the settings that are applied already. May be repeated.",
    takes="setting",
)
VIA = text(
    "--via",
    help="Where module parameters go (default: the kernel command line).",
    choices=("cmdline", "modprobe"),
)


class Boot(NamedTuple):
    """The files and the boot loader through which settings take effect."""

    via: Via = VIA
    boot_backend: str = BOOT_BACKEND
    env_target: tuple[str, ...] = texts(
        "--env-target",
        metavar="NAME",
        help="Also write variables for this reader: fish, systemd, environment, gentoo, or "
        "unit:NAME.service. May be repeated.",
        takes="env-target",
    )


TRY_RUNS = number(
    "--runs",
    metavar="N",
    help="At most this many runs (default: 500); with --cost: pairs of runs.",
    takes="free",
)
TRY_BUDGET = text(
    "--budget", metavar="TIME", help="Start no further run after this time: 90m, 8h.", takes="free"
)


def release(rocm: str) -> Version | None:
    """Return the release that --rocm names; None without one. Raises Misuse for a text that names none."""
    version = parse_version(rocm) if rocm else None
    if rocm and version is None:
        raise Misuse(f"{rocm!r} is not a ROCm version; write 7.1 or 7.1.1", "--rocm")
    return version


def through(via: Via, boot_backend: str) -> Request:
    """Return a request that asks for nothing but how settings take effect. Raises Misuse for an unknown boot
    loader."""
    _require_known(boot_backend, ())
    return Request(via=via, boot_backend=boot_backend)


def require_profile_name(name: str) -> None:
    """Raise Misuse for a text that cannot be the name of a new profile."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or name == "auto":
        raise Misuse(f"{name!r} is not a valid profile name; use letters, digits, - and _")


def _require_known(boot_backend: str, env_targets: tuple[str, ...]) -> None:
    from rocmcfg.files import environment_targets
    from rocmcfg.loaders import registry

    if boot_backend and boot_backend not in registry.NAMES:
        loaders = ", ".join(registry.NAMES)
        raise Misuse(f"unknown boot loader {boot_backend!r}; known: {loaders}", "--boot-backend")
    for wrong in (name for name in env_targets if not environment_targets.is_name(name)):
        readers = ", ".join(environment_targets.NAMES)
        raise Misuse(f"unknown reader of variables {wrong!r}; known: {readers}", "--env-target")


class TrialTerms(NamedTuple):
    """Whether the plan is a trial for one boot, and what then confirms it."""

    trial: bool = switch(
        "--trial", help="Apply for the next boot only, unless you confirm the settings during that boot."
    )
    confirm_after: str = text(
        "--confirm-after",
        metavar="TIME",
        help="With --trial: confirm the trial this long after its boot began (90s, 10m, 1h) if verify "
        "succeeds, the kernel log is clean and a user has logged in.",
        takes="free",
    )
    health_check: str = text(
        "--health-check",
        metavar="COMMAND",
        help="With --confirm-after: a shell command, run as root, that must succeed instead of a login. "
        "It is stored where every user can read it; keep secrets in a script that it calls.",
        takes="free",
    )

    def terms(self) -> Terms | None:
        """Return the terms of the trial; None without --trial. Raises Misuse for invalid terms."""
        after, check = self.confirm_after, self.health_check
        if not self.trial:
            if after or check:
                raise Misuse("--confirm-after and --health-check require --trial")
            return None
        if check and not after:
            raise Misuse("--health-check requires --confirm-after TIME")
        if check and (not check.strip() or any(ord(character) < 32 for character in check)):
            raise Misuse("--health-check takes a command of one line; put a longer one into a script")
        return Terms(_seconds(after) if after else None, check)


def _seconds(after: str) -> int:
    duration = re.fullmatch(r"([0-9]{1,6})(s|m|h)", after)
    seconds = int(duration[1]) * {"s": 1, "m": 60, "h": 3600}[duration[2]] if duration else 0
    if not _SOONEST <= seconds <= _LATEST:
        raise Misuse(f"--confirm-after {after}: specify a time such as 90s, 10m or 1h, from 30s to 24h")
    return seconds
