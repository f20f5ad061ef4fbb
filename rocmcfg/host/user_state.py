"""Read and write the records of one user, in the user's own state directory (XDG Base Directory
Specification). Nothing is read or written in a directory that another user may change: a record names a
program that rocmcfg starts."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from rocmcfg.host.atomic import append_line, make_directory, sync_dir, write_all
from rocmcfg.host.files import read_at_most
from rocmcfg.host.local_view import LocalView
from rocmcfg.host.problems import Unreadable, Unwritable
from rocmcfg.model.diagnostic import fail

MOST = 64 << 20  # bytes of a record
_ROOM = 16 << 20  # bytes that must be free before something is begun whose result has to be written


def user_state(environment: Mapping[str, str], name: str) -> UserState:
    """Return the records of this name in the user's state directory. Raises RocmcfgError without a home."""
    state = environment.get("XDG_STATE_HOME", "")
    home = environment.get("HOME", "")
    if not state.startswith("/"):  # a relative path is invalid and ignored, as the specification says
        if not home.startswith("/"):
            raise fail("RC2032", "this account has no home directory", hint="set HOME to one")
        state = f"{home}/.local/state"
    return UserState(f"{state.rstrip('/')}/rocmcfg/{name}")


class UserState:
    """A directory of records with numbers, each a directory of its own. `of_root`: only root has these, and
    they are of another kind than root's own as a user."""

    of_root = False

    def __init__(self, path: str) -> None:
        self.path = path

    def numbers(self) -> list[int]:
        """Return the numbers of the records. Raises Unreadable."""
        try:
            self._require_own(self.path)
            names = os.listdir(self.path)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise Unreadable(self.path, problem) from problem
        return sorted(int(name) for name in names if re.fullmatch(r"[1-9][0-9]{0,8}", name, re.ASCII))

    def make(self) -> int:
        """Make the directory of a new record, and return its number. Raises Unwritable."""
        try:
            self._make_parents()
            number = max(self.numbers(), default=0)
            while True:
                number += 1
                with suppress(FileExistsError):
                    make_directory(f"{self.path}/{number}", 0o700)
                    return number
        except OSError as problem:
            raise Unwritable(self.path, problem, _hint(problem)) from problem

    def _make_parents(self) -> None:
        self._refuse_weak(self.path)  # before a folder of root's is in the home of somebody else
        missing, path = [], self.path
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for folder in reversed(missing):
            with suppress(FileExistsError):
                make_directory(folder, 0o700)
        self._require_own(self.path)

    def read(self, number: int, name: str) -> bytes | None:
        """Return the content of a file of a record; None where there is none. Raises Unreadable."""
        path = self.of(number, name)
        try:
            self._require_own(self.path)
            self._require_own(os.path.dirname(path))
            # O_NONBLOCK: a pipe in its place would be waited on for ever
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            raise Unreadable(path, problem) from problem
        try:
            _refuse_others(path, os.fstat(descriptor), stat.S_ISREG)
            content = read_at_most(descriptor, MOST)
        except OSError as problem:
            raise Unreadable(path, problem) from problem
        finally:
            os.close(descriptor)
        if len(content) > MOST:
            raise Unreadable(path, OSError(errno.EFBIG, os.strerror(errno.EFBIG)), "remove the file")
        return content

    def folder(self, number: int) -> str:
        """Return the path of the directory of a record."""
        return f"{self.path}/{number}"

    def of(self, number: int, name: str) -> str:
        """Return the path of a file of a record."""
        return f"{self.folder(number)}/{name}"

    def append(self, number: int, name: str, line: bytes) -> None:
        """Append a line to a file of a record, whole or not at all, durably. Raises Unwritable."""
        path = self.of(number, name)
        try:
            append_line(path, line)
        except OSError as problem:
            raise Unwritable(path, problem, _hint(problem)) from problem

    def keep(self, number: int, name: str, content: bytes) -> str:
        """Write a file beside a record, and return its path; empty where that fails, since the record does
        not depend on it."""
        path = self.of(number, name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600)
            try:
                write_all(descriptor, content)
            finally:
                os.close(descriptor)
        except OSError:
            return ""
        return path

    def require_room(self) -> None:
        """Raise Unwritable where the disk is so full that the next line might be lost."""
        held = os.statvfs(self.path)
        if held.f_bavail * held.f_frsize < _ROOM or (held.f_files and not held.f_favail):
            problem = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise Unwritable(self.path, problem, _hint(problem))

    def remove(self, number: int) -> None:
        """Remove a record. Raises Unwritable."""
        path = f"{self.path}/{number}"
        try:
            self._require_own(self.path)
            self._require_own(path)
            shutil.rmtree(path)
            sync_dir(self.path)
        except OSError as problem:
            raise Unwritable(path, problem, _hint(problem)) from problem

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock on all records. Raises RocmcfgError at once where another process holds it. The
        kernel drops the lock when its holder ends in any way."""
        path = f"{self.path}/lock"
        try:
            self._make_parents()
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise Unwritable(path, problem, _hint(problem)) from problem
        try:
            _refuse_others(path, os.fstat(descriptor), stat.S_ISREG)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            who = f" (process {holder})" if holder.isdigit() else ""
            raise fail(
                "RC4501",
                f"another try of yours is running{who}",
                detail="two at once would share the GPU, and each would see the other's faults",
                location=path,
                hint="wait until it ends, or stop it with Ctrl-C; `rocmcfg tries resume` continues it",
            ) from problem
        except OSError as problem:
            os.close(descriptor)
            raise Unwritable(path, problem, _hint(problem)) from problem
        except BaseException:
            os.close(descriptor)
            raise
        try:
            with suppress(OSError):  # the number is for others to read, and the lock holds without it
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)

    def _require_own(self, path: str) -> None:
        _refuse_others(path, os.lstat(path), stat.S_ISDIR)
        self._refuse_weak(path)

    def _refuse_weak(self, path: str) -> None:
        weak = LocalView("/").weakness(path)  # for root, each part of the path counts
        if weak is not None:
            raise _others(weak.path)


def _refuse_others(path: str, meta: os.stat_result, is_kind: Callable[[int], bool]) -> None:
    """Raise RocmcfgError for what is not of this kind, and for what another user may have written or may
    write."""
    if not is_kind(meta.st_mode):
        kind = "folder" if is_kind is stat.S_ISDIR else "file"
        summary = f"{path} is not a {kind}, so rocmcfg does not use the tries in it"
        raise fail("RC4518", summary, location=path, hint="remove it, or move it away")
    if meta.st_uid != os.geteuid() or stat.S_IMODE(meta.st_mode) & 0o022:
        raise _others(path)


def _others(path: str) -> Exception:
    return fail(
        "RC4502",
        f"other users may change {path}, so rocmcfg does not use the tries in it",
        location=path,
        hint="make yourself its owner and its only writer: chmod go-w; as root, use `sudo -H`",
    )


def _hint(problem: OSError) -> str:
    if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "set XDG_STATE_HOME to a directory where you may write"
    return ""
