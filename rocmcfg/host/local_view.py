"""Read a host, a directory tree: `/` for the running system, or another root for an offline one, whose paths
are walked inside that root (`inside`)."""

from __future__ import annotations

import errno
import functools
import grp
import os
import pwd
import stat
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from rocmcfg.host import lent, runner
from rocmcfg.host.files import digest_of, log_from, read_at_most
from rocmcfg.host.inside import Place, Root, Weakness, require_possible
from rocmcfg.host.problems import CommandResult, Locked, Unreadable
from rocmcfg.model.file_state import FileState, Stamp

if TYPE_CHECKING:
    from rocmcfg.host.lock import Held

T = TypeVar("T")
# bytes; no file that is read whole comes near, a sparse file has no end, and a parser needs many times as
# much
READ_LIMIT = 16 << 20


class LocalView:
    """Reads a host, and has no method that writes. `root` is for messages and for commands that the user
    types; paths within the host are read by these methods."""

    def __init__(self, root: str = "/", *, chroot: bool = False) -> None:
        # Never realpath: it resolves a link such as /proc/PID/root to "/", which is a different tree.
        self.root = "/" if _is_running_root(root) else os.path.abspath(root)
        self._chroot = chroot and self.root != "/"
        self._lock: Held | None = None

    @property
    def offline(self) -> bool:
        """Return whether the root is not that of the running system."""
        return self._walked

    @property
    def _walked(self) -> bool:
        """Return whether rocmcfg walks the paths itself. The kernel walks those of the running system, which
        root controls."""
        return self.root != "/"

    @functools.cached_property
    def kernel_is_lent(self) -> bool:
        """Return whether this host did not boot the kernel that is running here, so that nothing of the
        host's own boot is visible."""
        if not self.offline:
            return False
        bare = LocalView(self.root)
        bare.kernel_is_lent = False  # it sees all files
        below, here = (functools.partial(text_or_empty, view) for view in (bare, LocalView()))
        return lent.is_lent(self._tree.descriptor, below, here)

    @property
    def chroots(self) -> bool:
        """Return whether programs of this host are run by chroot(2), which only root may do."""
        return self._chroot

    @property
    def runs_tools(self) -> bool:
        """Return whether programs of this host may be run."""
        return not self.offline or self._chroot

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`. A snapshot remembers it under the key."""
        del key
        return make()

    def read(self, path: str) -> bytes | None:
        """Return the content; None where there is no such file. Raises Unreadable."""
        descriptor = self._opened(path)
        if descriptor is None:
            return None
        try:
            return _content(path, descriptor)
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        """Return the content decoded as UTF-8, None where there is no such file; bytes that are not UTF-8
        become U+FFFD. Raises Unreadable."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def state(self, path: str) -> FileState | None:
        """Return content and metadata of a regular file, None if absent. Raises Unreadable for anything
        else."""
        descriptor = self._opened(path, follow_last=False)
        if descriptor is None:
            return None
        try:
            meta = os.fstat(descriptor)
            content, mode = _content(path, descriptor), stat.S_IMODE(meta.st_mode)
            xattrs = _xattrs(descriptor)
            return FileState(content, mode, meta.st_uid, meta.st_gid, meta.st_mtime_ns, xattrs)
        finally:
            os.close(descriptor)

    def stamp(self, path: str) -> Stamp | None:
        """Return the state of a file of any size: its content is read in pieces and replaced by its SHA-256.
        Raises Unreadable."""
        descriptor = self._opened(path, follow_last=False)
        if descriptor is None:
            return None
        try:
            meta = os.fstat(descriptor)
            _require_file(path, meta)
            xattrs = _xattrs(descriptor)
            sha256 = digest_of(descriptor)
        except OSError as problem:
            raise Unreadable(path, problem) from problem
        finally:
            os.close(descriptor)
        mode = stat.S_IMODE(meta.st_mode)
        return Stamp(sha256, meta.st_size, mode, meta.st_uid, meta.st_gid, meta.st_mtime_ns, xattrs)

    def size(self, path: str) -> int:
        """Return the bytes of a file; 0 where there is none."""
        meta = self._stat(path)
        return meta.st_size if meta is not None and stat.S_ISREG(meta.st_mode) else 0

    def hollow(self, path: str) -> str:
        """Return why nothing can be read at exactly this name, without following links, in words that follow
        "it is"; empty where there is a regular file that is not empty."""
        meta = self._stat(path, follow_last=False)
        if meta is None:
            return "gone"
        if stat.S_ISLNK(meta.st_mode):
            return "a symbolic link"
        if not stat.S_ISREG(meta.st_mode):
            return "a directory" if stat.S_ISDIR(meta.st_mode) else "not a regular file"
        return "" if meta.st_size else "empty"

    def free(self, path: str) -> int:
        """Return the free bytes on the file system of a path, or of the nearest existing folder above it; 0
        where they are not known."""
        while not self.is_dir(path) and path != "/":
            path = os.path.dirname(path)
        try:
            with self._place(path) as place:
                descriptor = os.open(place.name, os.O_PATH | os.O_CLOEXEC, dir_fd=place.directory)
                try:
                    system = os.statvfs(descriptor)
                finally:
                    os.close(descriptor)
        except OSError:
            return 0
        return system.f_bavail * system.f_frsize

    def exists(self, path: str) -> bool:
        return self._stat(path) is not None

    def is_dir(self, path: str) -> bool:
        meta = self._stat(path)
        return meta is not None and stat.S_ISDIR(meta.st_mode)

    def missing_folders(self, path: str) -> list[str]:
        """Return the missing folders on the path to a folder, including that folder, topmost first."""
        missing: list[str] = []
        while not self.is_dir(path):
            missing.insert(0, path)
            path = os.path.dirname(path)
        return missing

    def is_symlink(self, path: str) -> bool:
        meta = self._stat(path, follow_last=False)
        return meta is not None and stat.S_ISLNK(meta.st_mode)

    def link(self, path: str) -> str:
        """Return the text of a symbolic link; empty where there is none."""
        try:
            with self._place(path, follow_last=False) as place:
                return os.readlink(place.name, dir_fd=place.directory)
        except OSError:
            return ""

    def real_path(self, path: str) -> str:
        """Return the path without symbolic links, within the host; the path itself where they lead
        nowhere."""
        try:
            with self._tree.place(path) as place:
                return place.path
        except OSError:
            return path

    def weakness(self, path: str) -> Weakness | None:
        """Return the first part of a path, from the root on, that a user other than root may change: the
        content after it must not be trusted. None where there is no such part, or where the caller is not
        root and so has no privilege to abuse. Raises Unreadable."""
        if os.geteuid() != 0:
            return None
        try:
            return self._tree.weakness(path)[0]
        except OSError as problem:
            raise Unreadable(path, problem) from problem

    def names(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a directory; empty where it is absent or unreadable."""
        try:
            return tuple(sorted(self._listed(path)))
        except OSError:
            return ()

    def hidden(self, path: str) -> bool:
        """Return whether there is a directory whose names may not be read, which must not be mistaken for an
        empty one."""
        try:
            self._listed(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return False

    def closed_to_us(self, path: str) -> str | None:
        """Return the group that may use a device, or its number if this host has no name for it; None where
        the present user may use it too, where there is no device, and on an offline root."""
        meta = self._stat(path)
        if meta is None or self.offline or os.access(path, os.R_OK | os.W_OK):
            return None
        with suppress(KeyError):
            return grp.getgrgid(meta.st_gid).gr_name
        return str(meta.st_gid)

    @property
    def is_root(self) -> bool:
        """Return whether the caller is root, who may open every device."""
        return os.geteuid() == 0

    @property
    def login_name(self) -> str:
        """Return the name of the caller's user; empty where this system has none for it."""
        with suppress(KeyError):
            return pwd.getpwuid(os.geteuid()).pw_name
        return ""

    def locked_by(self) -> Locked | None:
        """Return the error for a second rocmcfg while another is running here; None where none is. Writes
        nothing."""
        from rocmcfg.host import lock

        try:
            path = lock.OFFLINE if self.offline else lock.FILE
            with self._place(path) as place:
                return None if self._lock else lock.held(place, path)
        except OSError:
            return None

    def has_tool(self, name: str) -> bool:
        """Return whether the host's PATH has a program of this name."""
        for folder in runner.OFFLINE_PATH if self.offline else runner.folders_of_programs():
            with suppress(OSError), self._place(f"{folder}/{name}") as place:
                if os.access(place.name, os.X_OK, dir_fd=place.directory):
                    return True
        return False

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        """Run a program that changes nothing; None where no program may be run, or where it is missing."""
        if not self.runs_tools:
            return None
        result = runner.query(self._inside(argv))
        return result and result._replace(argv=tuple(argv))

    def stream(self, path: str) -> BinaryIO | None:
        """Return a stream of a file of any size; None where there is none. Raises Unreadable."""
        descriptor = self._opened(path)
        return None if descriptor is None else log_from(descriptor, path, pipes=False)

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        """Return the output, of any size, of a program that changes nothing; None where no program may be
        run, or where it is missing. The exit status is not reported."""
        if not self.runs_tools:
            return None
        try:
            return runner.stream(self._inside(argv))
        except OSError:
            return None

    def _inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        if not self._chroot:
            return tuple(argv)
        # A mount namespace of its own: the tools need /dev, /proc and /sys inside the root, and nothing stays
        # mounted even if rocmcfg is killed.
        script = (
            'root=$1; shift; for d in dev proc sys run; do if [ -d "$root/$d" ]; then '
            'mount --rbind "/$d" "$root/$d" || exit 125; fi; done; exec chroot "$root" "$@"'
        )
        return ("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", self.root, *argv)

    def _place(self, path: str, *, follow_last: bool = True) -> AbstractContextManager[Place]:
        if not path.startswith("/"):
            raise ValueError(f"not a path within a host: {path!r}")
        require_possible(path)
        if not self._walked:
            return nullcontext(Place(None, path, path))
        if lent.OF_A_BOOT.match(path) and self.kernel_is_lent:
            raise FileNotFoundError(errno.ENOENT, "it does not belong to this host's own boot", path)
        return self._tree.place(path, follow_last=follow_last)

    @functools.cached_property
    def _tree(self) -> Root:
        """Return the root's directory. It is opened only once, so replacing the root's own name meanwhile has
        no effect."""
        return Root(self.root)

    def _opened(self, path: str, *, follow_last: bool = True) -> int | None:
        """Return a descriptor to read from; None where there is no such file. Raises Unreadable."""
        try:
            return self._open(path, follow_last=follow_last)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as problem:
            is_link = not follow_last and problem.errno == errno.ELOOP
            raise Unreadable(path, "it is a symbolic link" if is_link else problem) from problem

    def _open(self, path: str, flags: int = 0, *, follow_last: bool = True) -> int:
        # O_NONBLOCK: otherwise a pipe among the files would block for ever
        flags |= os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        if self._walked or not follow_last:  # links were already followed: see `inside`
            flags |= os.O_NOFOLLOW
        with self._place(path, follow_last=follow_last) as place:
            return os.open(place.name, flags, dir_fd=place.directory)

    def _stat(self, path: str, *, follow_last: bool = True) -> os.stat_result | None:
        try:
            with self._place(path, follow_last=follow_last) as place:
                follow = follow_last and not self._walked
                return os.stat(place.name, dir_fd=place.directory, follow_symlinks=follow)
        except (OSError, ValueError):  # an empty text is not a path
            return None

    def _listed(self, path: str) -> list[str]:
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
    """Return all of a regular file. Raises Unreadable."""
    try:
        _require_file(path, os.fstat(descriptor))
        content = read_at_most(descriptor, READ_LIMIT)
    except OSError as problem:
        raise Unreadable(path, problem) from problem
    if len(content) > READ_LIMIT:
        raise Unreadable(path, f"it is larger than {READ_LIMIT >> 20} MiB")
    return content


def _require_file(path: str, meta: os.stat_result) -> None:
    if not stat.S_ISREG(meta.st_mode):
        kind = "a directory" if stat.S_ISDIR(meta.st_mode) else "not a regular file"
        raise Unreadable(path, f"it is {kind}")


def _xattrs(descriptor: int) -> tuple[tuple[str, bytes], ...]:
    try:
        return tuple((name, os.getxattr(descriptor, name)) for name in sorted(os.listxattr(descriptor)))
    except OSError:  # the file system does not support them
        return ()


def text_or_empty(view: LocalView, path: str) -> str:
    """Return the text of a file, for readers that can do without it: empty where it is absent or
    unreadable."""
    try:
        return view.text(path) or ""
    except Unreadable:
        return ""


def drop_ins(view: LocalView, folders: Sequence[str], suffix: str) -> tuple[str, ...]:
    """Return the files with this suffix, in order of their base names. If several folders have the same name,
    the first counts, as in modprobe.d(5) and environment.d(5). Hidden files are not drop-ins."""
    every = {name: f"{folder}/{name}" for folder in reversed(folders) for name in view.names(folder)}
    return tuple(every[name] for name in sorted(every) if name.endswith(suffix) and name[0] != ".")
