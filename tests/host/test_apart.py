"""Work in a process of its own comes back, fails or is ended, and never goes on with its parent's work."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocmcfg.host import apart as module
from rocmcfg.host.apart import apart
from tests.support.tools import HANG


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The processes that are forked; none is left afterwards."""
    fork, pids = os.fork, list[int]()

    def noting() -> int:
        pids.append(fork())
        return pids[-1]

    monkeypatch.setattr(os, "fork", noting)
    yield pids
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def test_what_it_returns_comes_back_whatever_its_size() -> None:
    assert apart(lambda: (os.getpid(), "x" * (1 << 20)), 60)[1] == "x" * (1 << 20)
    assert apart(os.getpid) != os.getpid()


def test_what_it_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)


@pytest.mark.parametrize("answer", [threading.Lock(), lambda: None])
def test_an_answer_that_no_process_can_send_is_an_error(answer: object) -> None:
    with pytest.raises(ChildProcessError):
        apart(lambda: answer)


@pytest.mark.parametrize("hangs", [lambda: time.sleep(2 * HANG), lambda: re.search("(a|aa)+c", "a" * 80)])
def test_what_takes_too_long_is_ended(children: list[int], hangs: Callable[[], object]) -> None:
    with pytest.raises(TimeoutError):
        apart(hangs, 0.1)
    assert not Path(f"/proc/{children[0]}").exists(), "it is ended, and no zombie"


def test_a_stop_ends_what_it_waits_for(monkeypatch: pytest.MonkeyPatch, children: list[int]) -> None:
    """`kill` reaches rocmcfg alone, and a pattern that backtracks for hours would go on without it."""

    def stopped(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_received", stopped)
    with pytest.raises(KeyboardInterrupt):
        apart(lambda: time.sleep(2 * HANG))
    assert not Path(f"/proc/{children[0]}").exists(), "it is ended, and no zombie"


def test_half_an_answer_is_none(monkeypatch: pytest.MonkeyPatch, children: list[int]) -> None:
    """A child that needs too much memory is killed, perhaps while it writes."""

    received = module._received

    def killing(reading: int, seconds: float | None) -> bytes:
        first = os.read(reading, 1)
        os.kill(children[0], signal.SIGKILL)
        return first + received(reading, seconds)

    monkeypatch.setattr(module, "_received", killing)
    with pytest.raises(ChildProcessError):
        apart(lambda: "x" * (1 << 20))
