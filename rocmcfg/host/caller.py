"""Files that the caller names on the command line: of this machine, whatever --root says."""

from __future__ import annotations

import os
import stat

from rocmcfg.host.reading import read_at_most
from rocmcfg.host.view import Unreadable, Unwritable


def read_callers_file(path: str, limit: int) -> bytes | None:
    """At most one byte more than `limit`; None for a pipe, a device, a directory."""
    try:
        # O_NONBLOCK: a pipe would otherwise be waited on for ever
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    try:
        return read_at_most(descriptor, limit) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    finally:
        os.close(descriptor)


def write_callers_file(path: str, content: bytes) -> None:
    """A new file with the rights of the caller, readable by its owner alone. Raises Unwritable; nothing is
    ever overwritten, and nothing half written is left."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as problem:
        raise Unwritable(path, "it exists", "name another file, or move that one away") from problem
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise Unwritable(path, reason, "name a file in a directory where you may write") from problem
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
    except OSError as problem:
        os.unlink(path)
        raise Unwritable(path, problem.strerror or str(problem), "name a file on another disk") from problem
