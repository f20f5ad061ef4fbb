"""Check one text: determine its kind, read it, judge its settings, and list the findings with their places.
Then decide the fate of each setting, whether it is kept, changed or removed, and why."""

from __future__ import annotations

import re
from enum import Enum

from rocmcfg.advice.lint import kinds, readers, superseded
from rocmcfg.advice.lint.assignment import Assignment, Reading, What
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.proposal import becoming, keep_together, proposed, write_once
from rocmcfg.advice.lint.readers.anywhere import Mention
from rocmcfg.advice.lint.remark import GRAVITY, Finding, Remark, Spelt
from rocmcfg.advice.lint.source import Source, whole
from rocmcfg.advice.lint.wording import Knowledge, remarks
from rocmcfg.judging import names
from rocmcfg.judging.words import Advice
from rocmcfg.languages import BYTE_ORDER_MARK
from rocmcfg.model.diagnostic import Severity
from rocmcfg.model.exhaustive import assert_never
from rocmcfg.model.shape import NamedTuple, published

_LARGE = 1 << 20  # characters; a larger text is first searched for any word that lint knows
_WEIGHT = {advice: number for number, advice in enumerate(Advice)}  # the firmest advice first
_ROUNDS = 5  # a name is fixed, then its value, then it is overridden by another one, or is the default


Judged = dict[object, tuple[Remark, ...]]  # the remarks on an assignment, by everything that they depend on


def check(
    file: str,
    text: str,
    knowledge: Knowledge,
    *,
    kind: FileKind | None = None,
    judged: Judged | None = None,
) -> Checked:
    """Check a text on its own. `file` is its path, which may show its kind. `judged` holds the remarks made
    so far with the same knowledge, so that an assignment in all boot entries is judged only once."""
    # editors do not count the mark as a column
    marked, text = text.startswith(BYTE_ORDER_MARK), text.removeprefix(BYTE_ORDER_MARK)
    reading = Reading()
    read_as = kind or kinds.of(file, text)
    unread: list[Mention] = []
    if len(text) < _LARGE or names.mentions_anything(text):
        readers.read(read_as, whole(text), reading, file, marked=marked)
        unread = readers.mentions(read_as, whole(text), reading)
        reading.assignments = [each for each in reading.assignments if not _is_the_texts_own(each, text)]
    checked = Checked(file, read_as, Source(text), reading)
    checked.unread = [(name, checked.source.place(start)[0]) for name, start in unread]
    for start, stop, slip in reading.slips:
        checked.add_at(start, stop, slip, Spelt(slip.literal))
    # words from an unknown place may be meant for a shell, too
    anywhere = read_as is FileKind.CMDLINE and kinds.by_path(file) in (None, FileKind.MARKDOWN)
    anywhere = anywhere and not kinds.BOOT_WORDS.search(text)
    remarks_by_key: Judged = {} if judged is None else judged
    for each in reading.assignments:
        where = each.where._replace(listed=-1) if anywhere else each.where
        if file == kinds.PASTED:  # which reports nothing
            where = where._replace(editable=True)
        intended = each.what is not What.PATH and names.may_be_intended(each.name)
        assignment = each._replace(where=where, beside=checked.beside(each) if intended else "")
        # equal assignments are judged once: a text of megabytes repeats itself
        key = (
            *assignment[:3],
            assignment.opaque,
            assignment.dotted,
            where.trust,
            where.builds,
            where.listed < 0,
            assignment.beside,
        )
        if key not in remarks_by_key:
            remarks_by_key[key] = tuple(remarks(assignment, knowledge))
        for remark in remarks_by_key[key]:
            checked.add(assignment, remark, knowledge)
    write_once(checked, knowledge)
    for loser, remark in superseded.repeated(reading.assignments, checked.within):
        checked.add(loser, remark, knowledge)
    if len(text) < _LARGE:
        keep_together(checked, readers.programs(read_as, whole(text)))
    checked.settle()
    return checked


def _is_the_texts_own(each: Assignment, text: str) -> bool:
    """Return whether an assignment is of a variable that is not ROCm's, although it begins like one: the text
    reads it itself, or compiles software nearby."""
    if each.what is not What.VARIABLE or names.variable(each.name) or names.near_variable(each.name):
        return False
    read = rf"\$[({{]?{each.name}\b|\$env:{each.name}\b|(?:environ|getenv|env)\W{{1,6}}{each.name}\b"
    return each.where.builds or re.search(read, text) is not None


def mended(checked: Checked, knowledge: Knowledge) -> str:
    """Return the text with all proposals applied, including those for the text that earlier proposals
    made."""
    text = proposed(checked)
    for _ in range(0 if text == checked.source.text else _ROUNDS):
        before, text = text, proposed(check(checked.file, text, knowledge, kind=checked.kind))
        if text == before:
            break
    return text


class Fate(str, Enum):
    TAKE_OUT = "take out"
    CHANGE = "change"
    NOT_NEEDED = "not needed"  # it changes nothing here
    KEEP = "keep"


@published(
    "file",
    "line",
    "column",
    "text",
    "verdict=fate",
    "by_hand",
    "replacement",
    "setting",
    "summary",
    "severity",
)
class Verdict(NamedTuple):
    """The verdict on a setting. `fate` is what to do with it, wherever it is written; `by_hand` is True if
    only its author can edit the text around it. `replacement` is the text to write in its place, and
    `setting` the same in the spelling of --set; both are empty unless a change is proposed. `summary` is the
    gravest remark on it; without a remark it is empty, and `severity` is null."""

    file: str
    line: int
    column: int
    text: str
    fate: Fate
    by_hand: bool
    replacement: str
    setting: str
    summary: str
    severity: Severity | None


def verdicts(checked: Checked) -> list[Verdict]:
    """Return the verdicts on all settings of a text, the worst first."""
    become = becoming(checked)
    findings_at: dict[tuple[int, int], list[Finding]] = {}
    for finding in sorted(
        checked.findings, key=lambda f: (GRAVITY[f.remark.severity], _WEIGHT[f.remark.advice])
    ):
        findings_at.setdefault((finding.start, finding.stop), []).append(finding)
    judgements = []
    for each in checked.assignments:
        token = each.start, each.stop
        own, spelt = findings_at.get(token, []), become.get(token, Spelt())
        worst = own[0].remark if own else None
        summary, severity = (worst.summary, worst.severity) if worst is not None else ("", None)
        fate = min((_fate(finding.remark) for finding in own), default=Fate.KEEP, key=_rank)
        by_hand = spelt.text is None and fate is not Fate.KEEP
        if spelt.text:
            fate = Fate.CHANGE
        elif spelt.text is not None and fate is not Fate.NOT_NEEDED:
            fate = Fate.TAKE_OUT
        elif by_hand and not any(finding.spelt.text is None for finding in own):
            fate, by_hand = Fate.KEEP, False  # what could have been edited stays: something else needs it
        text, replacement = checked.shown(each), spelt.text or ""
        setting = spelt.setting if replacement else ""
        if fate is Fate.TAKE_OUT and spelt.setting:
            summary += f"; {spelt.setting} covers it"
        place = checked.source.place(each.start)
        judgements.append(
            Verdict(checked.file, *place, text, fate, by_hand, replacement, setting, summary, severity)
        )
    return sorted(
        judgements, key=lambda v: (_rank(v.fate), GRAVITY[v.severity or Severity.INFO], v.line, v.column)
    )


def _fate(remark: Remark) -> Fate:
    """Return the fate that a remark advises, whether or not the text can be edited."""
    match remark.advice:
        case Advice.TAKE_OUT:
            return Fate.TAKE_OUT
        case Advice.CHANGE:
            return Fate.CHANGE
        case Advice.UNNEEDED:
            return Fate.NOT_NEEDED
        case Advice.NOTE:
            return Fate.KEEP if remark.severity is Severity.INFO else Fate.TAKE_OUT
        case _:
            assert_never(remark.advice)


def _rank(fate: Fate) -> int:
    return list(Fate).index(fate)
