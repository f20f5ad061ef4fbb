"""Allow one rocmcfg at a time on a host, by a lock that the kernel drops when its holder ends in any way."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from rocmcfg.host.inside import Place
from rocmcfg.host.problems import Locked
from rocmcfg.host.state_dir import STATE_DIR

# In a directory that only root can write, and readable only by root: a user who can open a file can hold its
# lock, and everybody can write in /run/lock.
FILE = "/run/rocmcfg.lock"
# On an offline root the lock is in our own state directory, and exists only while it is held.
OFFLINE = f"{STATE_DIR}/lock"
_SAFELY = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe in its place does not block
_FLOCK = "hhqqi"  # struct flock of <fcntl.h>: type, whence, start, length, process
_WHOLE_FILE = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


_ASKING = " asking"  # follows the number of a process that waits for the user's answer


@dataclass(frozen=True, slots=True)
class Held:
    """A lock that we hold. `is_named` returns whether the locked file still has its name: with a new file of
    that name a second rocmcfg would hold a lock as well. `note` records whether we wait for the user's
    answer."""

    is_named: Callable[[], bool]
    note: Callable[[bool], None]


@contextmanager
def exclusive(place: Place, path: str, *, stays: bool) -> Iterator[Held]:
    """Hold the lock. Raises Locked at once where another rocmcfg holds it, or OSError. `stays`: the file is
    left in place afterwards."""
    descriptor = _taken(place, path)

    def note(asking: bool) -> None:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}{_ASKING if asking else ''}\n".encode(), 0)

    try:
        note(False)
        yield Held(lambda: _still_named(place, descriptor), note)
    finally:
        with suppress(OSError):  # a file that is left holds no lock, and must not hide the result
            if not stays and _still_named(place, descriptor):
                os.unlink(place.name, dir_fd=place.directory)
        os.close(descriptor)


def _taken(place: Place, path: str) -> int:
    while True:
        flags = os.O_RDWR | os.O_CREAT | _SAFELY
        descriptor = os.open(place.name, flags, 0o600, dir_fd=place.directory)
        try:
            meta = os.fstat(descriptor)
            if not stat.S_ISREG(meta.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            if (
                meta.st_nlink > 1 or meta.st_uid != os.geteuid()
            ):  # what we write would end up in another user's file
                raise OSError(errno.EPERM, "it belongs to another user or has another name")
            os.fchmod(descriptor, 0o600)  # whatever the umask is, and whoever created it
            try:
                # the lock of packaging/undo.sh and of 0.1.0, which may be running while its package is
                # replaced
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # a lock of the open file, not of the process (fcntl(2), F_OFD_SETLK): it can be queried
                # without being taken, and a fork does not lose it
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _WHOLE_FILE)
            except OSError as problem:
                if problem.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                raise _locked(descriptor, path) from problem
            if _still_named(place, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder removed the file meanwhile: try again


def held(place: Place, path: str) -> Locked | None:
    """Return the error for a lock that another process holds; None where none does. Never creates the file
    and never takes the lock. Without the right to open the file the answer is None, so that commands which
    only read continue."""
    try:
        descriptor = os.open(place.name, os.O_RDONLY | _SAFELY, dir_fd=place.directory)
    except OSError:
        return None
    try:
        answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _WHOLE_FILE)
        return None if struct.unpack(_FLOCK, answer)[0] == fcntl.F_UNLCK else _locked(descriptor, path)
    except OSError:  # the file cannot be locked
        return None
    finally:
        os.close(descriptor)


def _still_named(place: Place, descriptor: int) -> bool:
    try:
        named = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(named, os.fstat(descriptor))


def _locked(descriptor: int, path: str) -> Locked:
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    pid, asking = text.removesuffix(_ASKING), text.endswith(_ASKING)
    return Locked(path, f"process {pid}" if pid.isdigit() else "", asking=asking)
