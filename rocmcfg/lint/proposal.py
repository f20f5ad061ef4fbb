"""The findings as a diff: what their files would look like with every proposal in. Nothing is written."""

from __future__ import annotations

import difflib
import re

from rocmcfg.lint.check import Checked
from rocmcfg.lint.placing import Edit, applied
from rocmcfg.model.diagnostic import Severity

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def proposed(checked: Checked) -> str:
    """The text with the proposals of its findings; of several for one token the gravest one counts."""
    text = checked.source.text
    edits: list[Edit] = []
    statements = {(a.start, a.stop): a.statement for a in checked.assignments}
    removed: set[tuple[int, int]] = set()
    taken_to = -1
    for finding in sorted(checked.findings, key=lambda f: (f.start, _ORDER[f.severity], -f.stop)):
        if finding.replacement is None or finding.start < taken_to or not finding.edits:
            continue
        if finding.replacement == "":
            removed.add((finding.start, finding.stop))
        else:
            edits += finding.edits
        taken_to = finding.stop
    edits += _removals(checked, removed, statements)
    return applied(text, edits)


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


def diff(checked: Checked) -> str:
    """A unified diff, empty where there is nothing to propose."""
    before, after = checked.source.text, proposed(checked)
    if before == after:
        return ""
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), checked.file, f"{checked.file} (proposed)", lineterm="", n=2
    )
    return "".join(f"{line}\n" for line in lines)
