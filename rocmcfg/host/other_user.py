"""Find out as another user whether a program could be started, without starting it."""

from __future__ import annotations

import os
import pwd
import resource
import subprocess
from collections.abc import Mapping

from rocmcfg.model.diagnostic import RocmcfgError, fail

_PATIENCE = 60.0  # seconds; a home directory may be on a network
_NO_FOLDER, _NO_PROGRAM = 3, 4
_LOOK = f"""cd -- "$1" 2>/dev/null || exit {_NO_FOLDER}
case $2 in
*/*) [ -f "$2" ] && [ -x "$2" ] ;;
*) command -v -- "$2" >/dev/null ;;
esac || exit {_NO_PROGRAM}"""
# Not taken over: systemd sets these anew for a user, and sudo names the caller.
_NOT_TAKEN_OVER = ("SUDO_", "INVOCATION_ID", "JOURNAL_STREAM", "NOTIFY_SOCKET", "LISTEN_", "MAINPID")
# The limits that systemd.exec(5) can set, by the names of setrlimit(2).
_LIMITS = "CPU FSIZE DATA STACK CORE RSS NOFILE AS NPROC MEMLOCK SIGPENDING MSGQUEUE NICE RTPRIO RTTIME"


def account(name: str) -> pwd.struct_passwd:
    """Return the account of a user. Raises RocmcfgError where there is none."""
    try:
        return pwd.getpwnam(name)
    except KeyError as problem:
        hint = "name a user of this host: `getent passwd` lists them"
        raise fail("RC4607", f"--user {name}: this host has no such user", hint=hint) from problem


def environment_for(user: pwd.struct_passwd, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment as the user would have it."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_NOT_TAKEN_OVER)}
    own = {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": user.pw_shell}
    return kept | own


def limits() -> dict[str, str]:
    """Return the caller's limits of resources, by their names in systemd.exec(5)."""
    properties = {}
    for name in _LIMITS.split():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            properties[f"Limit{name}"] = ":".join(map(_limit, resource.getrlimit(number)))
    return properties


def _limit(value: int) -> str:
    return "infinity" if value == resource.RLIM_INFINITY else str(value)


def require_startable(
    user: pwd.struct_passwd, folder: str, program: str, environment: Mapping[str, str]
) -> None:
    """Raise RocmcfgError where the user cannot enter the folder, or cannot execute the program."""
    becomes = {}
    if os.geteuid() == 0 and user.pw_uid != 0:
        groups = os.getgrouplist(user.pw_name, user.pw_gid)
        becomes = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups}
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", _LOOK, "sh", folder, program],
            env={**environment},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
            **becomes,  # type: ignore[call-overload]
        )
    except (OSError, subprocess.SubprocessError) as problem:
        raise _cannot(user, program, f"it cannot be looked at ({problem})", folder) from problem
    if done.returncode == _NO_FOLDER:
        raise _cannot(user, program, f"the user cannot enter {folder}", folder)
    if done.returncode != 0:
        raise _cannot(user, program, "it does not exist, or the user may not execute it", folder)


def _cannot(user: pwd.struct_passwd, program: str, reason: str, folder: str) -> RocmcfgError:
    summary = f"{program} cannot be started as {user.pw_name}: {reason}"
    hint = "check the name and its permissions, or name another user with --user"
    return fail("RC4608", summary, location=folder, hint=hint)
