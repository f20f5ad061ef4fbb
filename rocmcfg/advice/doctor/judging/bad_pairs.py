"""Name the faults that a machine has by its facts alone, whatever a log shows: its kernel, or its ROCm, is
known to lack the fix for its GPU, or both do not work together at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocmcfg.advice.doctor.judging.origin import Origin, is_certain, lacking
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.shape import NamedTuple, published

_CONFIDENCE = ("confirmed", "reported", "unverified")


@published("issue: issue=id title confidence fixed_in", "lacking")
class BadPair(NamedTuple):
    """A fault that is certain by the facts, and what lacks the fix, in words."""

    issue: KnownIssue
    lacking: tuple[str, ...]


def bad_pairs(
    issues: Iterable[KnownIssue], where: Origin, position: int, catalogue: Catalogue
) -> tuple[BadPair, ...]:
    """Return the faults of a machine whose release with the fix is known and is not there, those with a
    confirmed cause first. A condition that is not known leaves a fault out."""
    pairs = _pairs(issues, where, position, catalogue) if where.gfx else ()
    return tuple(sorted(pairs, key=lambda pair: _CONFIDENCE.index(pair.issue.confidence)))


def _pairs(
    issues: Iterable[KnownIssue], where: Origin, position: int, catalogue: Catalogue
) -> Iterator[BadPair]:
    for issue in issues:
        if (issue.gfx or issue.pair) and is_certain(issue, where, position, catalogue):
            missing = lacking(issue, where, position, catalogue)
            if missing:
                yield BadPair(issue, missing)
