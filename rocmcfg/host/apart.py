"""Do work in a process of its own: what the work loads does not stay in memory, and the work can be ended,
whatever it does. In a thread it could not: matching a pattern there stops all threads, and gets no signal."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
_PIECE = 64 << 10
_STEP, _ENDING = 0.01, 200  # seconds, and the number of these steps


def apart(work: Callable[[], T], seconds: float | None = None) -> T:
    """Return what `work` returns in a child process, or raise the exception that it raises there. Raises
    TimeoutError where it takes longer than so many seconds; the child is then ended, or left behind where a
    call into the kernel hangs. Raises ChildProcessError where the child ended without an answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        # whatever happens, the child must not go on with the work of its parent
        with suppress(BaseException):
            os.close(reading)
            with os.fdopen(writing, "wb") as stream:
                stream.write(_answer(work))
            os._exit(0)
        os._exit(1)
    os.close(writing)
    try:
        answer = _received(reading, seconds)
    except BaseException:  # a stop of rocmcfg, too, which nobody else passes on
        os.kill(child, signal.SIGKILL)
        _reap(child)
        raise
    finally:
        os.close(reading)
    _, status = os.waitpid(child, 0)
    if status or not answer:  # of a child that was killed while it wrote, a part has come
        raise ChildProcessError("the process that did the work gave no answer")
    result, failure = pickle.loads(answer)  # our own child wrote it
    if failure is not None:
        raise failure
    answer_of_work: T = result
    return answer_of_work


def _reap(child: int) -> None:
    """Wait for the end of a child that was killed, but not for a call into the kernel that hangs."""
    for _ in range(_ENDING):
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(_STEP)


def _answer(work: Callable[[], T]) -> bytes:
    answer: tuple[T | None, BaseException | None]
    try:
        answer = work(), None
    except BaseException as problem:
        answer = None, problem
    return pickle.dumps(answer)


def _received(reading: int, seconds: float | None) -> bytes:
    until = None if seconds is None else time.monotonic() + seconds
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    pieces: list[bytes] = []
    while True:
        if until is not None and not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            raise TimeoutError
        piece = os.read(reading, _PIECE)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
