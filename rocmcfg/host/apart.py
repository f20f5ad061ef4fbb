"""Do work in a process of its own, so that what the work loads does not stay in memory."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def apart(work: Callable[[], T]) -> T:
    """Return what `work` returns in a child process, or raise the exception that it raises there."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        answer: tuple[T | None, BaseException | None]
        try:
            answer = work(), None
        except BaseException as problem:
            answer = None, problem
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(answer, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        result, failure = pickle.load(stream)  # our own child wrote it
    os.waitpid(child, 0)
    if failure is not None:
        raise failure
    answer_of_work: T = result
    return answer_of_work
