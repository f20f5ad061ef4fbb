"""Read what the kernel logs while something runs: its lines from one moment on.

/dev/kmsg gives exactly the lines after the moment at which it was opened, without a clock. Where only the
journal may be read, the monotonic times at which journald received the lines decide.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from rocmcfg.host import runner
from rocmcfg.host.foreign import json_value, parsing
from rocmcfg.host.problems import Unreadable
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_DEVICE = "/dev/kmsg"
_NULL = os.makedev(1, 3)  # /dev/null (Documentation/admin-guide/devices.txt of the kernel)
_RECORD = 8 << 10  # bytes; the kernel's records are shorter (PRINTK_MESSAGE_MAX, CONSOLE_EXT_LOG_MAX)
_MOST = 4 << 20  # bytes that are kept, from the start: the first fault is the cause
_WARNING = 4  # the priority of <linux/kern_levels.h>; lower numbers are graver
_ESCAPED = regex(rb"\\x([0-9a-f]{2})")
_JOURNAL = ("journalctl", "--no-pager", "--quiet", "-k", "-b", "0", "-o", "json")
_LATE = 0.5  # seconds after the end of a program in which the kernel may still log why it ended
_STEP = 0.05  # seconds
_EARLIER = 5  # seconds by which the journal is asked for more than wanted, since its clock may have been set


class KernelLines(NamedTuple):
    """The lines of a window of the kernel's log, as dmesg prints them. `total` is their number, `grave` that
    of warnings and errors. `lost`: the kernel dropped lines before they were read. `problem` says why the log
    cannot be read; empty where it was read."""

    text: bytes = b""
    total: int = 0
    grave: int = 0
    lost: bool = False
    source: str = ""
    problem: str = ""


class KernelLog:
    """The kernel's log from the creation of the object on. `read` returns all lines up to now; it may be
    called again."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lines: list[bytes] = []
        self._size = self._count = self._grave = 0
        self._lost = False
        self._descriptor: int | None = None
        self._problem: OSError | None = None
        try:
            self._descriptor = os.open(_DEVICE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError as problem:
            self._problem = problem

    def read(self) -> KernelLines:
        if self._problem is None:
            self._read_device()
        if self._problem is None:
            return self._window(_DEVICE)
        self._lines, self._size, self._count, self._grave = [], 0, 0, 0
        if self._read_journal():
            return self._window("the journal")
        return KernelLines(problem=f"{_DEVICE}: {self._problem.strerror}")

    def _window(self, source: str) -> KernelLines:
        return KernelLines(b"".join(self._lines), self._count, self._grave, self._lost, source)

    def _read_device(self) -> None:
        assert self._descriptor is not None
        while True:
            try:
                record = os.read(self._descriptor, _RECORD)
            except BlockingIOError:
                return
            except OSError as problem:
                if problem.errno != errno.EPIPE:  # the records to read next were overwritten
                    self._problem = problem
                    return
                self._lost = True
                continue
            if not record:
                return
            head, _, rest = record.partition(b";")
            priority, _, stamp, *_ = head.split(b",")
            text = rest.partition(b"\n")[0]  # what follows are the device and its driver, indented
            self._add(int(priority) & 7, int(stamp), _ESCAPED.sub(_unescaped, text))

    def _read_journal(self) -> bool:
        """Read the lines that journald received in the window. Return False if the journal may not be
        read."""
        since = time.time() - (time.monotonic() - self._began) - _EARLIER
        try:
            for priority, received, text in _entries((*_JOURNAL, f"--since=@{since:.0f}")):
                if received >= self._began * 1e6:
                    self._add(priority, received, text)
            return bool(self._count) or next(_entries((*_JOURNAL, "-n", "1")), None) is not None
        except (OSError, Unreadable):
            return False

    def _add(self, priority: int, microseconds: int, text: bytes) -> None:
        for line in text.split(b"\n"):
            self._count += 1
            self._grave += priority <= _WARNING
            if self._size < _MOST:
                self._lines.append(b"[%5d.%06d] %b\n" % (*divmod(microseconds, 1_000_000), line))
                self._size += len(self._lines[-1])

    def close(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode())


def _entries(argv: tuple[str, ...]) -> Iterator[tuple[int, int, bytes]]:
    with runner.stream(argv) as output:
        yield from map(journal_line, output)


def journal_line(line: bytes) -> tuple[int, int, bytes]:
    """Return priority, time in microseconds and text of a line of `journalctl -o json`. Raises Unreadable."""
    with parsing("journalctl", "its output is not the journal as JSON"):
        entry = json_value(line)
        message = entry.get("MESSAGE") or ""
        # a text that is not UTF-8 is a list of its bytes
        text = bytes(message) if isinstance(message, list) else str(message).encode("utf-8", "replace")
        return int(entry.get("PRIORITY", 6)), int(entry.get("__MONOTONIC_TIMESTAMP", 0)), text


class LogFile:
    """A file to which somebody else writes the kernel's lines, from its present end on."""

    def __init__(self, path: str) -> None:
        """Open the file. Raises Unreadable."""
        self._path = path
        try:
            self._stream = _opened(path)
            self._from = self._stream.seek(0, os.SEEK_END)
        except OSError as problem:
            raise Unreadable(path, problem) from problem

    def read(self) -> KernelLines:
        try:
            size = self._stream.seek(0, os.SEEK_END)
            emptied = size < self._from
            self._stream.seek(0 if emptied else self._from)
            text = self._stream.read(_MOST)
            if not os.path.samestat(os.fstat(self._stream.fileno()), os.stat(self._path)):
                with _opened(self._path) as rotated:
                    text += rotated.read(_MOST - len(text))
        except OSError as problem:
            return KernelLines(problem=f"{self._path}: {problem.strerror}")
        except Unreadable as problem:
            return KernelLines(problem=f"{self._path}: {problem.reason}")
        total = text.count(b"\n")
        return KernelLines(text, total, total, lost=emptied, source=self._path)

    def close(self) -> None:
        self._stream.close()


def _opened(path: str) -> BinaryIO:
    """Open a file that has an end, or /dev/null, where nothing shall be read. A pipe would be waited for, and
    opening another device may have effects. Raises OSError, or Unreadable."""
    if _has_an_end(os.stat(path)):
        stream = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
        if _has_an_end(os.fstat(stream.fileno())):
            return stream
        stream.close()
    raise Unreadable(path, "it is not a regular file", "name the file that the kernel's lines are written to")


def _has_an_end(meta: os.stat_result) -> bool:
    return stat.S_ISREG(meta.st_mode) or (stat.S_ISCHR(meta.st_mode) and meta.st_rdev == _NULL)


def read_to_end(log: KernelLog | LogFile, *, waits: bool) -> KernelLines:
    """Return the kernel's lines up to now. `waits`: some may come a little after a program was ended, so they
    are waited for until one of them is grave."""
    until = time.monotonic() + (_LATE if waits else 0)
    window = log.read()
    while not window.grave and not window.problem and time.monotonic() < until:
        time.sleep(_STEP)
        window = log.read()
    return window
