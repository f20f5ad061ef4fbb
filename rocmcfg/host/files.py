"""Files of this machine, whatever --root says: what the caller names, what belongs to the program, and logs
of any size, of which nothing here holds more than a buffer.
"""

from __future__ import annotations

import fcntl
import io
import os
import select
import stat
import sys
import termios
from array import array
from collections.abc import Sequence
from typing import BinaryIO

from rocmcfg.host import runner
from rocmcfg.host.inside import Root
from rocmcfg.host.problems import Unreadable, Unwritable
from rocmcfg.model.shape import NamedTuple

# bytes per call: the kernel allocates as much as is asked for when /proc/sys is read, and refuses with
# ENOMEM from 4 MiB on (proc_sys_call_handler in fs/proc/proc_sysctl.c)
_CHUNK = 64 << 10
_PIECE = 1 << 20  # bytes of a large file that are held at a time
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


class CallersFile(NamedTuple):
    """`content` is at most one byte longer than the limit, and None for a pipe, a device, a directory.
    `doubt` says who else than root may have written it, or may put another in its place; empty where nobody
    may."""

    content: bytes | None
    doubt: str


def digest_of(descriptor: int) -> str:
    """Return the SHA-256 of a file of any size in hexadecimal. Raises OSError."""
    import hashlib  # OpenSSL's is some four times as fast as CPython's own on what has hundreds of MiB

    sha256, memory = hashlib.sha256(), memoryview(bytearray(_PIECE))
    at = 0
    while size := read_into(descriptor, at, memory):
        sha256.update(memory[:size])
        at += size
    return sha256.hexdigest()


def read_callers_file(path: str, limit: int) -> CallersFile:
    """Read a file that the caller names. It is opened once: what is judged is what is read. Raises
    Unreadable."""
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
    """Say who else may change the file or the way to it; empty where nobody may. The way is walked a second
    time, and counts only if it ends at the file that was opened: a way that others can change is found weak,
    wherever they let it lead meanwhile."""
    try:
        start = "" if path.startswith("/") else os.getcwd() + "/"
        weak, reached = Root("/").weakness(start + path)
    except OSError as problem:
        return f"who may change it cannot be told: {problem.strerror}"
    if weak is not None:
        return weak.words(here=True)
    if reached is None or not os.path.samestat(reached, opened):
        return "who may change it cannot be told: its name leads elsewhere now"
    return ""


def write_callers_file(path: str, content: bytes) -> None:
    """Write a new file with the rights of the caller, readable by its owner alone. Nothing is ever
    overwritten, and nothing half written is left. Raises Unwritable."""
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
    """Return the content of a file that comes with the program. Raises OSError."""
    with open(path, "rb") as stream:
        return stream.read()


def read_at_most(descriptor: int, limit: int) -> bytes:
    """Return the content, or its first `limit` + 1 bytes, by which the caller knows that there is more.
    Raises OSError."""
    chunks, size = [], 0
    while size <= limit and (chunk := os.read(descriptor, min(_CHUNK, limit + 1 - size))):
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def is_piped_in(wait: float = 1.0) -> bool:
    """Return whether standard input is a file or a pipe with something in it. A pipe that stays silent for
    `wait` seconds counts for none: services and ssh leave one open for as long as they run."""
    try:
        meta = os.fstat(0)
        if stat.S_ISREG(meta.st_mode):
            return meta.st_size > 0
        if not stat.S_ISFIFO(meta.st_mode) or not select.select([0], [], [], wait)[0]:
            return False
        waiting = array("i", [0])
        fcntl.ioctl(0, termios.FIONREAD, waiting)
        return waiting[0] > 0  # none at its end: nobody wrote to it
    except (OSError, ValueError):
        return False


def open_callers_log(path: str) -> BinaryIO:
    """Open a file or pipe that the caller names; `-` is the standard input. Raises Unreadable."""
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
    """Return the log behind a descriptor that was opened with O_NONBLOCK and belongs to the stream from now
    on. A pipe is waited for where `pipes` allows it. Raises Unreadable, and closes the descriptor then."""
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
    reason = "it is a pipe" if kind == stat.S_IFIFO and not pipes else _REFUSED.get(kind)
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
    """Return a file in memory, which vanishes with us. A child can seek in it, which it cannot in a pipe."""
    return io.FileIO(os.memfd_create("rocmcfg-log", os.MFD_CLOEXEC), "r+b")


def plain_file(stream: BinaryIO) -> int | None:
    """Return the descriptor of the regular file behind a stream; None where there is none, or it is
    unpacked."""
    if type(stream) is not io.BufferedReader or not isinstance(stream.raw, io.FileIO):
        return None
    return stream.fileno() if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else None


def read_into(descriptor: int, at: int, memory: memoryview) -> int:
    """Fill the memory with what a file holds from `at` on, and return how many bytes there were. Raises
    OSError."""
    size = 0
    while count := os.preadv(descriptor, [memory[size:]], at + size):
        size += count
    return size


def has_gnu_grep() -> bool:
    """Return whether grep is the GNU program: it alone leaves a seekable input right after the last line that
    it printed, so that a search with `-m` can be taken up again (grep(1), `--max-count`)."""
    try:
        with runner.stream(("grep", "--version"), failed=1) as output:
            return b"GNU grep" in output.readline()
    except OSError:
        return False


def start_grep(patterns: Sequence[bytes], descriptor: int, most: int, *, fixed: bool = False) -> BinaryIO:
    """Return the lines that match any of the extended regular expressions, or hold any of the `fixed` texts,
    as `NUMBER:LINE`, at most `most` of them: GNU grep walks all patterns at once, some fifty times faster
    than Python's `re`.

    `descriptor` is of a file that can be sought in; numbers count from where it stands. Closing the stream
    ends the program. Raises OSError.
    """
    expressions = [word for pattern in patterns for word in (b"-e", pattern)]
    argv = [b"grep", b"-anF" if fixed else b"-anE", b"-m", str(most).encode(), *expressions]
    return runner.stream(argv, descriptor, failed=2)
