"""Which scenarios share a worker when guests run side by side.

Each worker of pytest-xdist has one guest at a time. xdist's own schedulers hand a worker its next tests
before it is done with the present one, which with a dozen tests of minutes each leaves a worker idle at the
end.
"""

from __future__ import annotations

from collections.abc import Mapping


def balanced(seconds: Mapping[str, float], lanes: int) -> dict[str, int]:
    """Deal groups of tests out to lanes: the longest first, each to the lane that has least so far."""
    load = [0.0] * lanes
    lane_of = {}
    for group, cost in sorted(seconds.items(), key=lambda item: -item[1]):
        lane_of[group] = load.index(min(load))
        load[lane_of[group]] += cost
    return lane_of
