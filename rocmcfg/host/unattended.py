"""Run a program of the caller many times without a terminal, and keep a bounded part of its output.

The program reads nothing and leads a process group of its own: a keyboard's signals reach rocmcfg, which
passes them on, and a program that reads the terminal is stopped by the kernel, and then ended.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import select
import signal
import struct
import termios
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rocmcfg.host import runner
from rocmcfg.host.foreground import (
    IGNORED_BY_PYTHON,
    Ended,
    Foreground,
    adopt_orphans,
    descendants,
    is_ignored,
)
from rocmcfg.host.output_search import OutputSearch, Searched
from rocmcfg.model.shape import NamedTuple

_PIECE = 64 << 10  # bytes
_KEPT = 4  # pieces that are kept of the beginning of the output, and of its end
_STOPS = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT))
_OF_TERMINAL = (signal.SIGTTIN, signal.SIGTTOU)


class Printed(NamedTuple):
    """The output of a program, with what was cut out of its middle. `digest` is that of the whole output,
    `searched` the result of the search for the pattern."""

    kept: bytes = b""
    digest: str = ""
    searched: Searched = Searched()


class _Output:
    """Read the output of a program while it runs."""

    def __init__(self, pattern: str, passed_on_to: int | None) -> None:
        self._search = OutputSearch(pattern) if pattern else None
        self._passed_on_to = passed_on_to
        self._reading, self.writing = os.pipe2(os.O_CLOEXEC)
        self._ended, self._end = os.pipe2(os.O_CLOEXEC)
        self._head: list[bytes] = []
        self._tail: deque[bytes] = deque(maxlen=_KEPT)
        self._digest = hashlib.sha256()
        self._cut = 0
        self._thread = threading.Thread(target=self._read, daemon=True)

    def begin(self) -> None:
        os.close(self.writing)
        self._thread.start()

    def end(self) -> Printed:
        """Return what was printed until now. A process that the program left may go on printing."""
        os.close(self._end)
        self._thread.join()
        for descriptor in (self._reading, self._ended):
            os.close(descriptor)
        searched = self._search.end() if self._search is not None else Searched()
        cut = (b"\n[%d bytes were cut out here]\n" % self._cut,) if self._cut else ()
        return Printed(b"".join((*self._head, *cut, *self._tail)), self._digest.hexdigest(), searched)

    def abandon(self) -> None:
        for descriptor in (self._reading, self.writing, self._ended, self._end):
            os.close(descriptor)
        if self._search is not None:
            self._search.end()

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._reading, self._ended], [], [])
            if self._ended in ready:
                break
            piece = os.read(self._reading, _PIECE)
            if not piece:
                return  # nobody can print any more
            self._add(piece)
        # only what is in the pipe: what prints without end would be read for ever
        left: int = struct.unpack("i", fcntl.ioctl(self._reading, termios.FIONREAD, bytes(4)))[0]
        while left > 0:
            piece = os.read(self._reading, min(left, _PIECE))
            self._add(piece)
            left -= len(piece)

    def _add(self, piece: bytes) -> None:
        self._digest.update(piece)
        if self._passed_on_to is not None:
            with suppress(OSError):
                os.write(self._passed_on_to, piece)
        if len(self._head) < _KEPT:
            self._head.append(piece)
        else:
            if len(self._tail) == _KEPT:
                self._cut += len(self._tail[0])
            self._tail.append(piece)
        if self._search is not None:
            self._search.add(piece)


class Unattended(Foreground):
    """A program without a terminal. `stopped`: somebody asked rocmcfg to stop, so how the program ended shows
    nothing. `wants_terminal`: it was ended because it reads or sets the terminal."""

    def __init__(self, pattern: str = "", passed_on_to: int | None = None) -> None:
        super().__init__()
        self._pattern, self._passed_on_to = pattern, passed_on_to
        self._others: set[int] = set()  # processes below this one that are not the program's
        self.stopped = self.wants_terminal = False
        self.printed = Printed()

    def run(self, command: Sequence[str], environment: Mapping[str, str], limit: float | None) -> Ended:
        """Run the program to its end. Raises OSError where it cannot be run. The caller then ends what is
        left."""
        self._output = _Output(self._pattern, self._passed_on_to)
        self._others = {*descendants(os.getpid())}
        adopt_orphans(adopts=True)
        try:
            self.start(command, environment)
        except BaseException:
            self._output.abandon()
            raise
        self._output.begin()  # the thread inherits the blocked signals, which `wait` takes
        try:
            return self.wait(limit)
        finally:
            self.printed = self._output.end()

    def end_what_is_left(self, mark: str) -> int:
        """End the processes that the program has left, by their parent or by this mark in their environment,
        and return their number."""
        orphans = self._left()
        number = runner.end_others(self._left) if orphans else 0
        for pid in orphans:
            with suppress(ChildProcessError):  # one of another process
                os.waitpid(pid, os.WNOHANG)
        adopt_orphans(adopts=False)
        return number + runner.end(mark)

    def _left(self) -> set[int]:
        """Return the processes below this one, without those of others: a script may have started daemons
        before it became rocmcfg."""
        left = {*descendants(os.getpid())}
        for pid in left & self._others:
            left -= {pid, *descendants(pid)}
        return left

    def _spawn(self, program: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
        return os.posix_spawn(
            program,
            [*command],
            environment,
            file_actions=(
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, self._output.writing, 1),
                (os.POSIX_SPAWN_DUP2, self._output.writing, 2),
            ),
            setpgroup=0,
            setsigmask=self._mask,
            setsigdef=IGNORED_BY_PYTHON,
        )

    def _pass_on(self, arrived: signal.struct_siginfo) -> None:
        if arrived.si_pid == self._pid or is_ignored(arrived.si_signo):
            return
        again = self.stopped and arrived.si_signo in _STOPS
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL if again else arrived.si_signo)
        if arrived.si_signo == signal.SIGTSTP:
            # Not every program is then reported as stopped: one that ends at this moment is not, nor a shell
            # that waits in vfork(2) for a child that was stopped before its execve(2), as dash does.
            super()._stop_too(signal.SIGTSTP)
            self._continue()  # at once, so that its stop is not reported any more

    def _note(self, arrived: signal.struct_siginfo) -> None:
        super()._note(arrived)
        if arrived.si_pid != self._pid and not is_ignored(arrived.si_signo):
            self.stopped |= arrived.si_signo in _STOPS

    def _continue(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGCONT)

    def _stop_too(self, number: int) -> None:
        if number in _OF_TERMINAL:
            self.wants_terminal = True
            self._signal_all(signal.SIGKILL)
        else:
            super()._stop_too(number)
