"""A host as a directory tree: `/` for the running system, another root for an offline one.

Paths of an offline root are walked inside it (`inside`): a link to /etc there never leads to our own /etc,
also where somebody exchanges directories and links meanwhile.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from rocmcfg.host.inside import Place, Root
from rocmcfg.host.reading import read_at_most
from rocmcfg.host.view import CommandResult, Locked, Unreadable, Unwritable
from rocmcfg.model.state import FileState

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
        self._tree: Root | None = None
        self._lock_is_ours: Callable[[], bool] | None = None

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
            descriptor = self._open(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            raise Unreadable(path, problem) from problem
        try:
            return _content(path, descriptor)
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def state(self, path: str) -> FileState | None:
        try:
            descriptor = self._open(path, follow_last=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            is_link = problem.errno == errno.ELOOP
            raise Unreadable(path, "it is a symbolic link" if is_link else problem) from problem
        try:
            meta = os.fstat(descriptor)
            return FileState(
                content=_content(path, descriptor),
                mode=stat.S_IMODE(meta.st_mode),
                uid=meta.st_uid,
                gid=meta.st_gid,
                mtime_ns=meta.st_mtime_ns,
                xattrs=_xattrs(descriptor),
            )
        finally:
            os.close(descriptor)

    def exists(self, path: str) -> bool:
        return self._stat(path) is not None

    def is_dir(self, path: str) -> bool:
        found = self._stat(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def is_symlink(self, path: str) -> bool:
        found = self._stat(path, follow_last=False)
        return found is not None and stat.S_ISLNK(found.st_mode)

    def real_path(self, path: str) -> str:
        try:
            with self._inside_root().place(path) as place:
                return place.path
        except OSError:
            return path

    def weak_point(self, path: str) -> str:
        if os.geteuid() != 0:
            return ""
        try:
            return self._inside_root().weak_point(path)
        except OSError as problem:
            raise Unreadable(path, problem) from problem

    def names(self, path: str) -> tuple[str, ...]:
        try:
            return tuple(sorted(self._listed(path)))
        except OSError:
            return ()

    def hidden(self, path: str) -> bool:
        try:
            self._listed(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return False

    def locked_by(self) -> Locked | None:
        from rocmcfg.host import lock

        try:
            path = lock.OFFLINE if self.offline else lock.FILE
            with self._place(path) as place:
                return None if self._lock_is_ours else lock.held(place, path)
        except OSError:
            return None

    def has_tool(self, name: str) -> bool:
        folders = [] if self.offline else os.environ.get("PATH", "").split(":")
        folders += ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        return any(self._runs(f"{folder}/{name}") for folder in folders if folder[:1] == "/")

    def _runs(self, path: str) -> bool:
        try:
            with self._place(path) as place:
                return os.access(place.name, os.X_OK, dir_fd=place.directory)
        except OSError:
            return False

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if not self.runs_tools:
            return None
        from rocmcfg.host import runner

        result = runner.query(self._inside(argv))
        return result and result._replace(argv=tuple(argv))

    def stream(self, path: str) -> BinaryIO | None:
        from rocmcfg.host.streams import log_from

        try:
            descriptor = self._open(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            raise Unreadable(path, problem) from problem
        return log_from(descriptor, path, pipes=False)

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

        with self._written(path) as place:
            replace_file(place.name, state, keep_mtime=keep_mtime, directory=place.directory)

    def remove(self, path: str) -> None:
        from rocmcfg.host.atomic import remove_file

        with self._written(path) as place:
            remove_file(place.name, directory=place.directory)

    def discard_temporary(self, path: str) -> None:
        from rocmcfg.host.atomic import discard_temporary

        with self._written(path) as place:
            discard_temporary(place.name, directory=place.directory)

    def make_dir(self, path: str, mode: int) -> None:
        from rocmcfg.host.atomic import make_directory

        if not self.is_dir(path):
            with self._written(path) as place:
                make_directory(place.name, mode, directory=place.directory)

    def remove_dir(self, path: str) -> bool:
        from rocmcfg.host.atomic import remove_directory

        try:
            with self._place(path, follow_last=False) as place:
                remove_directory(place.name, directory=place.directory)
        except FileNotFoundError:
            return True
        except OSError as problem:
            if problem.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                return False
            raise _unwritable(path, problem) from problem
        return True

    def append(self, path: str, line: bytes) -> None:
        from rocmcfg.host.atomic import append_line

        with self._written(path) as place:
            append_line(place.name, line, directory=place.directory)

    def settle(self, paths: Sequence[str]) -> None:
        from rocmcfg.host.durability import settle

        for path in paths:
            with self._written(path) as place:
                settle(place)

    def writable_problem(self, path: str) -> str:
        probe = path
        while not self.exists(probe) and probe != "/":
            probe = os.path.dirname(probe)
        if probe != path and not self.is_dir(probe):
            return f"{probe} is not a directory"
        folder = probe if self.is_dir(probe) else os.path.dirname(probe)
        try:
            with self._place(folder) as place:
                descriptor = os.open(place.name, os.O_PATH | os.O_CLOEXEC, dir_fd=place.directory)
                try:
                    if os.statvfs(descriptor).f_flag & os.ST_RDONLY:
                        return "the file system is read-only"
                finally:
                    os.close(descriptor)
                if not os.access(place.name, os.W_OK, dir_fd=place.directory):
                    return "no permission to write there"
        except OSError as problem:
            return problem.strerror or str(problem)
        return ""

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        from rocmcfg.host import runner

        result = runner.execute(self._inside(argv), timeout=timeout, progress=progress, mark=mark)
        return result._replace(argv=tuple(argv))

    def survivors(self, mark: str) -> list[str]:
        if not self.runs_tools or not mark:
            return []
        from rocmcfg.host import runner

        return [f"{name} (process {pid})" for pid, name in runner.survivors(mark)]

    def unpack(self, argv: Sequence[str], wanted: Sequence[str]) -> dict[str, bytes] | None:
        import shutil
        import tempfile

        from rocmcfg.host import runner

        # an unpacked image is large, and /tmp may be memory
        parent = os.path.join(self._root, self.real_path("/var/tmp").lstrip("/"))
        scratch = tempfile.mkdtemp(prefix="rocmcfg-", dir=parent if os.path.isdir(parent) else None)
        inside = scratch[len(self._root) :] if self.offline else scratch
        try:
            result = runner.execute(self._inside([*argv, inside]), timeout=900, progress=lambda: None)
            if not result.ok:
                return None
            return {name: content for name in wanted for content in _contents(scratch, name)}
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        from rocmcfg.host import lock

        path = lock.OFFLINE if self.offline else lock.FILE
        with ExitStack() as held:
            try:
                held.enter_context(self._folder(os.path.dirname(path)))
                place = held.enter_context(self._place(path, follow_last=False))
                taken = lock.exclusive(place, path, stays=not self.offline)
                self._lock_is_ours = held.enter_context(taken)
            except OSError as problem:
                raise _unwritable(path, problem) from problem
            try:
                yield
            finally:
                self._lock_is_ours = None

    def require_lock(self) -> None:
        from rocmcfg.host import lock

        if self._lock_is_ours is None or not self._lock_is_ours():
            raise Locked(lock.FILE, "", lost=True)

    @contextmanager
    def _folder(self, path: str) -> Iterator[None]:
        """A directory that an offline root has only as long as it is needed."""
        missing: list[str] = []
        while not self.is_dir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for folder in reversed(missing):
            # of our own state everybody may read what he knows the name of: see engine.journal
            self.make_dir(folder, 0o711 if folder == missing[0] else 0o755)
        try:
            yield
        finally:
            for folder in missing if self.offline else ():
                self.remove_dir(folder)

    def log(self, message: str) -> None:
        if self.offline:
            return
        import syslog

        # of a name that is no UTF-8, or of a line break in it, syslog would make an error or a second line
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        syslog.openlog("rocmcfg", syslog.LOG_PID, syslog.LOG_AUTHPRIV)
        syslog.syslog(syslog.LOG_NOTICE, line)
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

    @contextmanager
    def _place(self, path: str, *, follow_last: bool = True) -> Iterator[Place]:
        if not path.startswith("/"):
            raise ValueError(f"not a path within a host: {path!r}")
        if self._root == "/":  # root's own file system: the kernel walks it
            yield Place(None, path, path)
            return
        with self._inside_root().place(path, follow_last=follow_last) as place:
            yield place

    @contextmanager
    def _written(self, path: str) -> Iterator[Place]:
        """For a change at this very name, never through a link in its place. Raises Unwritable."""
        try:
            with self._place(path, follow_last=False) as place:
                yield place
        except OSError as problem:
            raise _unwritable(path, problem) from problem

    def _inside_root(self) -> Root:
        """Opened once: whoever exchanges the root's own name meanwhile changes nothing of what is looked at."""
        if self._tree is None:
            self._tree = Root(self._root)
        return self._tree

    def _open(self, path: str, flags: int = 0, *, follow_last: bool = True) -> int:
        # O_NONBLOCK: a pipe among the files would otherwise be waited on for ever
        flags |= os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        if self.offline or not follow_last:  # what was a link is followed by now: see `inside`
            flags |= os.O_NOFOLLOW
        with self._place(path, follow_last=follow_last) as place:
            return os.open(place.name, flags, dir_fd=place.directory)

    def _stat(self, path: str, *, follow_last: bool = True) -> os.stat_result | None:
        try:
            with self._place(path, follow_last=follow_last) as place:
                follow = follow_last and not self.offline
                return os.stat(place.name, dir_fd=place.directory, follow_symlinks=follow)
        except (OSError, ValueError):  # a NUL is in no name
            return None

    def _listed(self, path: str) -> list[str]:
        if not self.offline:
            return os.listdir(path)
        descriptor = self._open(path, os.O_DIRECTORY)
        try:
            return os.listdir(descriptor)
        finally:
            os.close(descriptor)


def _is_running_root(root: str) -> bool:
    try:
        return os.path.samestat(os.stat(root), os.stat("/"))
    except OSError:
        return False


def _content(path: str, descriptor: int) -> bytes:
    """All of a regular file. Raises Unreadable."""
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise Unreadable(path, f"it is {'a directory' if stat.S_ISDIR(mode) else 'not a regular file'}")
        content = read_at_most(descriptor, _READ_LIMIT)
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    if len(content) > _READ_LIMIT:
        raise Unreadable(path, f"it is larger than {_READ_LIMIT >> 20} MiB")
    return content


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
                yield stream.read(_READ_LIMIT)
            return


def _unwritable(path: str, problem: OSError) -> Unwritable:
    hint = _WRITE_HINTS.get(problem.errno or 0, "mend what the message says, then run the command again")
    return Unwritable(path, problem.strerror or str(problem), hint)
