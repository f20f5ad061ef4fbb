"""Edit a text: spell a proposal for its place, decide whether a token can be removed, and apply edits."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocmcfg.advice.lint.assignment import Assignment, What
from rocmcfg.advice.lint.remark import Remark, Spelt
from rocmcfg.advice.lint.source import Source
from rocmcfg.advice.lint.wording import Knowledge, written
from rocmcfg.model.desired import Kind
from rocmcfg.model.spelling import Spelling

Edit = tuple[int, int, str]  # a range of the file, and its new text


def spell(assignment: Assignment, remark: Remark, source: Source, knowledge: Knowledge) -> Spelt:
    """Return the proposal of `remark` as the place of `assignment` spells it."""
    instead, text = remark.proposal, source.text
    if not assignment.where.editable:
        return Spelt()
    if instead is None:
        return Spelt("" if remark.remove and may_go(assignment, source) else None)
    target = written(instead, knowledge)
    name = _name(assignment, target) if target is not None else None
    if target is None or name is None or _begins_escaped(assignment, source):
        return Spelt()
    if assignment.what is What.PATH:  # the value to write is elsewhere in the text
        return Spelt(None if name == text[assignment.start : assignment.stop] else name)
    edits: list[Edit] = [(*assignment.name_at, name)]
    value = target.value
    if value is not None and assignment.value_at is not None:
        edits.append((*assignment.value_at, value))
    elif value is not None:
        edits[0] = (*assignment.name_at, f"{name}={value}")
    spelt = applied(text, edits, assignment.start, assignment.stop)
    if not _pairs_stay(text[assignment.start : assignment.stop], spelt):
        return Spelt()
    return Spelt(spelt, str(instead) if value is not None else "")


def may_go(assignment: Assignment, source: Source) -> bool:
    """Return whether the file stays readable for its reader if the token is removed."""
    text, statement = source.text, assignment.statement
    token = text[assignment.start : assignment.stop]
    whole = all(token.count(opening) == token.count(closing) for opening, closing in ("()", "{}", "[]"))
    if not (assignment.where.removable and whole and _pairs_stay(token, "")) or assignment.what is What.PATH:
        return False
    if _begins_escaped(assignment, source):
        return False
    if statement is not None and not assignment.where.part and lines_of(source, statement) is None:
        return False  # another command on its line continues it
    escaped = re.match(r"\\[ \t]\Z", text[max(0, assignment.start - 2) : assignment.start])
    return not escaped and not re.match(r"[(`]|\\[ \t]", text[assignment.stop : assignment.stop + 2])


def _begins_escaped(assignment: Assignment, source: Source) -> bool:
    """Return whether a backslash before the token escapes its first quote, and would be left alone."""
    before = source.text[: assignment.start]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1 and source.text[assignment.start] in "\"'"


def _pairs_stay(before: str, after: str) -> bool:
    """Return whether no quote loses its counterpart, which may be outside the token."""
    return all((before.count(quote) - after.count(quote)) % 2 == 0 for quote in "\"'")


def _name(assignment: Assignment, target: Spelling) -> str | None:
    """Return the target's name as the place of `assignment` spells it; None if it does not fit there."""
    if (assignment.what is What.VARIABLE) != (target.kind is Kind.ENV):
        return None
    if assignment.what is What.PATH:
        of_a_module = target.kind is Kind.PARAMETER
        return f"/sys/module/{target.module}/parameters/{target.name}" if of_a_module else None
    if target.kind is Kind.ENV or assignment.dotted:
        return target.name if target.kind is not Kind.PARAMETER else target.id
    # in `options amdgpu …` the module comes first: a parameter of another module does not fit there
    same_module = target.kind is Kind.PARAMETER and target.module == assignment.name.partition(".")[0]
    return target.name if same_module else None


def applied(text: str, edits: Iterable[Edit], start: int = 0, stop: int | None = None) -> str:
    """Return text[start:stop] with the edits applied; an edit that overlaps an earlier one is left out."""
    parts, at = [], start
    for begin, end, new in sorted(set(edits), key=lambda edit: (edit[0], -edit[1])):
        first, behind = begin, end
        if not new and begin < at:  # two neighbours are removed; the first took the blank between them
            first, behind = at, end + (text[end : end + 1] in (" ", "\t"))
        if at <= first <= behind:
            parts += [text[at:first], new]
            at = behind
    return "".join(parts) + text[at:stop]


def lines_of(source: Source, statement: tuple[int, int]) -> tuple[int, int] | None:
    """Return the range of the statement's whole lines, if they hold nothing else but blanks and a comment."""
    first, last = source.place(statement[0])[0], source.place(statement[1])[0]
    start, stop = source.line(first)[0], source.line(last)[1]
    text = source.text
    before, after = text[start : statement[0]], text[statement[1] : stop]
    continues = text[:start].endswith(("\\\n", "\\\r\n"))
    if not continues and before.strip() == "" and re.fullmatch(r"[ \t;]*(?:#[^\n]*)?\r?\n?", after):
        return start, stop
    return None
