"""Wait until no other rocmcfg is running, for commands that run unattended."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from rocmcfg.host.problems import Locked

T = TypeVar("T")
LONGEST = 900.0  # seconds; update-initramfs for many kernels on a slow disk may take that long
_STEP = 1.0  # seconds


def when_free(
    act: Callable[[], T],
    sleep: Callable[[float], None] = time.sleep,
    *,
    step: float = _STEP,
    through_questions: bool = True,
) -> T:
    """Return the result of `act` once no other rocmcfg is running, trying every `step` seconds. Raises Locked
    after `LONGEST` seconds; unless `through_questions`, also at once where the other one waits for an
    answer."""
    for _ in range(int(LONGEST / step)):
        try:
            return act()
        except Locked as problem:
            if problem.asking and not through_questions:
                raise
        sleep(step)
    return act()
