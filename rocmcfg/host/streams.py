"""Bytes that are read as they come: logs of any size, what a program prints, what is piped in.

Nothing here holds more than a buffer. `view.read` is for files that are wanted whole.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Sequence
from typing import BinaryIO

from rocmcfg.host.view import Unreadable

_REFUSED = {
    stat.S_IFDIR: "it is a directory",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFSOCK: "it is a socket",
}


def open_callers_log(path: str) -> BinaryIO:
    """A file or pipe that the caller names; `-` is the standard input. Raises Unreadable."""
    if path == "-":
        try:
            return io.FileIO(os.dup(sys.stdin.fileno()), "rb")
        except (OSError, ValueError) as problem:  # closed, or no file at all
            raise Unreadable("-", "there is no standard input") from problem
    return open_log(path, path)


def open_log(real: str, path: str) -> BinaryIO:
    """`real` for reading, `path` as it is called in messages. Raises Unreadable, also for what has no end."""
    try:
        kind = stat.S_IFMT(os.stat(real).st_mode)
        if kind in _REFUSED:
            raise Unreadable(path, _REFUSED[kind])
        return io.FileIO(os.open(real, os.O_RDONLY | os.O_CLOEXEC), "rb")
    except ValueError as problem:  # a NUL in the name
        raise Unreadable(path, "it is no path") from problem
    except OSError as problem:
        raise Unreadable(path, problem) from problem


class Scratch:
    """A file in memory that a child reads as its standard input, and that vanishes with us.

    Its pages are the kernel's, not the process's: a child can seek in it, which it cannot in a pipe.
    """

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("rocmcfg-log", os.MFD_CLOEXEC)
        self.size = 0

    def write(self, block: bytes) -> None:
        view = memoryview(block)
        while view:
            written = os.write(self.descriptor, view)
            self.size += written
            view = view[written:]

    def rewind(self) -> None:
        os.lseek(self.descriptor, 0, os.SEEK_SET)

    def clear(self) -> None:
        """Begin anew. The pages stay, since getting new ones takes longer than to write over them."""
        self.rewind()
        self.size = 0

    def seal(self) -> None:
        """End the file where the writing stopped, and go back to its beginning."""
        os.ftruncate(self.descriptor, self.size)
        self.rewind()

    def reader(self) -> BinaryIO:
        """All of it, from its beginning."""
        self.rewind()
        return io.FileIO(self.descriptor, "rb", closefd=False)

    def close(self) -> None:
        os.close(self.descriptor)


class FilterFailed(Exception):
    """The filter cannot be used here, or did not understand what it was asked for: do without it."""


class Grep:
    """GNU grep as a filter: it walks all patterns at once, some fifty times faster than Python's `re`.

    Only the GNU program counts: it alone leaves a seekable input right after the last line that it printed,
    so that a search with `-m` can be taken up again (grep(1), `--max-count`).
    """

    def __init__(self) -> None:
        from rocmcfg.host import runner

        said = runner.query(("grep", "--version"))
        if said is None or not said.ok or "GNU grep" not in said.stdout.partition("\n")[0]:
            raise FilterFailed("no GNU grep")

    def start(self, patterns: Sequence[bytes], scratch: Scratch, most: int) -> BinaryIO:
        """Lines that match any of the extended regular expressions, as `NUMBER:LINE`, at most `most` of them.

        Numbers count from where `scratch` stands. Closing the stream ends the program.
        """
        from rocmcfg.host import runner

        expressions = [word for pattern in patterns for word in (b"-e", pattern)]
        argv = [b"grep", b"-anE", b"-m", str(most).encode(), *expressions]
        return runner.stream(argv, scratch.descriptor, failed=2)
