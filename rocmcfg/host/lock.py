"""One rocmcfg at a time on a host: a lock that the kernel drops when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from rocmcfg.host.view import Locked

FILE = "/run/lock/rocmcfg.lock"
# An offline root is locked by its own directory: nothing of ours is left in it, whatever follows.
OFFLINE = "/"


@contextmanager
def exclusive(real: str, path: str) -> Iterator[None]:
    """`real` is where `path` of the host lies. Raises Locked at once where another holds it, or OSError."""
    flags = os.O_RDONLY if path == OFFLINE else os.O_RDWR | os.O_CREAT
    descriptor = os.open(real, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
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
    """Whether another holds it. Never creates the file, and needs no right but to read it."""
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:  # nobody ever locked it, or it is hidden from us
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
