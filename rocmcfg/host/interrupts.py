"""Signals that ask to stop: heeded once, and where a stop leaves nothing half done.

Outside of `held` a signal raises KeyboardInterrupt at once. Inside it is noted, and `check` raises it between
two steps. After the first all others are ignored: what follows is the way back, and nobody wants that stopped
in its middle.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _State:
    holders = 0
    noted = False
    heeded = False


def heed() -> None:
    """Let a closed terminal and a `kill` end a command as Ctrl-C does. What the caller ignores stays ignored:
    HUP under nohup(1), INT of a job in the background of a script."""
    _State.noted = _State.heeded = False
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def done() -> None:
    """Heed no signal any more: the work is done and recorded, and an interrupt must not make it look
    undone."""
    _State.heeded = True


def _interrupt(*_: object) -> None:
    if _State.heeded:
        return
    if _State.holders:
        _State.noted = True
        return
    _State.heeded = True
    raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Let nothing interrupt what is done inside, but where it asks for that with `check`."""
    _State.holders += 1
    try:
        yield
    finally:
        _State.holders -= 1


def check() -> None:
    """Raise KeyboardInterrupt where a signal was noted meanwhile."""
    if _State.noted and not _State.heeded:
        _State.heeded = True
        raise KeyboardInterrupt
