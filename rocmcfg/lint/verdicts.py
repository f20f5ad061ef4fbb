"""What becomes of each setting of a text: kept, changed or taken out, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rocmcfg.lint.assignment import Assignment
from rocmcfg.lint.check import Checked, check
from rocmcfg.lint.proposal import chosen
from rocmcfg.lint.remark import GRAVITY, Spelt
from rocmcfg.lint.wording import Knowledge, spelled
from rocmcfg.model.diagnostic import Severity
from rocmcfg.model.kargs import canonical
from rocmcfg.model.published import published


class Fate(str, Enum):
    TAKE_OUT = "take out"
    CHANGE = "change"
    BY_HAND = "by hand"  # wrong, and in a text in which nothing may be replaced
    KEEP = "keep"


@published("file", "line", "column", "text", "verdict=fate", "replacement", "setting", "summary", "severity")
@dataclass(frozen=True, slots=True)
class Verdict:
    """`replacement` is what stands there in the end, and `setting` the same for --set; both are empty but for
    a change. `summary` is the gravest of what is said of it, empty with no `severity` where nothing is."""

    file: str
    line: int
    column: int
    text: str
    fate: Fate
    replacement: str
    setting: str
    summary: str
    severity: Severity | None


def verdicts(checked: Checked, after: str, knowledge: Knowledge) -> list[Verdict]:
    """Worst first. `after` is the text with all that is proposed."""
    again = check(checked.file, after, knowledge, kind=checked.kind)
    left = {
        _name(each.name): (after[each.start : each.stop], str(spelled(each))) for each in again.assignments
    }
    spelt = {(f.start, f.stop): f.spelt for f in chosen(checked)}
    as_is = Spelt()
    found = [
        _verdict(checked, each, left, spelt.get((each.start, each.stop), as_is))
        for each in checked.assignments
    ]
    fates = list(Fate)
    return sorted(
        found, key=lambda v: (fates.index(v.fate), GRAVITY[v.severity or Severity.INFO], v.line, v.column)
    )


def _verdict(checked: Checked, each: Assignment, left: dict[str, tuple[str, str]], spelt: Spelt) -> Verdict:
    text = checked.source.text[each.start : each.stop]
    said = [f.remark for f in checked.findings if (f.start, f.stop) == (each.start, each.stop)]
    worst = min(said, key=lambda remark: GRAVITY[remark.severity], default=None)
    name = each.name if spelt.text is None else spelt.text.partition("=")[0]
    stays, setting = left.get(_name(name), ("", "")) if name else ("", "")
    if stays == spelt.text and spelt.setting:  # a feature says more than the mask that it becomes here
        setting = spelt.setting
    fate = Fate.KEEP if stays == text else Fate.CHANGE if stays else Fate.TAKE_OUT
    if fate is Fate.KEEP and worst is not None and worst.severity is not Severity.INFO:
        fate = Fate.BY_HAND
    return Verdict(
        checked.file,
        *checked.source.place(each.start),
        text,
        fate,
        *((stays, setting) if fate is Fate.CHANGE else ("", "")),
        worst.summary if worst else "",
        worst.severity if worst else None,
    )


def _name(name: str) -> str:
    return canonical(name.strip("\"' "))
