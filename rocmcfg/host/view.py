"""The seam: what the rest of the program may ask of a host.

Paths are absolute within the host; only the implementation knows where its root lies.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol

from rocmcfg.host.inside import Weakness
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.state import FileState


class CommandResult(NamedTuple):
    """`status` is the exit status, or None where the program was stopped at its time limit."""

    argv: tuple[str, ...]
    status: int | None
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        return self.status == 0


_READ_HINTS = {
    errno.EACCES: "run the command as root, or mend the file's permissions",
    errno.EPERM: "run the command as root, or mend the file's permissions",
    errno.ENOENT: "check the path, and what it is relative to",
    errno.ENOTDIR: "check the path: a part of it is no directory",
}


_WRITE_HINTS = {
    errno.EROFS: "the file system is read-only: mount -o remount,rw it, then run the command again",
    errno.ENOSPC: "the file system is full: free some space, then run the command again",
    errno.EDQUOT: "the quota is used up: free some space, then run the command again",
    errno.EACCES: "run the command as root",
    errno.EPERM: "run the command as root; if you are root, look for an immutable flag (lsattr)",
}


def _explained(reason: str | OSError, hint: str, hints: dict[int, str]) -> tuple[str, str]:
    """A reason, and what to do about it."""
    if isinstance(reason, OSError):
        hint = hint or hints.get(reason.errno or 0, "")
        reason = reason.strerror or str(reason)
    return reason, hint or "mend what the message says, then run the command again"


class Unreadable(RocmcfgError):
    """A file that exists and cannot be read. Readers that can do without it catch this by name. `root` is
    that of the host."""

    def __init__(self, path: str, reason: str | OSError, hint: str = "", *, root: str = "/") -> None:
        self.path = path
        self.reason, hint = _explained(reason, hint, _READ_HINTS)
        summary = f"cannot read {_below(path, root)}: {self.reason}"
        super().__init__(error("RC3001", summary, location=path, hint=hint))


class Unwritable(RocmcfgError):
    """A write that the file system refused: read-only, full, no permission. `root` is that of the host."""

    def __init__(self, path: str, reason: str | OSError, hint: str = "", *, root: str = "/") -> None:
        self.path = path
        self.reason, hint = _explained(reason, hint, _WRITE_HINTS)
        summary = f"cannot write {_below(path, root)}: {self.reason}"
        super().__init__(error("RC3002", summary, location=path, hint=hint))


def _below(path: str, root: str) -> str:
    """A rescue system has a path of that name too."""
    return path if root == "/" else f"{path} below {root}"


class ToolFailed(RocmcfgError):
    """A program of the host that is missing, failed, or did not end in time."""

    def __init__(self, result: CommandResult, reason: str, hint: str) -> None:
        self.result = result
        said = (result.stderr.strip() or result.stdout.strip()).splitlines()[-12:]
        summary = f"{' '.join(result.argv)}: {reason}"
        super().__init__(error("RC3003", summary, detail="\n".join(said), hint=hint))


class Locked(RocmcfgError):
    """`lost`: it was ours, and somebody took the file away under us."""

    def __init__(self, path: str, holder: str, *, lost: bool = False) -> None:
        detail = f"{path} is held by {holder}" if holder else f"{path} is held"
        super().__init__(
            error(
                "RC3004",
                f"another rocmcfg {'may be' if lost else 'is'} at work on this host",
                detail=f"{path} was removed while it was held" if lost else detail,
                location=path,
                hint="wait until it has ended, then run the command again",
            )
        )


class HostView(Protocol):
    """Read-only. Planners, fact readers and verify get this and nothing more."""

    @property
    def root(self) -> str:
        """For messages, and for what a user is to type; a path within the host is read by these methods."""

    @property
    def offline(self) -> bool:
        """A root other than the running system: no /proc or /sys of ours belongs to it."""

    @property
    def runs_tools(self) -> bool:
        """Whether programs of this host may be run."""

    def read(self, path: str) -> bytes | None:
        """The content; None where there is no such file. Raises Unreadable."""

    def text(self, path: str) -> str | None:
        """As `read`, decoded as UTF-8; bytes that are not UTF-8 become U+FFFD."""

    def state(self, path: str) -> FileState | None:
        """Content and metadata of a regular file, None if absent. Raises Unreadable for anything else."""

    def exists(self, path: str) -> bool: ...

    def is_dir(self, path: str) -> bool: ...

    def is_symlink(self, path: str) -> bool: ...

    def real_path(self, path: str) -> str:
        """Where symbolic links lead to, within the host; the path itself where they lead nowhere."""

    def weakness(self, path: str) -> Weakness | None:
        """The first part of a path, from the root on, that somebody else than root may change: what lies
        behind it must not be believed. None where there is none, and where the caller is not root and so has
        nothing to hand over. Raises Unreadable."""

    def names(self, path: str) -> tuple[str, ...]:
        """Sorted names in a directory; empty where it is absent or unreadable."""

    def hidden(self, path: str) -> bool:
        """Whether a directory is there whose names may not be read: it must not be taken for an empty one."""

    def closed_to_us(self, path: str) -> str | None:
        """The group that may use a device, its number where this host has no name for it; None where whoever
        runs us may use it too, where there is no device, and on an offline root."""

    def locked_by(self) -> Locked | None:
        """What a second rocmcfg is told while another is at work here; None where none is. Writes nothing."""

    def has_tool(self, name: str) -> bool:
        """Whether a program of this name lies where the host keeps its programs."""

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        """Run a program that changes nothing; None where no program may be run or it is missing."""

    def stream(self, path: str) -> BinaryIO | None:
        """A file of any size, to be read as it comes; None where there is none. Raises Unreadable."""

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        """As `query`, for output of any size; the exit status is not told."""


def text_or_empty(view: HostView, path: str) -> str:
    """For readers that can do without a file: empty where it is absent, and where it may not be read."""
    try:
        return view.text(path) or ""
    except Unreadable:
        return ""


def drop_ins(view: HostView, folders: Sequence[str], suffix: str) -> tuple[str, ...]:
    """The files with this suffix, in order of their base names. Of one name in several folders the first
    counts, as modprobe.d(5) and environment.d(5) say. Hidden files are no drop-ins."""
    found: dict[str, str] = {}
    for folder in folders:
        for name in view.names(folder):
            if name.endswith(suffix) and not name.startswith("."):
                found.setdefault(name, f"{folder}/{name}")
    return tuple(found[name] for name in sorted(found))


class Host(HostView, Protocol):
    """The writer. Only the transaction, and what must be done by root besides it, holds one."""

    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        """Replace or create a file in one atomic, durable step. Raises Unwritable."""

    def remove(self, path: str) -> None: ...

    def discard_temporary(self, path: str) -> None:
        """Remove what a crash in the middle of `write` may have left beside `path`."""

    def make_dir(self, path: str, mode: int) -> None: ...

    def remove_dir(self, path: str) -> bool:
        """False where the directory is not empty, which is not an error: somebody else uses it now."""

    def append(self, path: str, line: bytes) -> None:
        """Append to a file of the private state directory and make it durable."""

    def writable_problem(self, path: str) -> str:
        """Why nothing can be written at `path` (read-only file system, no permission), else empty."""

    def settle(self, paths: Sequence[str]) -> None:
        """Put on the disk what programs wrote to the file systems that hold these files or directories, so
        that a boot loader finds it after a power cut. Raises Unwritable."""

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        """Run a program that changes the host: no stdin, a time limit in seconds, C.UTF-8. By `mark`, which
        nobody else must know, `survivors` finds it."""

    def started(self, mark: str) -> list[str]:
        """Programs of root, started with this mark or by one that was, that are still there."""

    def survivors(self, mark: str) -> list[str]:
        """Programs of root, started with this mark, that are still at work although their rocmcfg is not."""

    def unpack(
        self, argv: Sequence[str], wanted: Sequence[str], *, here: bool = False
    ) -> dict[str, bytes] | None:
        """Run `argv` plus a scratch directory and return the content of the `wanted` files that it put there,
        keyed by their path relative to it; None where the program failed. `here`: it takes no directory and
        unpacks where it stands."""

    def lock(self) -> AbstractContextManager[None]:
        """One writer per host. Raises Locked at once where another holds it."""

    def require_lock(self) -> None:
        """Raises Locked where the lock is not, or no longer, ours."""

    def log(self, message: str) -> None:
        """One line for the host's own journal or syslog; silent on an offline root. Never raises."""

    def user(self) -> str:
        """Who asked: the account behind sudo, else the one that runs us."""

    def new_file(self, content: bytes, mode: int) -> FileState:
        """A file of ours, owned by whoever this host's files belong to (root, or us on an offline root)."""
