"""Files of this machine, whatever --root says: those that the caller names, and those of the program."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from rocmcfg.host.inside import Root
from rocmcfg.host.view import Unreadable, Unwritable

# bytes per call: the kernel allocates as much as is asked for when /proc/sys is read, and refuses with
# ENOMEM from 4 MiB on (proc_sys_call_handler in fs/proc/proc_sysctl.c)
_CHUNK = 64 << 10


class CallersFile(NamedTuple):
    """`content` is at most one byte longer than the limit, and None for a pipe, a device, a directory.
    `doubt` says who else than root may have written it, or may put another in its place; empty where nobody
    may."""

    content: bytes | None
    doubt: str


def is_root() -> bool:
    """Also behind sudo, which changes nothing: what is done is done with root's rights."""
    return os.geteuid() == 0


def read_callers_file(path: str, limit: int) -> CallersFile:
    """Opened once: what is judged is what is read."""
    try:
        # O_NONBLOCK: a pipe would otherwise be waited on for ever
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    try:
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            return CallersFile(None, "")
        return CallersFile(read_at_most(descriptor, limit), _doubt(path, opened))
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    finally:
        os.close(descriptor)


def _doubt(path: str, opened: os.stat_result) -> str:
    """The way to the file is walked a second time, and counts only if it ends at the file that was opened: a
    way that others can change is found weak, wherever they let it lead meanwhile."""
    try:
        start = "" if path.startswith("/") else os.getcwd() + "/"
        weak, found = Root("/").weakness(start + path)
    except OSError as problem:
        return f"who may change it cannot be told: {problem.strerror}"
    if weak is not None:
        return weak.words(here=True)
    if found is None or not os.path.samestat(found, opened):
        return "who may change it cannot be told: its name leads elsewhere now"
    return ""


def write_callers_file(path: str, content: bytes) -> None:
    """A new file with the rights of the caller, readable by its owner alone. Raises Unwritable; nothing is
    ever overwritten, and nothing half written is left."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as problem:
        raise Unwritable(path, "it exists", "name another file, or move that one away") from problem
    except OSError as problem:
        raise Unwritable(path, problem, "name a file in a directory where you may write") from problem
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
    except OSError as problem:
        os.unlink(path)
        raise Unwritable(path, problem, "name a file on another disk") from problem


def read_own_file(path: str) -> bytes:
    """A file that comes with the program."""
    with open(path, "rb") as stream:
        return stream.read()


def read_at_most(descriptor: int, limit: int) -> bytes:
    """The content, or its first `limit` + 1 bytes, by which the caller knows that there is more."""
    chunks, size = [], 0
    while size <= limit and (chunk := os.read(descriptor, min(_CHUNK, limit + 1 - size))):
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)
