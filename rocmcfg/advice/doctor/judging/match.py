"""A match: a known issue that a log points to, with its score, its lines, and the state of its workaround."""

from __future__ import annotations

from rocmcfg.advice.doctor.judging.origin import Reason
from rocmcfg.advice.doctor.reading.hits import Hits
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling

TOLD = 0.5  # doctor names an issue with this score or more


class InForce(NamedTuple):
    """A setting of a workaround that was in force when the log was written, and the place where it was
    set."""

    setting: Spelling
    where: str


class AppliedSetting(NamedTuple):
    """A setting of a workaround that is in force now or after the next boot; it is unknown whether it was in
    force when the log was written."""

    setting: Spelling
    state: str


class Stages(NamedTuple):
    """The stages of a failure. `wanted` are all stages in their order, `seen` the stages that a log shows,
    `in_order` the longest series of them that one boot shows one after the other."""

    wanted: tuple[str, ...]
    seen: tuple[str, ...]
    in_order: tuple[str, ...]

    @property
    def share(self) -> float:
        """How much of the failure was seen in the right order, from 0 to 1. A single stage counts as 0."""
        return len(self.in_order) / len(self.wanted) if len(self.in_order) > 1 else 0.0


class Match(NamedTuple):
    """A known issue that a log points to. `hits` are the signatures found, the strongest first. `in_force`
    and `applied` are settings of the workaround that need not be recommended again."""

    issue: KnownIssue
    score: float
    hits: tuple[Hits, ...]
    reasons: tuple[Reason, ...]
    stages: Stages | None
    in_force: tuple[InForce, ...]
    applied: tuple[AppliedSetting, ...] = ()

    @property
    def told(self) -> bool:
        return self.score >= TOLD

    @property
    def there(self) -> bool:
        """Whether the issue is told, or would be if its workaround had not been in force without helping."""
        return self.score >= TOLD * damped(self.issue, len(self.in_force))

    @property
    def remaining(self) -> tuple[Spelling, ...]:
        done = {setting for setting, _ in (*self.in_force, *self.applied)}
        return tuple(setting for setting in self.issue.workaround.settings if setting not in done)


def damped(issue: KnownIssue, tried: int) -> float:
    """Return the factor for a score if `tried` settings of the workaround were in force and did not help."""
    if not tried:
        return 1.0
    return 0.8 if tried == len(issue.workaround.settings) else 0.95
