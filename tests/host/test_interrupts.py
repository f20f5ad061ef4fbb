"""Signals that ask to stop: heeded once, at a moment where nothing is left half done."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from rocmcfg.host import interrupts

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def _heeded() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    interrupts.heed()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_heeded_at_once_where_nothing_is_being_changed(number: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        send(number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_for_the_next_step(number: int) -> None:
    with interrupts.held():
        send(number)  # the step that was begun goes on to its end
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()


def test_only_the_first_is_heeded() -> None:
    with pytest.raises(KeyboardInterrupt):
        send(signal.SIGTERM)
    send(signal.SIGTERM)
    send(signal.SIGINT)
    with interrupts.held():
        send(signal.SIGHUP)
        interrupts.check()


def test_two_in_a_row_are_one() -> None:
    with interrupts.held():
        send(signal.SIGTERM)
        send(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
        interrupts.check()


@pytest.mark.parametrize("number", SIGNALS)
def test_what_the_caller_ignores_stays_ignored(number: int) -> None:
    signal.signal(number, signal.SIG_IGN)
    interrupts.heed()
    send(number)
    with interrupts.held():
        send(number)
        interrupts.check()
    assert signal.getsignal(number) is signal.SIG_IGN


def test_afterwards_nothing_is_heeded() -> None:
    interrupts.done()
    for number in SIGNALS:
        send(number)
