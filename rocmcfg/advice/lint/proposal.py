"""Combine the proposals of a file, and show them as a diff. Nothing is written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.advice.lint.assignment import Assignment, What
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.remark import GRAVITY, Finding, Remark, Spelt
from rocmcfg.advice.lint.replacement import Edit, applied, lines_of, may_go, spell
from rocmcfg.advice.lint.source import Ranges, Span
from rocmcfg.advice.lint.superseded import counts_once, in_turn, key, rivals
from rocmcfg.advice.lint.wording import Knowledge, spelled, written
from rocmcfg.model.desired import Kind
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling, as_number, hexint, parameter, same
from rocmcfg.model.unified_diff import unified_diff

_LISTED = 3  # lines that are named


class _Feature(NamedTuple):
    """A feature that the finding of this number proposes for a token."""

    number: int
    token: Assignment
    asked: Spelling


def write_once(checked: Checked, knowledge: Knowledge) -> None:
    """Make proposals write each name only once among the settings that one process or one boot gets. A name
    that is set there already is not written again, and features go into one mask."""
    assigned = {(a.start, a.stop): a for a in in_turn(checked.assignments) if a.what is not What.PATH}
    standing = {(checked.together(a), key(spelled(a))): a for a in assigned.values()}
    features: dict[tuple[object, str], list[_Feature]] = {}
    renamed: list[tuple[int, int, int, Assignment, Spelling]] = []
    for number, finding in enumerate(checked.findings):
        assignment, instead = assigned.get((finding.start, finding.stop)), finding.remark.proposal
        target = written(instead, knowledge) if instead is not None and finding.spelt.text else None
        if assignment is None or instead is None or target is None:
            continue
        place = checked.together(assignment), key(target)
        if instead.kind is Kind.FEATURE:
            features.setdefault(place, []).append(_Feature(number, assignment, instead))
        elif place[1] != key(spelled(assignment)):
            renamed.append((assignment.where.turn[0], -assignment.where.turn[1], -number, assignment, target))
    # the last one counts and stays; recovery entries only get the first carrier, and the last one in it stays
    for _, _, number, assignment, target in sorted(renamed):
        other = standing.setdefault((checked.together(assignment), key(target)), assignment)
        later = (
            counts_once(assignment._replace(name=target.name))
            and other.where.turn[0] == assignment.where.turn[0]
        )
        value = assignment.value if target.value is None else target.value
        if (
            other is not assignment
            and may_go(assignment, checked.source)
            and (later or same(other.value, value))
        ):
            why = f"{target.name} is already set {checked.within(other)}."
            checked.findings[-number] = _left_to(checked.findings[-number], why, Spelt(""))
    for place, beside in features.items():
        mask = standing.get(place)
        if mask is not None or beside[1:]:
            _into_one_mask(checked, knowledge, mask, beside)


def _into_one_mask(
    checked: Checked, knowledge: Knowledge, mask: Assignment | None, features: Sequence[_Feature]
) -> None:
    """Put the features into the `mask` next to them, or else into the mask that the first of them becomes."""
    findings, catalogued = checked.findings, knowledge.catalogue.features
    holder, start = mask or features[0].token, written(features[0].asked, knowledge)
    if mask is not None:
        own = (f.remark.proposal for f in findings if (f.start, f.stop) == (mask.start, mask.stop))
        start = next(filter(None, own), spelled(mask))
    value = as_number(start.value) if start is not None else None
    moved = [feature.token for feature in features if feature.token is not holder]
    if (
        value is None
        or checked.ignored(holder.start)
        or not all(may_go(token, checked.source) for token in moved)
    ):
        if mask is None and all(feature.asked == features[0].asked for feature in features):
            return  # a sentence that mentions one feature twice
        for feature in features:
            findings[feature.number] = findings[feature.number]._replace(spelt=Spelt())
        return
    for feature in features:
        value = catalogued[feature.asked.name].compose(value, feature.asked.enabled)
    meant = parameter(catalogued[features[0].asked.name].parameter, hexint(value))
    into = spell(holder, Remark("", "", instead=meant), checked.source, knowledge)
    checked.masks[holder.start, holder.stop] = into
    why = f"One mask combines all of these: {meant}, {checked.within(holder)}."
    for feature in features:
        spelt = into if feature.token is holder else Spelt("", into.setting)
        findings[feature.number] = _left_to(findings[feature.number], why, spelt)
    for number, finding in enumerate(findings):  # replace the proposals for the mask itself
        if finding.spelt.text and (finding.start, finding.stop) == (holder.start, holder.stop) and mask:
            findings[number] = _left_to(finding, why, into)


def _left_to(finding: Finding, why: str, spelt: Spelt) -> Finding:
    reason = f"{finding.remark.why} {why}".strip()
    return finding._replace(remark=finding.remark._replace(why=reason), spelt=spelt)


def keep_together(checked: Checked, programs: Sequence[Span]) -> None:
    """Leave a setting to its author if the same text of a program has it also where it sets nothing, such as
    in a search or a condition: the text would no longer agree with itself."""
    names = {(each.start, each.stop): each.name_at for each in checked.assignments}
    settings = Ranges(names)
    places: dict[tuple[int, str], list[int]] = {}
    for number, finding in enumerate(checked.findings):
        token = finding.start, finding.stop
        if finding.spelt.text is None or token not in names or finding.remark.literal is not None:
            continue
        needle = _shared(checked.source.text, token, names[token], finding.spelt.text)
        for index, program in enumerate(programs):
            if not program.place[0] <= finding.start < program.place[1]:
                continue
            if (index, needle) not in places:
                places[index, needle] = _other_places(program, needle, settings)
            if places[index, needle]:
                lines = dict.fromkeys(checked.source.place(offset)[0] for offset in places[index, needle])
                listed = ", ".join(map(str, [*lines][:_LISTED]))
                why = f"--fix does not edit it: {needle} is also at line {listed}. Change them together."
                checked.findings[number] = _left_to(finding, why, Spelt())


def _shared(text: str, token: tuple[int, int], name_at: tuple[int, int], spelt: str) -> str:
    """Return the part of a token whose other places must change with it: its name if that changes, else the
    whole token."""
    name, whole = text[slice(*name_at)], text[slice(*token)]
    return name if spelt and not spelt.startswith(name) and "_" in name else whole


def _other_places(program: Span, needle: str, settings: Ranges) -> list[int]:
    pattern = re.compile(rf"(?<![\w-]){re.escape(needle)}(?![\w-])")
    offsets = [program.at(match.start()) for match in pattern.finditer(program.text)]
    return [at for at in offsets if not settings.overlap(at, at + 1)]


def chosen(checked: Checked) -> list[Finding]:
    """Return the findings whose proposals are applied. Of several for one token, one is chosen: first the one
    that says the token is overridden, else the gravest. A fix of a whole line comes after the fixes inside
    it. An assignment that overrides a token that stays is not removed."""
    taken: list[Finding] = []
    changes = [f.start for f in checked.findings if f.spelt.text and f.remark.literal is None]
    for finding in sorted(
        checked.findings, key=lambda f: (f.start, not _loses(f), GRAVITY[f.remark.severity], -f.stop)
    ):
        inside = finding.remark.literal and any(finding.start <= start < finding.stop for start in changes)
        if not inside and finding.spelt.text is not None and (not taken or finding.start >= taken[-1].stop):
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


def becoming(checked: Checked) -> dict[tuple[int, int], Spelt]:
    """Return the replacement of each token that does not stay."""
    return {(f.start, f.stop): f.spelt for f in chosen(checked)} | checked.masks


def proposed(checked: Checked) -> str:
    become = becoming(checked)
    edits = [(*token, spelt.text) for token, spelt in become.items() if spelt.text]
    removed = {token for token, spelt in become.items() if not spelt.text}
    return applied(checked.source.text, [*edits, *_removals(checked, removed)])


def _removals(checked: Checked, removed: set[tuple[int, int]]) -> list[Edit]:
    """Return the edits that remove tokens. A token is removed with the blank before it, and a statement of
    which nothing is left with its line."""
    statements = {(a.start, a.stop): a.statement for a in checked.assignments}
    inside: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for token, statement in statements.items():
        if statement is not None:
            inside.setdefault(statement, []).append(token)
    edits = []
    for start, stop in sorted(removed):
        statement = statements.get((start, stop))
        if statement is not None and all(token in removed for token in inside[statement]):
            whole = lines_of(checked.source, statement) or _token(checked.source.text, *statement)
            edits.append((*whole, ""))
        else:
            edits.append((*_token(checked.source.text, start, stop), ""))
    return edits


def _token(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return the range to remove for a token: with one blank next to it, and with the quotes around it if
    they hold nothing else."""
    quote = text[start - 1 : start]
    # the first word of a systemd directive comes after the =; no word may be empty
    word = text[max(0, start - 13) : start - 1].endswith((" ", "\t", "Environment="))
    if quote in ("'", '"') and word and text[stop : stop + 1] == quote:
        start, stop = start - 1, stop + 1
    line = text.rfind("\n", max(0, start - 200), start) + 1
    continued = re.search(r"[ \t]*\\\r?\n[ \t]*\Z", text[max(0, line - 200) : start])
    if continued is not None:
        return start - len(continued.group()), stop
    if text[start - 1 : start] in (" ", "\t"):
        return start - 1, stop
    if text[stop : stop + 1] in (" ", "\t"):
        return start, stop + 1
    return start, stop


def diff(checked: Checked, after: str) -> str:
    """Return a unified diff to the text `after`; empty if nothing changes."""
    before = checked.source.text
    if before == after:
        return ""
    names = checked.file, checked.file
    return unified_diff(_lines(before), _lines(after), names, remark=" (proposed)", context=2)


def _lines(text: str) -> list[str]:
    """Split a text into lines as patch(1) does: a carriage return ends no line."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
