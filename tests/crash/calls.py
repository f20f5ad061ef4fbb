"""Harm at the level of system calls: at the n-th call by which a process changes a file, it is killed, or it
gets an error or a signal.

It knows nothing of what rocmcfg is made of: Python's own functions in `os` are counted, and whatever room of
the product calls them. A program of the tree counts as one call, and what the stand-in does inside as more.
`fsync` does nothing here but count: a killed process loses nothing that it had handed to the kernel. What a
power cut adds to that is shown by `power_cut.py`.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rocmcfg.host import durability
from rocmcfg.host.view import CommandResult
from tests.support.tool_host import SETTLES, QuickHost

Moment = Literal["before", "half", "after"]
_COUNTED = (
    *("write", "writev", "pwrite", "pwritev", "ftruncate", "truncate", "fsync", "fdatasync", "sync"),
    *("rename", "replace", "link", "symlink", "unlink", "remove", "mkdir", "rmdir", "mkfifo", "mknod"),
    *("chmod", "fchmod", "chown", "fchown", "lchown", "utime", "setxattr", "removexattr"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# What a full file system refuses; it still removes, renames and changes modes.
_TAKES_SPACE = ("write", "writev", "pwrite", "pwritev", "open", "mkdir", "symlink", "link", "setxattr", "run")


@dataclass(frozen=True, slots=True)
class Fault:
    """`error` is raised once, or from there on for ever. `signals` come at the call and, the second one,
    `gap` calls later."""

    name: str
    moment: Moment = "before"
    error: int = 0
    for_ever: bool = False
    signals: tuple[signal.Signals, ...] = ()
    gap: int = 1

    @property
    def kills(self) -> bool:
        return not self.error and not self.signals

    def refuses_later(self, name: str) -> bool:
        return self.for_ever and (self.error == errno.EROFS or name in _TAKES_SPACE)


FAULTS = (
    Fault("kill before"),
    Fault("kill half", "half"),
    Fault("kill after", "after"),
    Fault("EIO", error=errno.EIO),
    Fault("ENOSPC", error=errno.ENOSPC),
    Fault("EROFS", error=errno.EROFS),
    Fault("ENOSPC on", error=errno.ENOSPC, for_ever=True),
    Fault("EROFS on", error=errno.EROFS, for_ever=True),
    Fault("TERM", signals=(signal.SIGTERM,)),
    Fault("TERM after", "after", signals=(signal.SIGTERM,)),
    Fault("INT", signals=(signal.SIGINT,)),
    Fault("HUP", signals=(signal.SIGHUP,)),
    Fault("TERM TERM", signals=(signal.SIGTERM, signal.SIGTERM)),
    Fault("INT TERM", signals=(signal.SIGINT, signal.SIGTERM), gap=6),
)


class Calls:
    """Counts, and does harm once it comes to the call `at`, counted from 1; at 0 it only counts. `within`:
    only calls for what lies in this folder, as a partition that is mounted there."""

    def __init__(
        self, fault: Fault = FAULTS[0], at: int = 0, *, names: bool = False, within: str = ""
    ) -> None:
        self.fault, self.at, self.count = fault, at, 0
        self.names, self.taken, self.within = names, list[str](), within

    def install(self) -> None:
        """For good: meant for a child that ends soon."""
        for name in _COUNTED:
            setattr(os, name, self._counted(name, getattr(os, name)))
        os.open = self._counted("open", os.open)
        durability.settle = self._counted("settle", _nothing)  # of all that this machine has mounted there
        os.environ[SETTLES] = "1"
        CountedHost.calls = self

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        if name in ("fsync", "fdatasync", "sync"):  # costs time only
            real = _nothing

        def call(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not _opens_for_writing(*arguments[:2]):
                return real(*arguments, **options)
            if arguments and isinstance(arguments[0], int) and _in_memory(arguments[0]):
                return real(*arguments, **options)
            spelled = _spelled(name, arguments, options) if self.names or self.within else ""
            if self.within not in spelled:
                return real(*arguments, **options)
            if self.names:
                self.taken.append(spelled)
            return self.around(
                name,
                lambda: real(*arguments, **options),
                (lambda: _half(real, *arguments)) if name in ("write", "pwrite") else None,
            )

        return call

    def around(self, name: str, call: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        self.count += 1
        fault, now = self.fault, self.count - self.at
        here = self.at > 0 and now == 0
        if fault.error and (here or (self.at > 0 and now > 0 and fault.refuses_later(name))):
            raise OSError(fault.error, os.strerror(fault.error))
        if fault.kills and here and fault.moment != "after":
            if fault.moment == "half" and half is not None:
                half()
            _send(signal.SIGKILL)
        if fault.signals and self.at > 0 and fault.moment == "before" and now >= 0:
            if here:
                _send(fault.signals[0])
            elif now == fault.gap and len(fault.signals) > 1:
                _send(fault.signals[1])
        try:
            return call()
        finally:  # also where it fails of itself, as a mkdir of what is there
            if here and fault.moment == "after":
                _send(signal.SIGKILL if fault.kills else fault.signals[0])


class CountedHost(QuickHost):
    """Its programs are calls as well. One that meets an error fails, as a program does."""

    calls: Calls | None = None

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        def run() -> CommandResult:
            return super(CountedHost, self).execute(argv, timeout=timeout, progress=progress, mark=mark)

        if self.calls is None:
            return run()
        if self.calls.names and not self.calls.within:
            self.calls.taken.append(f"run {argv[0]}")
        try:
            done = run() if self.calls.within else self.calls.around("run", run)
        except OSError as problem:
            return CommandResult(tuple(argv), 1, "", f"{argv[0]}: {problem.strerror}")
        assert isinstance(done, CommandResult)
        return done


class CountedTree(CountedHost):
    """A tree whose programs cannot be run."""

    @property
    def runs_tools(self) -> bool:
        return False


def _half(write: Callable[..., Any], descriptor: int, content: Any, *more: int) -> None:
    write(descriptor, bytes(content)[: len(content) // 2], *more)


def _in_memory(descriptor: int) -> bool:
    """A pipe, or what memfd_create(2) made: no file of the host."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").startswith(("/memfd:", "pipe:", "socket:"))
    except OSError:
        return False


def _opens_for_writing(path: Any, flags: int) -> bool:
    return bool(flags & _WRITES) and path != os.devnull


def _send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


def _place(folder: int | None) -> str:
    """Of a name in a folder that is open."""
    return f"{os.readlink(f'/proc/self/fd/{folder}')}/" if folder is not None else ""


def _nothing(*_: object) -> None:
    return


def _spelled(name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> str:
    words: list[str] = []
    folder = options.get("dir_fd", options.get("src_dir_fd"))
    for argument in arguments[:2]:
        if isinstance(argument, int) and not words:
            try:
                words.append(os.readlink(f"/proc/self/fd/{argument}"))
            except OSError:
                words.append(str(argument))
        elif isinstance(argument, str | os.PathLike):
            words.append(f"{_place(folder)}{os.fspath(argument)}")
    return " ".join([name, *words])
