"""Files that the caller names on the command line: of this machine, whatever --root says."""

from __future__ import annotations

import os
import stat

from rocmcfg.host.view import Unreadable


def read_callers_file(path: str, limit: int) -> bytes | None:
    """At most one byte more than `limit`; None for a pipe, a device, a directory."""
    try:
        # O_NONBLOCK: a pipe would otherwise be waited on for ever
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            return stream.read(limit + 1) if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else None
    except IsADirectoryError:
        return None
    except OSError as problem:
        raise Unreadable(path, problem.strerror or str(problem)) from problem
