"""Failures that come in stages: which of them a log shows, and in which order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple


class Stages(NamedTuple):
    """`wanted` are all stages in their order, `seen` those that a log shows, `in_order` the longest series of
    them that one boot shows one after the other."""

    wanted: tuple[str, ...]
    seen: tuple[str, ...]
    in_order: tuple[str, ...]

    @property
    def share(self) -> float:
        """0 to 1: how much of the failure was seen as it should be. One stage alone is no order."""
        return len(self.in_order) / len(self.wanted) if len(self.in_order) > 1 else 0.0


def follow(wanted: Sequence[str], positions: Mapping[str, Sequence[int]], boots: Sequence[int]) -> Stages:
    """`positions` are sorted, by name of the stage; `boots` are the positions at which a boot begins.

    Drivers retry: a stage may come back many times, and between two stages others may stand.
    """
    seen = tuple(name for name in wanted if positions.get(name))
    spans = list(pairwise((-1, *boots, 1 << 63)))
    for length in range(len(seen), 1, -1):
        for chosen in combinations(seen, length):
            if any(_one_after_the_other(chosen, positions, start, end) for start, end in spans):
                return Stages(tuple(wanted), seen, chosen)
    return Stages(tuple(wanted), seen, seen[:1])


def _one_after_the_other(
    names: Sequence[str], positions: Mapping[str, Sequence[int]], start: int, end: int
) -> bool:
    at = start - 1
    for name in names:
        found = positions[name]
        index = bisect_right(found, at)
        if index == len(found) or found[index] >= end:
            return False
        at = found[index]
    return True
