"""One rocmcfg at a time on a host: a lock that the kernel drops when its holder ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from rocmcfg.host.view import Locked

# In a directory that is root's alone, and readable by root alone: whoever can open a file can hold its lock,
# and /run/lock is everybody's.
FILE = "/run/rocmcfg.lock"
# An offline root is locked by its own directory: nothing of ours is left in it, whatever follows.
OFFLINE = "/"
_SAFELY = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe in its place is not waited on


@contextmanager
def exclusive(real: str, path: str) -> Iterator[None]:
    """`real` is where `path` of the host lies. Raises Locked at once where another holds it, or OSError."""
    flags = os.O_RDONLY if path == OFFLINE else os.O_RDWR | os.O_CREAT
    descriptor = os.open(real, flags | _SAFELY, 0o600)
    try:
        if path != OFFLINE:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            os.fchmod(descriptor, 0o600)  # whatever the umask says, and whoever made it
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise _locked(descriptor, path) from problem
        if path != OFFLINE:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def held(real: str, path: str) -> Locked | None:
    """Whether another holds it. Never creates the file; without the right to open it nothing is known, and
    what only reads goes on."""
    try:
        descriptor = os.open(real, os.O_RDONLY | _SAFELY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _locked(descriptor, path)
    finally:
        os.close(descriptor)
    return None


def _locked(descriptor: int, path: str) -> Locked:
    pid = b"" if path == OFFLINE else os.pread(descriptor, 32, 0).strip()
    return Locked(path, f"process {pid.decode()}" if pid.isdigit() else "")
