"""What the user asked for, before anything is resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.profile import Setting
from rocmcfg.model.spelling import ProfileValue, Spelling, parse
from rocmcfg.model.state import Kind


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


def parse_set(text: str) -> Setting | ProfileValue | Diagnostic:
    """One `--set` option as the setting that it asks for."""
    asked = parse(text)
    if not isinstance(asked, Spelling):
        return asked
    value = asked.enabled if asked.kind is Kind.FEATURE else True if asked.value is None else asked.value
    return Setting(
        asked.kind,
        asked.name,
        value,
        module=asked.module,
        location="--set",
        because="asked for on the command line",
    )
