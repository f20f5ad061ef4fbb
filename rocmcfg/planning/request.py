"""What the user asked for, before anything is resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.profile import Setting
from rocmcfg.model.state import Kind
from rocmcfg.model.value import SAFE_MODULE, SAFE_NAME, SAFE_VALUE, SAFE_VARIABLE, unsafe_reason


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for; kept in the receipt so that it can be asked again."""

    profiles: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    with_: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    unconditional: bool = False
    any_gpu: bool = False
    via: str = ""
    boot_backend: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a profile's parameter: `--set profile.gtt_gib=96`."""

    name: str
    value: int


def root_option(root: str) -> str:
    """What a command for the same host needs besides, with the blank before it; empty for the running one."""
    import shlex

    return "" if root == "/" else f" --root {shlex.quote(root)}"


def command_line(request: Request, root: str = "/") -> str:
    """The command that asks for the same again, for a reader to copy."""
    import shlex

    words = ["rocmcfg", "apply"]
    for option, values in (
        ("--profile", request.profiles),
        ("--set", request.set),
        ("--with", request.with_),
        ("--without", request.without),
    ):
        words += [word for value in values for word in (option, value)]
    words += ["--unconditional"] * request.unconditional + ["--any-gpu"] * request.any_gpu
    words += ["--via", request.via] if request.via else []
    words += ["--boot-backend", request.boot_backend] if request.boot_backend else []
    return shlex.join(words) + root_option(root)


def named(id: str, names: Iterable[str]) -> bool:
    """Whether one of the names is this setting: its id, or the id's last part; - and _ are one."""
    full = id.replace("-", "_")
    return any(name.replace("-", "_") in (full, full.partition(".")[2]) for name in names)


def from_document(document: Mapping[str, Any]) -> Request:
    """As the receipt keeps it. Raises TypeError for a key that this version does not know."""
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list | tuple) else v for k, v in document.items()}
    return Request(**fields)


def parse_set(text: str) -> Setting | Given | Diagnostic:
    """One `--set` option: `amdgpu.runpm=0`, `feature.gfxoff=false`, `karg.iommu=pt`, `env.NAME=VALUE`, or
    `profile.NAME=NUMBER` for what a profile leaves to the user."""
    key, equals, value = text.partition("=")
    scope, dot, name = key.partition(".")
    if not dot or not name or not scope:
        return error(
            "RC2001",
            f"--set {text!r} does not say what to set",
            hint="write amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE "
            "or profile.NAME=NUMBER",
        )
    if not equals and scope != "karg":
        return error("RC2001", f"--set {text!r} has no value", hint=f"write --set {key}=VALUE")
    names = SAFE_VARIABLE if scope == "env" else SAFE_NAME
    if not SAFE_MODULE.match(scope) or not names.match(name):
        return error(
            "RC2002",
            f"--set {key!r}: not a name",
            location="--set",
            hint="names are letters, digits and _, those of kernel arguments and parameters also . and -",
        )
    if equals and not SAFE_VALUE.match(value):
        return error(
            "RC2002",
            f"--set {key}: {unsafe_reason(value)}",
            location="--set",
            hint="give the bare value; no file that rocmcfg writes needs quotes around it",
        )
    setting = partial(Setting, location="--set", because="asked for on the command line")
    if scope == "feature":
        words = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        if value.lower() not in words:
            return error(
                "RC2002",
                f"--set {key}: a feature is true or false, not {value!r}",
                location="--set",
                hint=f"write --set {key}=true or --set {key}=false",
            )
        return setting(Kind.FEATURE, name, words[value.lower()])
    if scope == "profile":
        if not re.fullmatch("[0-9]{1,10}", value):
            return error(
                "RC2002",
                f"--set {key}: a profile's parameter is a whole number, not {value!r}",
                location="--set",
                hint=f"write --set {key}=NUMBER; `rocmcfg profile show NAME` says of what",
            )
        return Given(name, int(value))
    if scope == "karg":
        return setting(Kind.KARG, name, value if equals else True)
    if scope == "env":
        return setting(Kind.ENV, name, value)
    return setting(Kind.PARAMETER, name.replace("-", "_"), value, module=scope.replace("-", "_"))
