"""The user's request, and the command that repeats it."""

from __future__ import annotations

import shlex
from typing import Literal

from rocmcfg.model.shape import NamedTuple

Via = Literal["", "cmdline", "modprobe"]  # the values of `model.desired.Channel`, or none


class Request(NamedTuple):
    """The user's request, which the receipt keeps so that it can be repeated."""

    profiles: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    with_: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    unconditional: bool = False
    any_gpu: bool = False
    via: Via = ""
    boot_backend: str = ""
    env_target: tuple[str, ...] = ()
    rocm: str = ""


def root_option(root: str) -> str:
    """Return the option that a command for the same host needs, with a blank before it; empty for the running
    one."""
    return "" if root == "/" else f" --root {shlex.quote(root)}"


def command_line(request: Request, root: str = "/") -> str:
    """Return the command that repeats the request, for the user to copy."""
    words = ["rocmcfg", "apply", *_asked(request)]
    words += ["--boot-backend", request.boot_backend] if request.boot_backend else []
    words += [word for name in request.env_target for word in ("--env-target", name)]
    return shlex.join(words) + root_option(root)


def render_line(request: Request, format: str) -> str:
    """Return the command that prints the same settings in the configuration format of an image-based
    system."""
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
    words += ["--rocm", request.rocm] if request.rocm else []
    return words + (["--via", request.via] if request.via else [])
