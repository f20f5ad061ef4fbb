"""Bytes that are read as they come: logs of any size, what a program prints, what is piped in.

Nothing here holds more than a buffer. `view.read` is for files that are wanted whole.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Sequence
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


class PlainFile:
    """A regular file that nothing unpacks, from where it stands on: it can be searched without being copied.

    `descriptor` stands at `start`; `size` counts from there.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._start = os.lseek(descriptor, 0, os.SEEK_CUR)
        self.size = max(os.fstat(descriptor).st_size - self._start, 0)

    def reader(self) -> BinaryIO:
        """All of it, from its beginning."""
        os.lseek(self.descriptor, self._start, os.SEEK_SET)
        return io.FileIO(self.descriptor, "rb", closefd=False)

    def has_line_over(self, limit: int, progress: Callable[[int], None], at_once: int = 1 << 20) -> bool:
        """Whether a line is longer than `limit` bytes. `progress` gets the bytes that were looked at."""
        offset = self._start
        buffer = bytearray(at_once)
        open_line = 0  # bytes of the last line of the buffers before
        while count := os.preadv(self.descriptor, [buffer], offset):
            position = 0
            while position < count:
                end = buffer.rfind(b"\n", position, min(count, position + limit + 1 - open_line)) + 1
                if end == 0:
                    open_line += count - position
                    if open_line > limit:
                        return True
                    break
                position, open_line = end, 0
            offset += count
            progress(offset - self._start)
        return False


def plain_file(stream: BinaryIO) -> PlainFile | None:
    """The file behind a stream; None where there is none, or what is in it is packed."""
    if type(stream) is not io.BufferedReader or not isinstance(stream.raw, io.FileIO):
        return None
    descriptor = stream.fileno()
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    os.lseek(descriptor, stream.tell(), os.SEEK_SET)  # the buffer may be ahead
    return PlainFile(descriptor)


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

        try:
            with runner.stream(("grep", "--version"), failed=1) as said:
                first = said.readline()
        except OSError as problem:
            raise FilterFailed(str(problem)) from problem
        if b"GNU grep" not in first:
            raise FilterFailed("another grep than GNU's")

    def start(self, patterns: Sequence[bytes], descriptor: int, most: int) -> BinaryIO:
        """Lines that match any of the extended regular expressions, as `NUMBER:LINE`, at most `most` of them.

        `descriptor` is of a regular file or Scratch; numbers count from where it stands. Closing the stream
        ends the program.
        """
        from rocmcfg.host import runner

        expressions = [word for pattern in patterns for word in (b"-e", pattern)]
        argv = [b"grep", b"-anE", b"-m", str(most).encode(), *expressions]
        return runner.stream(argv, descriptor, failed=2)
