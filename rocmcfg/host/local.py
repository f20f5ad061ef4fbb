"""A host as a directory tree: `/` for the running system, another root for an offline one.

Symbolic links of an offline root are followed inside it, as a chroot would: a link to /etc there never
leads to our own /etc.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from rocmcfg.host.reading import read_at_most
from rocmcfg.host.view import CommandResult, Locked, Unreadable, Unwritable
from rocmcfg.model.state import FileState

_LINK_LIMIT = 40
_READ_LIMIT = 64 << 20  # bytes; no file that we read comes near, and a sparse one has no end

_WRITE_HINTS = {
    errno.EROFS: "the file system is read-only: mount -o remount,rw it, then run the command again",
    errno.ENOSPC: "the file system is full: free some space, then run the command again",
    errno.EDQUOT: "the quota is used up: free some space, then run the command again",
    errno.EACCES: "run the command as root",
    errno.EPERM: "run the command as root; if you are root, look for an immutable flag (lsattr)",
}


class LocalHost:
    """See `view.HostView` and `view.Host` for what the methods promise."""

    def __init__(self, root: str = "/", *, chroot: bool = False) -> None:
        # Never realpath: it reads a link such as /proc/PID/root as "/", which is another tree altogether.
        self._root = "/" if _is_running_root(root) else os.path.abspath(root)
        self._chroot = chroot and self._root != "/"
        self._locking = False

    @property
    def root(self) -> str:
        return self._root

    @property
    def offline(self) -> bool:
        return self._root != "/"

    @property
    def runs_tools(self) -> bool:
        return not self.offline or self._chroot

    # -- reading ------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes | None:
        try:
            # O_NONBLOCK: a pipe among the files would otherwise be waited on for ever
            descriptor = os.open(self._real(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            raise Unreadable(path, problem) from problem
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise Unreadable(
                    path, f"it is {'a directory' if stat.S_ISDIR(mode) else 'not a regular file'}"
                )
            content = read_at_most(descriptor, _READ_LIMIT)
            if len(content) > _READ_LIMIT:
                raise Unreadable(path, f"it is larger than {_READ_LIMIT >> 20} MiB")
            return content
        except OSError as problem:
            raise Unreadable(path, problem) from problem
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def state(self, path: str) -> FileState | None:
        real = self._real(path, follow_last=False)
        try:
            descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            is_link = problem.errno == errno.ELOOP
            raise Unreadable(path, "it is a symbolic link" if is_link else problem) from problem
        meta = os.fstat(descriptor)
        if not stat.S_ISREG(meta.st_mode):
            os.close(descriptor)
            raise Unreadable(path, "it is not a regular file")
        with os.fdopen(descriptor, "rb") as stream:
            return FileState(
                content=stream.read(),
                mode=stat.S_IMODE(meta.st_mode),
                uid=meta.st_uid,
                gid=meta.st_gid,
                mtime_ns=meta.st_mtime_ns,
                xattrs=_xattrs(stream.fileno()),
            )

    def exists(self, path: str) -> bool:
        return os.path.exists(self._real(path))

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(self._real(path))

    def is_symlink(self, path: str) -> bool:
        return os.path.islink(self._real(path, follow_last=False))

    def real_path(self, path: str) -> str:
        try:
            real = self._resolve(path, follow_last=True)
        except (Unreadable, OSError):
            return path
        return f"/{os.path.relpath(real, self._root)}"

    def names(self, path: str) -> tuple[str, ...]:
        try:
            return tuple(sorted(os.listdir(self._real(path))))
        except OSError:
            return ()

    def hidden(self, path: str) -> bool:
        try:
            os.listdir(self._real(path))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return False

    def locked_by(self) -> Locked | None:
        from rocmcfg.host import lock

        path = lock.OFFLINE if self.offline else lock.FILE
        return None if self._locking else lock.held(self._real(path), path)

    def has_tool(self, name: str) -> bool:
        folders = [] if self.offline else os.environ.get("PATH", "").split(":")
        folders += ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        return any(
            os.access(self._real(f"{folder}/{name}"), os.X_OK) for folder in folders if folder[:1] == "/"
        )

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if not self.runs_tools:
            return None
        from rocmcfg.host import runner

        result = runner.query(self._inside(argv))
        return result and result._replace(argv=tuple(argv))

    def stream(self, path: str) -> BinaryIO | None:
        from rocmcfg.host.streams import open_log

        real = self._real(path)
        return open_log(real, path) if os.path.exists(real) else None

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        if not self.runs_tools:
            return None
        from rocmcfg.host import runner

        try:
            return runner.stream(self._inside(argv))
        except OSError:
            return None

    # -- writing ------------------------------------------------------------------------------------

    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        from rocmcfg.host.atomic import replace_file

        with _explained(path):
            replace_file(self._real(path, follow_last=False), state, keep_mtime=keep_mtime)

    def remove(self, path: str) -> None:
        from rocmcfg.host.atomic import remove_file

        with _explained(path):
            remove_file(self._real(path, follow_last=False))

    def discard_temporary(self, path: str) -> None:
        from rocmcfg.host.atomic import discard_temporary

        with _explained(path):
            discard_temporary(self._real(path, follow_last=False))

    def make_dir(self, path: str, mode: int) -> None:
        from rocmcfg.host.atomic import sync_dir

        real = self._real(path)
        with _explained(path):
            if not os.path.isdir(real):
                os.mkdir(real, mode)
                os.chmod(real, mode)  # whatever the umask says
                sync_dir(os.path.dirname(real))

    def remove_dir(self, path: str) -> bool:
        try:
            os.rmdir(self._real(path))
        except FileNotFoundError:
            return True
        except OSError as problem:
            if problem.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                return False
            raise Unwritable(path, problem.strerror or str(problem), _hint(problem)) from problem
        return True

    def append(self, path: str, line: bytes) -> None:
        from rocmcfg.host.atomic import append_line

        with _explained(path):
            append_line(self._real(path, follow_last=False), line)

    def writable_problem(self, path: str) -> str:
        probe = path
        while not self.exists(probe) and probe != "/":
            probe = os.path.dirname(probe)
        real = self._real(probe)
        if probe != path and not os.path.isdir(real):
            return f"{probe} is not a directory"
        try:
            if os.statvfs(real).f_flag & os.ST_RDONLY:
                return "the file system is read-only"
        except OSError as problem:
            return problem.strerror or str(problem)
        if not os.access(real if os.path.isdir(real) else os.path.dirname(real), os.W_OK):
            return "no permission to write there"
        return ""

    def execute(self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None]) -> CommandResult:
        from rocmcfg.host import runner

        result = runner.execute(self._inside(argv), timeout=timeout, progress=progress, mark=self._root)
        return result._replace(argv=tuple(argv))

    def survivors(self) -> list[str]:
        if not self.runs_tools:
            return []
        from rocmcfg.host import runner

        return [f"{name} (process {pid})" for pid, name in runner.survivors(self._root)]

    def unpack(self, argv: Sequence[str], wanted: Sequence[str]) -> dict[str, bytes] | None:
        import shutil
        import tempfile

        from rocmcfg.host import runner

        parent = self._real("/var/tmp")  # an unpacked image is large, and /tmp may be memory
        scratch = tempfile.mkdtemp(prefix="rocmcfg-", dir=parent if os.path.isdir(parent) else None)
        inside = scratch[len(self._root) :] if self.offline else scratch
        try:
            result = runner.execute(
                self._inside([*argv, inside]), timeout=900, progress=lambda: None, mark=self._root
            )
            if not result.ok:
                return None
            return {name: content for name in wanted for content in _contents(scratch, name)}
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        from rocmcfg.host import lock

        path = lock.OFFLINE if self.offline else lock.FILE
        real = self._real(path)
        with ExitStack() as held:
            with _explained(path):
                os.makedirs(os.path.dirname(real), exist_ok=True)
                held.enter_context(lock.exclusive(real, path))
            self._locking = True
            try:
                yield
            finally:
                self._locking = False

    def log(self, message: str) -> None:
        if self.offline:
            return
        import syslog

        syslog.openlog("rocmcfg", syslog.LOG_PID, syslog.LOG_AUTHPRIV)
        syslog.syslog(syslog.LOG_NOTICE, message)
        syslog.closelog()

    def user(self) -> str:
        sudo = os.environ.get("SUDO_USER")
        if sudo and os.geteuid() == 0:
            return sudo
        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            return str(os.getuid())

    def new_file(self, content: bytes, mode: int) -> FileState:
        return FileState(content, mode, os.geteuid(), os.getegid(), 0)

    # -- paths --------------------------------------------------------------------------------------

    def _inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        if not self._chroot:
            return tuple(argv)
        # A mount namespace of its own: the tools need /dev, /proc and /sys inside the root, and nothing
        # stays mounted whatever happens to us.
        script = (
            'root=$1; shift; for d in dev proc sys run; do if [ -d "$root/$d" ]; then '
            'mount --rbind "/$d" "$root/$d" || exit 125; fi; done; exec chroot "$root" "$@"'
        )
        return ("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", self._root, *argv)

    def _real(self, path: str, *, follow_last: bool = True) -> str:
        if not path.startswith("/"):
            raise ValueError(f"not a path within a host: {path!r}")
        return path if self._root == "/" else self._resolve(path, follow_last)

    def _resolve(self, path: str, follow_last: bool) -> str:
        pending = [part for part in path.split("/") if part not in ("", ".")][::-1]
        inside: list[str] = []
        links = 0
        while pending:
            part = pending.pop()
            if part == "..":
                inside = inside[:-1]
                continue
            candidate = os.path.join(self._root, *inside, part)
            if (pending or follow_last) and os.path.islink(candidate):
                links += 1
                if links > _LINK_LIMIT:
                    raise Unreadable(path, "too many symbolic links")
                target = os.readlink(candidate)
                if target.startswith("/"):
                    inside = []
                pending.extend(p for p in target.split("/")[::-1] if p not in ("", "."))
                continue
            inside.append(part)
        return os.path.join(self._root, *inside)


def _is_running_root(root: str) -> bool:
    try:
        return os.path.samestat(os.stat(root), os.stat("/"))
    except OSError:
        return False


def _xattrs(descriptor: int) -> tuple[tuple[str, bytes], ...]:
    try:
        return tuple((name, os.getxattr(descriptor, name)) for name in sorted(os.listxattr(descriptor)))
    except OSError:  # the file system keeps none
        return ()


def _contents(scratch: str, name: str) -> Iterator[bytes]:
    # unmkinitramfs unpacks an image of several archives into main/, early/ …, a simple one into the top.
    for top in ("", "main"):
        path = os.path.join(scratch, top, name)
        if os.path.isfile(path):
            with open(path, "rb") as stream:
                yield stream.read()
            return


def _hint(problem: OSError) -> str:
    return _WRITE_HINTS.get(problem.errno or 0, "mend what the message says, then run the command again")


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise Unwritable(path, problem.strerror or str(problem), _hint(problem)) from problem
