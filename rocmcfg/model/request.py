"""What the user asked for, and the command that asks for it again."""

from __future__ import annotations

import shlex

from rocmcfg.model.shape import NamedTuple


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
    env_target: tuple[str, ...] = ()


def root_option(root: str) -> str:
    """Return what a command for the same host needs besides, with the blank before it; empty for the running
    one."""
    return "" if root == "/" else f" --root {shlex.quote(root)}"


def command_line(request: Request, root: str = "/") -> str:
    """The command that asks for the same again, for a reader to copy."""
    words = ["rocmcfg", "apply", *_asked(request)]
    words += ["--boot-backend", request.boot_backend] if request.boot_backend else []
    words += [word for name in request.env_target for word in ("--env-target", name)]
    return shlex.join(words) + root_option(root)


def render_line(request: Request, format: str) -> str:
    """The command that prints the same as the configuration of a system that is built."""
    return shlex.join(["rocmcfg", "render", "--format", format, *_asked(request)])


def _asked(request: Request) -> list[str]:
    words: list[str] = []
    for option, values in (
        ("--profile", request.profiles),
        ("--set", request.set),
        ("--with", request.with_),
        ("--without", request.without),
    ):
        words += [word for value in values for word in (option, value)]
    words += ["--unconditional"] * request.unconditional + ["--any-gpu"] * request.any_gpu
    return words + (["--via", request.via] if request.via else [])
