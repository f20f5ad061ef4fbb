"""Results of the host's programs, and errors of reading, writing and running on a host."""

from __future__ import annotations

import errno
import shlex

from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.shape import NamedTuple


class CommandResult(NamedTuple):
    """The result of a program. `status` is its exit status, or None if it was stopped at its time limit."""

    argv: tuple[str, ...]
    status: int | None
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def words(self) -> list[str]:
        """Return the lines that the program wrote to stderr, or else to stdout; if it wrote none, one line
        that says so."""
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        ended = (
            "was stopped at its time limit" if self.status is None else f"exited with status {self.status}"
        )
        return lines or [f"`{shlex.join(self.argv)}` {ended} and printed nothing"]


_READ_HINTS = {
    errno.EACCES: "run the command as root, or fix the file's permissions",
    errno.EPERM: "run the command as root, or fix the file's permissions",
    errno.ENOENT: "check the path, and the directory that it is relative to",
    errno.ENOTDIR: "check the path: a part of it is not a directory",
}


_WRITE_HINTS = {
    errno.EROFS: "the file system is read-only: mount -o remount,rw it, then run the command again",
    errno.ENOSPC: "the file system is full: free some space, then run the command again",
    errno.EDQUOT: "the quota is used up: free some space, then run the command again",
    errno.EACCES: "run the command as root",
    errno.EPERM: "run the command as root; if you are root, look for an immutable flag (lsattr)",
}


def _explained(reason: str | OSError, hint: str, hints: dict[int, str]) -> tuple[str, str]:
    if isinstance(reason, OSError):
        hint = hint or hints.get(reason.errno or 0, "")
        reason = reason.strerror or str(reason)
    return reason, hint or "fix the problem, then run the command again"


class Unreadable(RocmcfgError):
    """A file that exists but cannot be read. Readers that can do without it catch this error. `root` is the
    root of the host."""

    def __init__(self, path: str, reason: str | OSError, hint: str = "", *, root: str = "/") -> None:
        self.path = path
        self.reason, hint = _explained(reason, hint, _READ_HINTS)
        summary = f"cannot read {_below(path, root)}: {self.reason}"
        super().__init__(error("RC3001", summary, location=path, hint=hint))


class Unwritable(RocmcfgError):
    """A write that the file system refused: read-only, full, no permission. `root` is the root of the
    host."""

    def __init__(self, path: str, reason: str | OSError, hint: str = "", *, root: str = "/") -> None:
        self.path = path
        self.reason, hint = _explained(reason, hint, _WRITE_HINTS)
        summary = f"cannot write {_below(path, root)}: {self.reason}"
        super().__init__(error("RC3002", summary, location=path, hint=hint))


def _below(path: str, root: str) -> str:
    """Return a path with its root, if that is not the running system's: a rescue system has the same paths
    too."""
    return path if root == "/" else f"{path} below {root}"


class ToolFailed(RocmcfgError):
    """A program of the host that is missing, failed, or did not finish in time."""

    def __init__(self, result: CommandResult, reason: str, hint: str) -> None:
        self.result = result
        output = (result.stderr.strip() or result.stdout.strip()).splitlines()[-12:]
        summary = f"{shlex.join(result.argv)}: {reason}"
        super().__init__(error("RC3003", summary, detail="\n".join(output), hint=hint))


class Locked(RocmcfgError):
    """The lock is held by another rocmcfg. `lost`: we held it, and another process removed the file.
    `asking`: its holder has begun nothing, and waits for the user's answer."""

    def __init__(self, path: str, holder: str, *, lost: bool = False, asking: bool = False) -> None:
        self.asking = asking
        summary = f"another rocmcfg {'may be' if lost else 'is'} running on this host"
        why = "was removed while it was held" if lost else f"is held by {holder}" if holder else "is held"
        why += ", which waits for an answer" if asking else ""
        hint = "wait until it finishes, then run the command again"
        super().__init__(error("RC3004", summary, detail=f"{path} {why}", location=path, hint=hint))
