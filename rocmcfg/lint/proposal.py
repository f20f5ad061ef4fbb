"""A proposal, as its place wants it: on a command line, in an `options` line, in a script, in a path; and the
findings of a file as a diff. Nothing is written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rocmcfg.judging.parameters import default_mask
from rocmcfg.lint.assignment import Assignment, What
from rocmcfg.lint.remark import GRAVITY, Edit, Finding, Remark, Spelt
from rocmcfg.lint.superseded import rivals
from rocmcfg.lint.wording import Knowledge
from rocmcfg.model.spelling import Spelling, hexint, parameter
from rocmcfg.model.state import Kind

if TYPE_CHECKING:
    from rocmcfg.lint.check import Checked


def spell(found: Assignment, remark: Remark, text: str, knowledge: Knowledge) -> Spelt:
    """How the place of `found` spells what `remark` proposes. `text` is the whole file."""
    if remark.literal is not None:
        return Spelt(remark.literal, ((found.start, found.stop, remark.literal),))
    if remark.instead is None:
        removable = remark.remove and found.where.removable and found.what is not What.PATH
        return Spelt("", ((found.start, found.stop, ""),)) if removable else Spelt()
    target = _target(remark.instead, knowledge)
    name = _name(found, target) if target is not None else None
    if target is None or name is None:
        return Spelt()
    edits: list[Edit] = [(*found.name_at, name)]
    value = target.value
    if found.what is What.PATH:  # what is written there stands elsewhere
        return Spelt() if name == text[found.start : found.stop] else Spelt(name, tuple(edits), "")
    if value is not None and found.value_at is not None:
        edits.append((*found.value_at, value))
    elif value is not None:
        edits[0] = (*found.name_at, f"{name}={value}")
    setting = str(remark.instead) if value is not None else ""
    return Spelt(applied(text, edits, found.start, found.stop), tuple(edits), setting)


def _target(instead: Spelling, knowledge: Knowledge) -> Spelling | None:
    """What to write; a feature becomes the mask that differs from the default in it alone."""
    if instead.kind is not Kind.FEATURE:
        return instead
    known = knowledge.catalogue
    feature = known.features[instead.name]
    default = default_mask(known.parameters[feature.parameter], knowledge.machine.kernels)
    if default is None:
        return None
    return parameter(feature.parameter, hexint(feature.compose(default, instead.enabled)))


def _name(found: Assignment, target: Spelling) -> str | None:
    """The target's name as the place of `found` spells it; None where it cannot stand there."""
    if (found.what is What.VARIABLE) != (target.kind is Kind.ENV):
        return None
    if found.what is What.PATH:
        of_a_module = target.kind is Kind.PARAMETER
        return f"/sys/module/{target.module}/parameters/{target.name}" if of_a_module else None
    if target.kind is Kind.ENV or found.dotted:
        return target.name if target.kind is not Kind.PARAMETER else target.id
    # in `options amdgpu …` the module stands before: another one's parameter has no place there
    same_module = target.kind is Kind.PARAMETER and target.module == found.name.partition(".")[0]
    return target.name if same_module else None


def applied(text: str, edits: Iterable[Edit], start: int = 0, stop: int | None = None) -> str:
    """text[start:stop] with the edits in it; what overlaps an earlier edit is left out."""
    parts, at = [], start
    for begin, end, new in sorted(set(edits)):
        first, behind = begin, end
        if not new and begin < at:  # two neighbours go, and the blank between them went with the first
            first, behind = at, end + (text[end : end + 1] in (" ", "\t"))
        if at <= first <= behind:
            parts += [text[at:first], new]
            at = behind
    return "".join(parts) + text[at:stop]


def chosen(checked: Checked) -> list[Finding]:
    """The findings whose proposals are made. Of several for one token, one counts: that another assignment
    makes the token needless, else the gravest. What overrides a token that stays is not taken out."""
    taken: list[Finding] = []
    for finding in sorted(
        checked.findings, key=lambda f: (f.start, not _loses(f), GRAVITY[f.remark.severity], -f.stop)
    ):
        if finding.spelt.text is not None and (not taken or finding.start >= taken[-1].stop):
            taken.append(finding)
    removed = {(f.start, f.stop) for f in taken if f.spelt.text == ""}
    needed = checked.needed | {
        (group[-1].start, group[-1].stop)
        for group in rivals(checked.assignments)
        if any((each.start, each.stop) not in removed for each in group[:-1])
    }
    return [f for f in taken if f.spelt.text or _loses(f) or (f.start, f.stop) not in needed]


def _loses(finding: Finding) -> bool:
    return finding.spelt.text == "" and finding.remark.kind in ("conflict", "duplicate")


def proposed(checked: Checked) -> str:
    """The text with the proposals of its findings."""
    statements = {(a.start, a.stop): a.statement for a in checked.assignments}
    findings = chosen(checked)
    # what becomes of another token there comes before what its own finding makes of it
    moved = {edit[:2]: edit for f in findings for edit in f.spelt.edits if not f.start <= edit[0] < f.stop}
    edits = [edit for f in findings if f.spelt.text for edit in f.spelt.edits if edit[:2] not in moved]
    edits += moved.values()
    removed = {(f.start, f.stop) for f in findings if not f.spelt.text}
    return applied(checked.source.text, [*edits, *_removals(checked, removed, statements)])


def _removals(
    checked: Checked,
    removed: set[tuple[int, int]],
    statements: dict[tuple[int, int], tuple[int, int] | None],
) -> list[Edit]:
    """A token goes with the blank before it; a statement of which nothing is left goes with its line."""
    inside: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for token, statement in statements.items():
        if statement is not None:
            inside.setdefault(statement, []).append(token)
    edits = []
    for start, stop in sorted(removed):
        statement = statements.get((start, stop))
        if statement is not None and all(token in removed for token in inside[statement]):
            edits.append((*_line(checked, statement), ""))
        else:
            edits.append((*_token(checked.source.text, start, stop), ""))
    return edits


def _token(text: str, start: int, stop: int) -> tuple[int, int]:
    """With one blank of its surroundings, and with the quotes of a word that it is all of."""
    before = text[max(0, start - 2) : start]
    if before in (" '", ' "', "\t'", '\t"') and text[stop : stop + 1] == before[1]:
        return start - 2, stop + 1
    if text[start - 1 : start] in (" ", "\t"):
        return start - 1, stop
    if text[stop : stop + 1] in (" ", "\t"):
        return start, stop + 1
    return start, stop


def _line(checked: Checked, statement: tuple[int, int]) -> tuple[int, int]:
    """The whole lines, where they hold nothing else but blanks and a comment."""
    first, last = checked.source.place(statement[0])[0], checked.source.place(statement[1])[0]
    start, stop = checked.source.line(first)[0], checked.source.line(last)[1]
    text = checked.source.text
    before, after = text[start : statement[0]], text[statement[1] : stop]
    if before.strip() == "" and re.fullmatch(r"[ \t;]*(?:#[^\n]*)?\r?\n?", after):
        return start, stop
    return statement


def diff(checked: Checked, after: str) -> str:
    """A unified diff from the text as it stands, empty where nothing changes."""
    before = checked.source.text
    if before == after:
        return ""
    name = checked.file
    found = difflib.unified_diff(_lines(before), _lines(after), name, f"{name} (proposed)", n=2)
    return "".join(one if one.endswith("\n") else f"{one}\n\\ No newline at end of file\n" for one in found)


def _lines(text: str) -> list[str]:
    """As patch(1) counts them: a carriage return ends none."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
