"""A program in the foreground: its end is noticed whatever becomes of the signals."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

from rocmcfg.host.foreground import Foreground


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
