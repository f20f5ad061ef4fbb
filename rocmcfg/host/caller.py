"""Files that the caller names on the command line: of this machine, whatever --root says."""

from __future__ import annotations

import os
import stat

from rocmcfg.host.reading import read_at_most
from rocmcfg.host.view import Unreadable


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
