"""Answer monitors and schedulers with the exit code and the line that each of them expects.

| style  | in effect | pending | differs | not in effect | unknown | read by |
| ------ | --------- | ------- | ------- | ------------- | ------- | ------- |
| nagios | 0         | 1       | 1       | 2             | 3       | Nagios, Icinga, Naemon: the plugin API |
| npd    | 0         | 1       | 1       | 1             | 2       | node-problem-detector: a custom plugin |
| slurm  | 0         | 1       | 1       | 1             | 1       | slurmd: Prolog, HealthCheckProgram |
| plain  | 0         | 1       | 1       | 1             | 2       | scripts, ExecCondition= of systemd |

A host "differs" if the settings are in effect, and a fact is not as on the golden host. If jobs cannot run as
there, for example because a GPU is missing, it counts as "not in effect".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, get_args

from rocmcfg.model.checks import PASSES, PENDING, Check, CheckStatus, Overall, VerificationReport
from rocmcfg.model.shape import NamedTuple

Level = Literal["in effect", "pending", "differs", "not in effect", "unknown"]
LEVELS: tuple[Level, ...] = get_args(Level)
OF_SETTINGS: tuple[Level, ...] = ("in effect", "pending", "not in effect", "unknown")
_CODES: Mapping[str, tuple[int, ...]] = {
    "nagios": (0, 1, 1, 2, 3),
    "npd": (0, 1, 1, 1, 2),
    "slurm": (0, 1, 1, 1, 1),
    "plain": (0, 1, 1, 1, 2),
}
STYLES = tuple(_CODES)
_NAGIOS = ("OK", "WARNING", "WARNING", "CRITICAL", "UNKNOWN")
_MOST = 80  # bytes of a line: node-problem-detector cuts the message of a condition there by default


class Answer(NamedTuple):
    """The exit code, and one line of at most 80 bytes of ASCII."""

    code: int
    line: str


def answer(style: str, report: VerificationReport | None, problem: str = "") -> Answer:
    """Return the answer in one of the `STYLES` for a verification, or for the `problem` that prevented it."""
    level = level_of(report)
    text = problem or "the host could not be checked" if report is None else _words(report, level)
    rank = LEVELS.index(level)
    head = f"ROCMCFG {_NAGIOS[rank]}: " if style == "nagios" else "rocmcfg: "
    line = (head + text.replace(" × ", "x ")).encode("ascii", "replace").decode().replace("|", "/")
    line = "".join(each if each.isprintable() else " " for each in line)
    return Answer(_CODES[style][rank], line if len(line) <= _MOST else f"{line[: _MOST - 3]}...")


def level_of(report: VerificationReport | None) -> Level:
    if report is None:
        return "unknown"
    if any(each.severity == "error" for each in report.mattering):
        return "not in effect"
    level = _LEVELS[report._replace(differences=None).status]
    return "differs" if report.mattering and level == "in effect" else level


_LEVELS: Mapping[Overall, Level] = {
    "in_effect": "in effect",
    "nothing_applied": "in effect",
    "pending": "pending",
    "differences": "not in effect",
}


def counts(report: VerificationReport) -> Mapping[Level, int]:
    """Return how many settings are at each level."""
    by_level = Counter(_level(check) for check in report.checks)
    return {level: by_level[level] for level in OF_SETTINGS}


def _level(check: Check) -> Level:
    if check.status in PASSES:
        return "in effect"
    if check.status in PENDING:
        return "pending"
    is_unknown = check.status in (CheckStatus.NOT_READABLE, CheckStatus.CANNOT_BE_TOLD)
    return "unknown" if is_unknown else "not in effect"


def _words(report: VerificationReport, level: Level) -> str:
    if report.mattering and (level == "differs" or report.mattering[0].severity == "error"):
        return _of_differences(report)
    total = len(report.checks)
    if not report.checks and report.differences is not None:
        return f"as the golden host: {report.compared} facts"
    if not report.checks:
        return "no settings are applied"
    if level == "in effect":
        return f"{total} of {total} settings in effect"
    wrong = [check for check in report.checks if check.status not in PASSES]
    if level == "pending":
        return f"{len(wrong)} of {total} settings wait for a reboot or a program"
    first = next((check for check in wrong if check.status not in PENDING), wrong[0])
    value = f"{first.name} is {first.running or 'not set'}, not {first.desired or 'unset'}"
    return f"{len(wrong)} of {total} settings not in effect: {value}"


def _of_differences(report: VerificationReport) -> str:
    first, more = report.mattering[0], len(report.mattering) - 1
    others = f" ({more} more)" if more else ""
    return f"{first.name} is {first.here or 'not set'}, not {first.golden or 'unset'}{others}"
