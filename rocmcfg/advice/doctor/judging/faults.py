"""Assign the lines of a log to fault classes, and rank the classes: the cause before its consequences, the
grave before the slight, the first before the later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import get_args

from rocmcfg.advice.doctor.reading.hits import Group, Hits
from rocmcfg.knowledge.faults import layers
from rocmcfg.model.fault import Fault, Severity
from rocmcfg.model.shape import NamedTuple

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class FaultMatch(NamedTuple):
    """A fault class that a log shows, with its groups of lines in the order of the log. `full`: there are
    more lines than were counted. `causes` are the classes in the log of which it is a consequence."""

    fault: Fault
    groups: tuple[Group, ...]
    full: bool
    causes: tuple[str, ...] = ()

    @property
    def first(self) -> int:
        """Return the position of the first line."""
        return self.groups[0].first


def fault_matches(
    faults: Mapping[str, Fault], hits: Sequence[Hits], left_out: Collection[int] = (), *, ours: bool = True
) -> tuple[FaultMatch, ...]:
    """Return the fault classes of a log, the best answer first.

    Each line belongs to the class whose pattern requires the longest texts; a general class has only lines
    that no other class has, and none that only says more about a fault of another class. Lines at the
    positions `left_out`, which an issue explains, belong to none. `ours` is False for a log that names
    another vendor's software: patterns that such software prints, too, then count only if the log also has
    a line that only AMD's software prints.
    """
    shown = [hit for hit in hits if hit.probe.role == "fault" and hit.positions]
    ours = ours or any(not hit.probe.shared for hit in shown)
    owners: dict[int, tuple[tuple[bool, int], str, Group]] = {}
    full = {hit.probe.fault for hit in shown if hit.full}
    for hit in shown if ours else ():
        fault = faults[hit.probe.fault]
        rank = (not fault.general, hit.probe.required_length)
        for group in hit.groups:
            owner = owners.get(group.first)
            if group.first not in left_out and (owner is None or owner[0] < rank):
                owners[group.first] = (rank, fault.id, group)
    if left_out or not all(faults[id].general for _, id, _ in owners.values()):
        for position in {p for hit in hits if hit.probe.role == "detail" for p in hit.positions} & {*owners}:
            if faults[owners[position][1]].general:
                del owners[position]
    groups: dict[str, list[Group]] = {}
    for position in sorted(owners):
        _, id, group = owners[position]
        groups.setdefault(id, []).append(group)
    matches = [FaultMatch(faults[id], tuple(own), id in full) for id, own in groups.items()]
    return tuple(sorted((_with_causes(match, matches) for match in matches), key=_rank))


def _with_causes(match: FaultMatch, matches: Sequence[FaultMatch]) -> FaultMatch:
    """Return a match with its causes. The kernel prints what happens in its order; a program may print its
    cause after what follows from it, as the end of a traceback does."""
    of_program = not _of_kernel(match)
    possible = (
        other.fault.id
        for other in matches
        if other.first < match.first or (of_program and not _of_kernel(other))
    )
    return match._replace(causes=tuple(id for id in possible if id in match.fault.after))


def _of_kernel(match: FaultMatch) -> bool:
    return layers()[match.fault.layer].of_kernel


def _rank(match: FaultMatch) -> tuple[bool, bool, int, int]:
    fault = match.fault
    return fault.general, bool(match.causes), _SEVERITIES.index(fault.severity), match.first
