"""What the user asked for, before anything is resolved, and as a command that asks for it again."""

from __future__ import annotations

from typing import NamedTuple


class Request(NamedTuple):
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
