"""Read and write files of this machine, whatever --root is: files that the caller names, files of the program
itself, and logs of any size, of which never more than a buffer is held.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import select
import stat
import sys
import termios
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from rocmcfg.host import runner
from rocmcfg.host.inside import Root
from rocmcfg.host.problems import Unreadable, Unwritable
from rocmcfg.model.shape import NamedTuple

# bytes per call: the kernel allocates the requested size when /proc/sys is read, and fails with ENOMEM from
# 4 MiB on (proc_sys_call_handler in fs/proc/proc_sysctl.c)
_CHUNK = 64 << 10
_PIECE = 1 << 20  # bytes of a large file that are held at a time
_NAME_A_FILE = "name a file with text in it"
_REFUSED = {
    stat.S_IFDIR: "it is a directory",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFSOCK: "it is a socket",
}
# A file of more than READ_ANYWAY bytes that is more than MOST_PACKED times its disk usage was created to be
# endless. gzip packs at most 1,032 bytes into one, and compressing file systems fewer.
MOST_PACKED, READ_ANYWAY = 1100, 1 << 30


class CallersFile(NamedTuple):
    """A file that the caller names. `content` is at most one byte longer than the limit, and None for a pipe,
    a device or a directory. `doubt` says who other than root may have written or may replace it; empty where
    nobody may."""

    content: bytes | None
    doubt: str


def digest_of(descriptor: int) -> str:
    """Return the SHA-256 of a file of any size in hexadecimal. Raises OSError."""
    import hashlib  # OpenSSL's is about four times as fast as CPython's own for hundreds of MiB

    sha256, memory = hashlib.sha256(), memoryview(bytearray(_PIECE))
    at = 0
    while size := read_into(descriptor, at, memory):
        sha256.update(memory[:size])
        at += size
    return sha256.hexdigest()


def read_callers_file(path: str, limit: int) -> CallersFile:
    """Read a file that the caller names. It is opened only once, so the checked file is the one that is read.
    Raises Unreadable."""
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
    """Return who other than root may change the file or its path; empty where nobody may. The path is walked
    a second time, and the result counts only if the walk ends at the opened file: a path that other users can
    change is found weak, wherever they make it lead meanwhile."""
    try:
        start = "" if path.startswith("/") else os.getcwd() + "/"
        weak, reached = Root("/").weakness(start + path)
    except OSError as problem:
        return f"cannot determine who may change it: {problem.strerror}"
    if weak is not None:
        return weak.words(here=True)
    if reached is None or not os.path.samestat(reached, opened):
        return "cannot determine who may change it: its name leads elsewhere now"
    return ""


@contextmanager
def _folder_of(path: str) -> Iterator[tuple[int | None, str]]:
    """Yield the descriptor of the folder of a path that the caller names, and the name in it; no descriptor
    and the path itself where no other user has a part in it. As root, follow no link that another user may
    have made. Raises OSError."""
    if _is_followed(path):
        yield None, path
        return
    start = "" if path.startswith("/") else os.getcwd() + "/"
    with Root("/").place(start + path, follow_last=False, led_by_others=False) as place:
        yield place.directory, place.name


@contextmanager
def new_callers_folder(path: str) -> Iterator[int]:
    """Make a new folder with the rights of the caller, which only its owner can read, and yield its
    descriptor: whoever may write beside it can put another one in its place. Raises Unwritable."""
    hint = "name a folder that does not exist yet, in a directory where you may write"
    try:
        with _folder_of(path) as (folder, name):
            os.mkdir(name, 0o700, dir_fd=folder)
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=folder)
    except FileExistsError as problem:
        raise Unwritable(path, "it exists", hint) from problem
    except OSError as problem:
        raise Unwritable(path, problem, hint) from problem
    try:
        if os.fstat(descriptor).st_uid != os.geteuid() or os.listdir(descriptor):
            raise Unwritable(path, "another folder was put in its place", hint)
        yield descriptor
    finally:
        os.close(descriptor)


def write_callers_file(path: str, content: bytes | Iterable[bytes]) -> None:
    """Write a new file with the rights of the caller, readable by its owner alone; a large one in pieces.
    Nothing is ever overwritten, and nothing half written is left. Raises Unwritable."""
    try:
        with _folder_of(path) as (folder, name):
            write_new_file(name, content, folder, path)
    except OSError as problem:
        raise Unwritable(path, problem, "name a file in a directory where you may write") from problem


def write_new_file(
    name: str, content: bytes | Iterable[bytes], directory: int | None, path: str = ""
) -> None:
    """Write a new file like `write_callers_file`, with this name in a directory. `path` is how the caller
    names it. Raises Unwritable."""
    path = path or name
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=directory)
    except FileExistsError as problem:
        raise Unwritable(path, "it exists", "name another file, or move the existing one away") from problem
    except OSError as problem:
        raise Unwritable(path, problem, "name a file in a directory where you may write") from problem
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines([content] if isinstance(content, bytes) else content)
    except OSError as problem:
        os.unlink(name, dir_fd=directory)
        raise Unwritable(path, problem, "name a file on another disk") from problem


def replace_callers_file(path: str, text: str, mode: int | None = None) -> None:
    """Write a file that others read at any time, such as metrics: beside its place, then renamed, so that a
    full disk costs nobody the file that is there. The new file gets `mode`; without a mode, it gets the
    owner and the mode of the file that it replaces. A pipe or a device is written to and stays. A link is
    followed, but not where another user may have put it: the name gets the file there. Raises Unwritable."""
    place = path
    if _is_followed(path):
        if os.path.exists(path) and not os.path.isfile(path):  # the standard output may be a pipe
            return write_result(path, open_for_result(path), text)
        if _is_link_of_ours(path):
            place = os.path.realpath(path)
    try:
        with _folder_of(place) as (folder, name):
            _replace(folder, name, text, mode)
    except OSError as problem:
        of_the_disk = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # these have their hints
        hint = "" if of_the_disk else "name a file in a directory where you may write"
        raise Unwritable(path, problem, hint) from problem


def _replace(folder: int | None, name: str, text: str, mode: int | None) -> None:
    above, last = os.path.split(name)
    beside = os.path.join(above, f".{last}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(beside, flags, 0o666, dir_fd=folder), "wb") as stream:
            if mode is None:
                _keep_permissions(name, folder, stream.fileno())
            else:
                os.fchmod(stream.fileno(), mode)
            stream.write(text.encode("utf-8", "replace"))
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:  # Ctrl-C leaves nothing either
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _keep_permissions(path: str, folder: int | None, descriptor: int) -> None:
    """Give a new file the owner and mode of the file at this path, if there is one and it is no link."""
    with contextlib.suppress(FileNotFoundError):
        meta = os.stat(path, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(meta.st_mode):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, meta.st_uid, meta.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(meta.st_mode))


def _is_followed(path: str) -> bool:
    """Return whether a link, a pipe or a device at this path may be written through: no other user put it
    there. Only root makes devices, so it does not matter who may write to one: everybody may to /dev/null."""
    try:
        if os.geteuid() != 0:
            return not os.path.islink(path) or _is_link_of_ours(path)
        weak, reached = Root("/").weakness(os.path.abspath(path))
        if weak is None or reached is None or not stat.S_ISCHR(reached.st_mode):
            return weak is None
        return os.path.samestat(os.lstat(weak.path), reached)
    except OSError:
        return False


def _is_link_of_ours(path: str) -> bool:
    """Return whether there is a link that only the caller or root may have made: in a folder such as /tmp,
    nobody else can replace it."""
    try:
        meta = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(meta.st_mode) and meta.st_uid in (0, os.geteuid())


def open_for_result(path: str) -> BinaryIO:
    """Open a file that the caller names for a result that comes later; what it holds is replaced then. Follow
    no link that another user may have made. Raises Unwritable."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
        with _folder_of(path) as (folder, name):
            flags |= os.O_NOFOLLOW if folder is not None or not _is_followed(path) else 0
            return io.FileIO(os.open(name, flags, 0o666, dir_fd=folder), "wb")
    except (OSError, ValueError) as problem:
        hint = "name a file in a directory where you may write"
        reason = problem if isinstance(problem, OSError) else "it is not a path"
        raise Unwritable(path, reason, hint) from problem


def write_result(path: str, stream: BinaryIO, text: str) -> None:
    """Write the result to the file that `open_for_result` opened, and close the file. Raises Unwritable."""
    try:
        with stream:
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                os.ftruncate(stream.fileno(), 0)
            os.set_blocking(stream.fileno(), True)
            stream.write(text.encode("utf-8", "replace"))
    except OSError as problem:
        raise Unwritable(path, problem, "name a file on another disk") from problem


def read_own_file(path: str) -> bytes:
    """Return the content of a file that is part of the program. Raises OSError."""
    with open(path, "rb") as stream:
        return stream.read()


def read_at_most(descriptor: int, limit: int) -> bytes:
    """Return the content, or its first `limit` + 1 bytes, which show the caller that there is more. Raises
    OSError."""
    chunks, size = [], 0
    while size <= limit and (chunk := os.read(descriptor, min(_CHUNK, limit + 1 - size))):
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def is_piped_in(wait: float = 1.0) -> bool:
    """Return whether standard input is a file or a pipe with something in it. A pipe that stays silent for
    `wait` seconds does not count: services and ssh leave one open for as long as they run."""
    try:
        meta = os.fstat(0)
        if stat.S_ISREG(meta.st_mode):
            return meta.st_size > 0
        if not stat.S_ISFIFO(meta.st_mode) or not select.select([0], [], [], wait)[0]:
            return False
        waiting = array("i", [0])
        fcntl.ioctl(0, termios.FIONREAD, waiting)
        return waiting[0] > 0  # zero at the end of the pipe: nobody wrote to it
    except (OSError, ValueError):
        return False


def open_callers_log(path: str) -> BinaryIO:
    """Open a file or pipe that the caller names; `-` is the standard input. Raises Unreadable."""
    if path == "-":
        try:
            return io.FileIO(os.dup(sys.stdin.fileno()), "rb")
        except (OSError, ValueError) as problem:  # closed, or not a file at all
            raise Unreadable("-", "there is no standard input", "pipe a log in, or name a file") from problem
    try:
        _refuse(stat.S_IFMT(os.stat(path).st_mode), path, pipes=True)  # opening a device may have effects
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except ValueError as problem:  # a NUL in the name
        raise Unreadable(path, "it is not a path") from problem
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    return log_from(descriptor, path, pipes=True)


def log_from(descriptor: int, path: str, *, pipes: bool) -> BinaryIO:
    """Return the log of a descriptor that was opened with O_NONBLOCK. The stream owns the descriptor. A pipe
    is waited for if `pipes` allows it. Raises Unreadable after closing the descriptor."""
    try:
        meta = os.fstat(descriptor)
        kind = stat.S_IFMT(meta.st_mode)
        _refuse(kind, path, pipes=pipes)
        if kind == stat.S_IFREG and _is_hollow(descriptor, meta):
            raise Unreadable(path, f"it has {meta.st_size} bytes, nearly all of them holes", _NAME_A_FILE)
        if kind == stat.S_IFIFO:
            # Without waiting, a pipe that nobody has opened for writing yet looks as if it were at its end.
            # poll waits for the first writer, even one that has already closed it (pipe_poll in fs/pipe.c).
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
    # some file systems do not report the disk usage of a file; they do not report holes either (lseek(2))
    hole = os.lseek(descriptor, 0, os.SEEK_HOLE)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return hole < meta.st_size


def scratch_file() -> io.FileIO:
    """Return a file in memory, which vanishes with this process. Unlike a pipe, a child can seek in it."""
    return io.FileIO(os.memfd_create("rocmcfg-log", os.MFD_CLOEXEC), "r+b")


def plain_file(stream: BinaryIO) -> int | None:
    """Return the descriptor of the regular file of a stream; None where there is none, or where it is being
    unpacked."""
    if type(stream) is not io.BufferedReader or not isinstance(stream.raw, io.FileIO):
        return None
    return stream.fileno() if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else None


def read_into(descriptor: int, at: int, memory: memoryview) -> int:
    """Fill the memory from a file, starting at offset `at`, and return the number of bytes read. Raises
    OSError."""
    size = 0
    while count := os.preadv(descriptor, [memory[size:]], at + size):
        size += count
    return size


def has_gnu_grep() -> bool:
    """Return whether grep is GNU grep: only it leaves a seekable input right after the last printed line, so
    that a search with `-m` can be continued (grep(1), `--max-count`)."""
    try:
        with runner.stream(("grep", "--version"), failed=1) as output:
            return b"GNU grep" in output.readline()
    except OSError:
        return False


def start_grep(texts: Sequence[bytes], descriptor: int, most: int) -> BinaryIO:
    """Return the lines that hold any of the texts, as `NUMBER:LINE`, at most `most` of them. GNU grep
    searches for all texts at once.

    `descriptor` is a seekable file; numbers count from its current position. Closing the stream ends the
    program. Raises OSError.
    """
    expressions = [word for text in texts for word in (b"-e", text)]
    argv = [b"grep", b"-anF", b"-m", str(most).encode(), *expressions]
    return runner.stream(argv, descriptor, failed=2)
