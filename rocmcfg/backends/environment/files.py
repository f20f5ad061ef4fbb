"""The three files that carry variables by default, and who reads each.

environment.d(5): systemd user sessions. profile.d: POSIX login shells, dash among them. The raw file:
`docker --env-file` (takes values as they stand, quotes included) and systemd's EnvironmentFile=.
The common denominator is NAME=VALUE without quotes, blanks, `#` and `$`, which the value check ensures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rocmcfg.backends.templates import HEAD, render
from rocmcfg.model.state import DesiredSetting


class EnvironmentFile(NamedTuple):
    path: str
    exported: bool
    readers: str


ENVIRONMENT_D = EnvironmentFile("/etc/environment.d/90-rocmcfg.conf", False, "systemd user sessions")
PROFILE_D = EnvironmentFile("/etc/profile.d/zz-rocmcfg.sh", True, "login shells")
RAW = EnvironmentFile("/etc/rocmcfg/env", False, "docker --env-file, EnvironmentFile=")
FILES = (ENVIRONMENT_D, PROFILE_D, RAW)
_SUMMED = re.compile(rb"#[^\n]*\n#[^\n]*\n# sha256 of the lines below: ([0-9a-f]{16})\n(.*)", re.DOTALL)


def propose(file: EnvironmentFile, settings: Sequence[DesiredSetting]) -> bytes | None:
    """The file's content; None where there is no variable to set."""
    if not settings:
        return None
    return "".join([HEAD, *(_line(file, setting) for setting in settings)]).encode()


def _line(file: EnvironmentFile, setting: DesiredSetting) -> str:
    if not file.exported:
        return f"{setting.name}={setting.text}\n"
    import shlex

    quoted = shlex.quote(setting.text or "")  # a value may hold `;`
    return f"export {setting.name}={quoted}\n"


def user_file(pairs: Sequence[tuple[str, str]]) -> bytes:
    """~/.config/environment.d of one account: the same syntax, another way to undo it. No receipt tells what
    we wrote there, so that the file itself does."""
    body = "".join(f"{name}={value}\n" for name, value in pairs)
    return render("environment", "user.conf.j2", body=body, checksum=_checksum(body.encode()))


def is_as_written(content: bytes) -> bool:
    """Whether nobody added, changed or took away a line of a `user_file`."""
    found = _SUMMED.fullmatch(content)
    return found is not None and found[1].decode() == _checksum(found[2])


def _checksum(body: bytes) -> str:
    import hashlib

    return hashlib.sha256(body).hexdigest()[:16]
