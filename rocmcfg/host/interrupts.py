"""Handle signals that request a stop: once, and only where a stop leaves nothing half done.

Outside of `held` a signal raises KeyboardInterrupt at once. Inside it is noted, and `check` raises it between
two steps. After the first signal all others are ignored, so that the rollback that follows is not
interrupted.
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
    """Let a closed terminal and a `kill` end a command as Ctrl-C does. A signal that the caller ignores stays
    ignored: HUP under nohup(1), INT for a background job of a script."""
    _State.noted = _State.heeded = False
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def done() -> None:
    """Ignore all signals from now on: the work is done and recorded, and an interrupt must not make it look
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
    """Allow interrupts inside the block only at a `check`."""
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
