"""Bytes that are read as they come: logs of any size, what a program prints, what is piped in.

Nothing here holds more than a buffer. `view.read` is for files that are wanted whole.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import Sequence
from typing import BinaryIO

from rocmcfg.host import runner
from rocmcfg.host.view import Unreadable

_NAME_A_FILE = "name a file with text in it"
_REFUSED = {
    stat.S_IFDIR: "it is a directory",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFSOCK: "it is a socket",
}


# A file of more than READ_ANYWAY bytes that is more than MOST_PACKED times what it takes up was made to be
# endless. gzip packs 1,032 bytes into one at most, and file systems that pack less still.
MOST_PACKED, READ_ANYWAY = 1100, 1 << 30


def open_callers_log(path: str) -> BinaryIO:
    """A file or pipe that the caller names; `-` is the standard input. Raises Unreadable."""
    if path == "-":
        try:
            return io.FileIO(os.dup(sys.stdin.fileno()), "rb")
        except (OSError, ValueError) as problem:  # closed, or no file at all
            raise Unreadable("-", "there is no standard input", "pipe a log in, or name a file") from problem
    try:
        _refuse(stat.S_IFMT(os.stat(path).st_mode), path, pipes=True)  # to open a device may do something
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except ValueError as problem:  # a NUL in the name
        raise Unreadable(path, "it is no path") from problem
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    return log_from(descriptor, path, pipes=True)


def log_from(descriptor: int, path: str, *, pipes: bool) -> BinaryIO:
    """The log behind a descriptor that was opened with O_NONBLOCK and belongs to the stream from now on.
    A pipe is waited for where `pipes` allows it. Raises Unreadable, and closes the descriptor then."""
    try:
        meta = os.fstat(descriptor)
        kind = stat.S_IFMT(meta.st_mode)
        _refuse(kind, path, pipes=pipes)
        if kind == stat.S_IFREG and _is_hollow(descriptor, meta):
            raise Unreadable(path, f"it has {meta.st_size} bytes, nearly all of them holes", _NAME_A_FILE)
        if kind == stat.S_IFIFO:
            # Read without a wait, a pipe that nobody has opened for writing yet looks like one at its end.
            # poll waits for the first writer, also one that has come and gone (pipe_poll in fs/pipe.c).
            waiting = select.poll()
            waiting.register(descriptor, select.POLLIN)
            waiting.poll()
        if pipes:
            os.set_blocking(descriptor, True)
        return io.FileIO(descriptor, "rb")
    except OSError as problem:
        os.close(descriptor)
        raise Unreadable(path, problem) from problem
    except BaseException:
        os.close(descriptor)
        raise


def _refuse(kind: int, path: str, *, pipes: bool) -> None:
    reason = _REFUSED.get(kind)
    if kind == stat.S_IFIFO and not pipes:
        reason = "it is a pipe"
    if reason is not None:
        raise Unreadable(path, reason, _NAME_A_FILE)


def _is_hollow(descriptor: int, meta: os.stat_result) -> bool:
    if meta.st_size <= max(READ_ANYWAY, MOST_PACKED * 512 * meta.st_blocks):
        return False
    # some file systems do not tell what a file takes up; those know of no holes either (lseek(2))
    hole = os.lseek(descriptor, 0, os.SEEK_HOLE)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return hole < meta.st_size


def scratch_file() -> io.FileIO:
    """A file in memory that a child reads as its standard input, and that vanishes with us.

    Its pages are the kernel's, not the process's: a child can seek in it, which it cannot in a pipe.
    """
    return io.FileIO(os.memfd_create("rocmcfg-log", os.MFD_CLOEXEC), "r+b")


def plain_file(stream: BinaryIO) -> int | None:
    """The descriptor of the regular file behind a stream; None where there is none, or it is unpacked."""
    if type(stream) is not io.BufferedReader or not isinstance(stream.raw, io.FileIO):
        return None
    return stream.fileno() if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else None


def has_gnu_grep() -> bool:
    """Only the GNU program counts: it alone leaves a seekable input right after the last line that it
    printed, so that a search with `-m` can be taken up again (grep(1), `--max-count`)."""
    try:
        with runner.stream(("grep", "--version"), failed=1) as said:
            return b"GNU grep" in said.readline()
    except OSError:
        return False


def start_grep(patterns: Sequence[bytes], descriptor: int, most: int, *, fixed: bool = False) -> BinaryIO:
    """Lines that match any of the extended regular expressions, or hold any of the `fixed` texts, as
    `NUMBER:LINE`, at most `most` of them: GNU grep walks all patterns at once, some fifty times faster than
    Python's `re`.

    `descriptor` is of a file that can be sought in; numbers count from where it stands. Closing the stream
    ends the program. Raises OSError.
    """
    expressions = [word for pattern in patterns for word in (b"-e", pattern)]
    argv = [b"grep", b"-anF" if fixed else b"-anE", b"-m", str(most).encode(), *expressions]
    return runner.stream(argv, descriptor, failed=2)
