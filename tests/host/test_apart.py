"""Work in a process of its own comes back, fails or is ended, and never goes on with its parent's work."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rocmcfg.host.apart import apart
from tests.support.tools import HANG


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


@pytest.mark.parametrize("hangs", [lambda: time.sleep(600), lambda: re.search("(a|aa)+c", "a" * 80)])
def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch, hangs: Callable[[], object]) -> None:
    fork, children = os.fork, []

    def noting() -> int:
        children.append(fork())
        return children[0]

    monkeypatch.setattr(os, "fork", noting)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        apart(hangs, 0.1)
    assert time.monotonic() - began < HANG / 2
    assert not Path(f"/proc/{children[0]}").exists(), "it is ended, and no zombie"
