"""Reading to the end: a file that comes with the program, or a descriptor, whatever is behind it."""

from __future__ import annotations

import os

# bytes per call: the kernel allocates as much as is asked for when /proc/sys is read, and refuses with
# ENOMEM from 4 MiB on (proc_sys_call_handler in fs/proc/proc_sysctl.c)
_CHUNK = 64 << 10


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
