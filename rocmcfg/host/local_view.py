"""A host as a directory tree, for reading: `/` for the running system, another root for an offline one, whose
paths are walked inside it (`inside`)."""

from __future__ import annotations

import errno
import functools
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

from rocmcfg.host import runner
from rocmcfg.host.files import log_from, read_at_most
from rocmcfg.host.inside import Place, Root, Weakness
from rocmcfg.host.view import CommandResult, Locked, Unreadable
from rocmcfg.model.state import FileState

# bytes; no file that we read whole comes near, a sparse one has no end, and a parser takes many times as much
READ_LIMIT = 16 << 20


class LocalView:
    """See `view.HostView` for what the methods promise."""

    def __init__(self, root: str = "/", *, chroot: bool = False) -> None:
        # Never realpath: it reads a link such as /proc/PID/root as "/", which is another tree altogether.
        self._root = "/" if _is_running_root(root) else os.path.abspath(root)
        self._chroot = chroot and self._root != "/"
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

    def read(self, path: str) -> bytes | None:
        descriptor = self._opened(path)
        if descriptor is None:
            return None
        try:
            return _content(path, descriptor)
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def state(self, path: str) -> FileState | None:
        descriptor = self._opened(path, follow_last=False)
        if descriptor is None:
            return None
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
            with self._tree.place(path) as place:
                return place.path
        except OSError:
            return path

    def weakness(self, path: str) -> Weakness | None:
        if os.geteuid() != 0:
            return None
        try:
            return self._tree.weakness(path)[0]
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

    def closed_to_us(self, path: str) -> str | None:
        found = self._stat(path)
        if found is None or self.offline or os.access(path, os.R_OK | os.W_OK):
            return None
        import grp

        with suppress(KeyError):
            return grp.getgrgid(found.st_gid).gr_name
        return str(found.st_gid)

    def locked_by(self) -> Locked | None:
        from rocmcfg.host import lock

        try:
            path = lock.OFFLINE if self.offline else lock.FILE
            with self._place(path) as place:
                return None if self._lock_is_ours else lock.held(place, path)
        except OSError:
            return None

    def has_tool(self, name: str) -> bool:
        folders = runner.OFFLINE_PATH if self.offline else runner.folders_of_programs()
        for folder in folders:
            with suppress(OSError), self._place(f"{folder}/{name}") as place:
                if os.access(place.name, os.X_OK, dir_fd=place.directory):
                    return True
        return False

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if not self.runs_tools:
            return None
        result = runner.query(self._inside(argv))
        return result and result._replace(argv=tuple(argv))

    def stream(self, path: str) -> BinaryIO | None:
        descriptor = self._opened(path)
        return None if descriptor is None else log_from(descriptor, path, pipes=False)

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        if not self.runs_tools:
            return None
        try:
            return runner.stream(self._inside(argv))
        except OSError:
            return None

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
        if not self._walked:
            yield Place(None, path, path)
            return
        with self._tree.place(path, follow_last=follow_last) as place:
            yield place

    @property
    def _walked(self) -> bool:
        """Whether paths are walked by us; those of the running system, which is root's own, by the kernel."""
        return self._root != "/"

    @functools.cached_property
    def _tree(self) -> Root:
        """Opened once: whoever exchanges the root's own name meanwhile changes nothing of what we see."""
        return Root(self._root)

    def _opened(self, path: str, *, follow_last: bool = True) -> int | None:
        """A descriptor to read from; None where there is no such file. Raises Unreadable."""
        try:
            return self._open(path, follow_last=follow_last)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            is_link = not follow_last and problem.errno == errno.ELOOP
            raise Unreadable(path, "it is a symbolic link" if is_link else problem) from problem

    def _open(self, path: str, flags: int = 0, *, follow_last: bool = True) -> int:
        # O_NONBLOCK: a pipe among the files would otherwise be waited on for ever
        flags |= os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        if self._walked or not follow_last:  # what was a link is followed by now: see `inside`
            flags |= os.O_NOFOLLOW
        with self._place(path, follow_last=follow_last) as place:
            return os.open(place.name, flags, dir_fd=place.directory)

    def _stat(self, path: str, *, follow_last: bool = True) -> os.stat_result | None:
        try:
            with self._place(path, follow_last=follow_last) as place:
                follow = follow_last and not self._walked
                return os.stat(place.name, dir_fd=place.directory, follow_symlinks=follow)
        except (OSError, ValueError):  # a NUL is in no name
            return None

    def _listed(self, path: str) -> list[str]:
        if not self._walked:
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
        content = read_at_most(descriptor, READ_LIMIT)
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    if len(content) > READ_LIMIT:
        raise Unreadable(path, f"it is larger than {READ_LIMIT >> 20} MiB")
    return content


def _xattrs(descriptor: int) -> tuple[tuple[str, bytes], ...]:
    try:
        return tuple((name, os.getxattr(descriptor, name)) for name in sorted(os.listxattr(descriptor)))
    except OSError:  # the file system keeps none
        return ()
