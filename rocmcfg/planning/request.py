"""What the user asked for, in words: as the command line takes it, and as it is shown again."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.profile import Setting
from rocmcfg.model.request import Request
from rocmcfg.model.spelling import ProfileValue, Spelling, parse
from rocmcfg.model.state import Kind


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
