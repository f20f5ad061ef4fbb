"""The three files that carry variables by default, and who reads each.

environment.d(5): systemd user sessions. profile.d: POSIX login shells, dash among them. The raw file:
`docker --env-file` (takes values as they stand, quotes included) and systemd's EnvironmentFile=.
The common denominator is NAME=VALUE without quotes, blanks, `#` and `$`, which the value check ensures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rocmcfg.backends.templates import render
from rocmcfg.model.state import DesiredSetting


class EnvironmentFile(NamedTuple):
    path: str
    template: str
    readers: str


ENVIRONMENT_D = EnvironmentFile(
    "/etc/environment.d/90-rocmcfg.conf", "environment.conf.j2", "systemd user sessions"
)
PROFILE_D = EnvironmentFile("/etc/profile.d/zz-rocmcfg.sh", "profile.sh.j2", "login shells")
RAW = EnvironmentFile("/etc/rocmcfg/env", "environment.conf.j2", "docker --env-file, EnvironmentFile=")
FILES = (ENVIRONMENT_D, PROFILE_D, RAW)


def propose(file: EnvironmentFile, settings: Sequence[DesiredSetting]) -> bytes | None:
    """The file's content; None where there is no variable to set."""
    if not settings:
        return None
    return render("environment", file.template, settings=settings)


def user_file(pairs: Sequence[tuple[str, str]]) -> bytes:
    """~/.config/environment.d of one account: the same syntax, another way to undo it."""
    return render("environment", "user.conf.j2", pairs=pairs)
