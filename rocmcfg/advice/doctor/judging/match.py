"""A known issue that a log speaks for: how much, by which lines, and what of its workaround is in force."""

from __future__ import annotations

from rocmcfg.advice.doctor.judging.origin import Reason
from rocmcfg.advice.doctor.reading.scan import Hits
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling

TOLD = 0.5  # the score from which on doctor names an issue


class InForce(NamedTuple):
    """A setting of a workaround that was in force when the log was written, and where it was set."""

    setting: Spelling
    where: str


class AppliedSetting(NamedTuple):
    """A setting of a workaround that is in force now or from the next boot on; whether it was when the log
    was written is not known."""

    setting: Spelling
    state: str


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


class Match(NamedTuple):
    """`hits` are the signatures that were found, the strongest first. `in_force` and `applied` are settings
    of the workaround, which need not be recommended again."""

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
        """Told, or not told for the sole reason that its workaround is in force, which did not help."""
        return self.score >= TOLD * damped(self.issue, len(self.in_force))

    @property
    def remaining(self) -> tuple[Spelling, ...]:
        done = {setting for setting, _ in (*self.in_force, *self.applied)}
        return tuple(setting for setting in self.issue.workaround.settings if setting not in done)


def damped(issue: KnownIssue, tried: int) -> float:
    """The factor for a score where `tried` settings of the workaround were in force and did not help."""
    if not tried:
        return 1.0
    return 0.8 if tried == len(issue.workaround.settings) else 0.95
