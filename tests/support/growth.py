"""Whether work grows about as its input does, told by its own growth and by no bar in seconds."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable

Work = Callable[[], object]
_ENOUGH = 0.005  # seconds of processor time from which on growth can be told from chance
_TIMES = 3
_LOOKS = 5
_STEP = 4  # from one size to the next
AT_MOST = 8  # times the cost of a quarter: what is linear comes to 4, what is quadratic to 16
_LEAST_MEMORY = 4 << 20  # bytes that anything may take, whatever it is given


def grows_too_fast(make: Callable[[int], Work], most: int, least: int = 64, *, memory: bool = False) -> str:
    """Empty where it does not. `make(n)` gives the work for a size; what it does itself is not counted.

    Sizes go up to where the work takes long enough to be measured, and to `most` at the utmost: what is cheap
    there has a limit of its own. Then the next size is compared, the best of several runs each, of many where
    it does seem to grow too fast: whatever else the machine does only adds. With `memory`, which takes much
    longer to look at, what both hold at their worst is compared as well.
    """
    size = least
    while (cost := _cost(make(size), 1)) < _ENOUGH and size < most:
        size *= 4
    if cost < _ENOUGH:  # it is cheap at the most as well
        return ""
    small, large = make(size), make(size * _STEP)
    for _ in range(2):  # where the memory no longer fits a cache there is one step, and not two
        less = more = float("inf")
        for _ in range(_LOOKS):
            less, more = min(less, _cost(small, _TIMES)), min(more, _cost(large, _TIMES))
            if more <= AT_MOST * less:
                break
        if more <= AT_MOST * less:
            break
        size *= _STEP
        small, large = large, make(size * _STEP)
    else:
        return f"{size // _STEP} takes {less:.3f} s, {size} takes {more:.3f} s"
    if not memory:
        return ""
    less_memory, more_memory = _memory(small), _memory(large)
    if more_memory > max(_LEAST_MEMORY, AT_MOST * less_memory):
        return f"{size} takes {less_memory} bytes, {size * _STEP} takes {more_memory}"
    return ""


def _cost(work: Work, times: int) -> float:
    best = float("inf")
    gc.disable()  # it walks what others left, whenever it likes
    try:
        for _ in range(times):
            began = time.process_time()
            work()
            best = min(best, time.process_time() - began)
    finally:
        gc.enable()
    return best


def _memory(work: Work) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def growth(seconds: Callable[[int], float], size: int, measurable: float = 0.05) -> float:
    """How much longer four times the size takes: 4 where time is linear, 16 where it is quadratic.

    `seconds` tells the processor time of a size. 0 where the larger one takes less than what is measurable:
    shorter ones are noise. The least of several looks, for whatever else the machine does only adds; only
    where time does grow too fast are all of them taken.
    """
    shorter = longer = float("inf")
    for _ in range(10):
        longer = min(longer, seconds(_STEP * size))
        if longer < measurable:
            return 0.0
        shorter = min(shorter, seconds(size))
        if longer <= AT_MOST * shorter:
            break
    return longer / shorter
