"""A program in the foreground: its end is noticed whatever becomes of the signals."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

from rocmcfg.host.apart import apart
from rocmcfg.host.foreground import Foreground
from rocmcfg.host.unattended import Unattended


class _EndsAfterTheLook(Foreground):
    """Its program ends between the first look at its state and the wait for a signal."""

    looks = 0

    def _changes(self) -> Iterator[int]:
        self.looks += 1
        if self.looks > 1:
            yield from super()._changes()
            return
        os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)


def test_an_end_is_noticed_though_another_thread_took_the_signal() -> None:
    """SIGCHLD goes to a thread that does not block it, as those of a library do not, and is ignored there."""
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        program = _EndsAfterTheLook()
        program.start(("sh", "-c", "exit 3"), os.environ)
        ended = program.wait(30.0)
    finally:
        over.set()
        other.join()
    assert (ended.code, ended.timed_out) == (3, False)
    assert ended.seconds < 20


class _AskedAtTheEnd(Unattended):
    """Somebody asks it to stop after the end of its program was seen, before the signals are unblocked."""

    def _changes(self) -> Iterator[int]:
        for status in super()._changes():
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGUSR1)
            yield status


def _asked_at_the_end() -> tuple[int | None, bool, bool]:
    def ends(number: int, _: object) -> None:
        raise RuntimeError(f"signal {number} came through")

    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, ends)
    program = _AskedAtTheEnd()
    ended = program.run(("sh", "-c", "exit 3"), os.environ, None)
    return ended.code, ended.asked_to_end, program.stopped


def test_a_signal_that_comes_with_the_end_of_the_program_is_not_lost_and_ends_nothing_else() -> None:
    """In a process of one thread: a worker has others, which do not block the signals."""
    assert apart(_asked_at_the_end) == (3, True, True)
