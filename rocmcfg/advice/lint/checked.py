"""A text that lint is checking: its settings, and the findings so far with their places."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.advice.lint.assignment import Assignment, Reading, Trust
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.remark import Finding, Remark, Spelt
from rocmcfg.advice.lint.replacement import spell
from rocmcfg.advice.lint.source import Source
from rocmcfg.advice.lint.wording import Knowledge

# A line with this is not judged, as in `amdgpu.gfxoff=0  # rocmcfg: ignore`.
IGNORE = "rocmcfg: ignore"
_WORDS = 200  # characters before and after a setting that may be about it
_BY_HAND = "Delete it yourself: --fix cannot do that without damaging the text around it."
MOST = 1000  # findings that are reported for one text


class Checked:
    """A text with its findings, in the order of the text. `left_out` counts findings that are not reported.
    `anew` are variables whose value from an earlier file the text drops. `needed` are the ranges of tokens
    that override a token in another file that stays. `masks` are the replacements of tokens that take up the
    features proposed next to them. `unread` are known names from which no setting was read, with the
    line of the first place of each."""

    def __init__(self, file: str, kind: FileKind, source: Source, reading: Reading) -> None:
        self.file, self.kind, self.source = file, kind, source
        self.assignments: Sequence[Assignment] = reading.assignments
        self.anew = frozenset(reading.anew)
        self.findings: list[Finding] = []
        self.needed: set[tuple[int, int]] = set()
        self.masks: dict[tuple[int, int], Spelt] = {}
        self.left_out = 0
        self.unread: list[tuple[str, int]] = []
        self.ignores = IGNORE in source.text

    def add(self, assignment: Assignment, remark: Remark, knowledge: Knowledge) -> None:
        if len(self.findings) >= MOST:
            self.left_out += 1
            return
        spelt = spell(assignment, remark, self.source, knowledge)
        if (
            remark.remove
            and spelt.text is None
            and (assignment.where.depth or assignment.where.trust is Trust.FILE)
        ):
            remark = remark._replace(why=f"{remark.why} {_BY_HAND}".strip())
        self.add_at(assignment.start, assignment.stop, remark, spelt)

    def add_at(self, start: int, stop: int, remark: Remark, spelt: Spelt) -> None:
        if not self.ignored(start):
            place, text = self.source.place(start), self.source.text[start:stop]
            self.findings.append(Finding(self.file, *place, text, start, stop, remark, spelt))

    def ignored(self, offset: int) -> bool:
        text = self.source.text
        return self.ignores and IGNORE in text[slice(*self.source.line(self.source.place(offset)[0]))]

    def together(self, assignment: Assignment) -> object:
        """Return a key that is equal for assignments among which a proposal writes a name only once."""
        where = assignment.where
        return (where.once, bool(where.carrier)) if where.once >= 0 else where.scope or self.line(assignment)

    def shown(self, assignment: Assignment) -> str:
        """Return a setting as it is written; NAME=VALUE where something else than `=` stands between them."""
        text = self.source.text
        behind = text[assignment.name_at[1] : assignment.name_at[1] + 1]
        if assignment.value_at is None or behind == "=":
            return text[assignment.start : assignment.stop]
        return f"{text[slice(*assignment.name_at)]}={assignment.value}"

    def place(self, assignment: Assignment) -> str:
        return f"in {self.file} {self.within(assignment)}"

    def line(self, assignment: Assignment) -> int:
        return self.source.place(assignment.start)[0]

    def within(self, assignment: Assignment) -> str:
        return "at line {}, column {}".format(*self.source.place(assignment.start))

    def beside(self, assignment: Assignment) -> str:
        """Return the words of an assignment's line, without other settings, those of a comment on the line
        above, and the title of its boot entry."""
        number = self.line(assignment)
        start, stop = self.source.line(number)
        text = self.source.text
        words = text[max(start, assignment.start - _WORDS) : assignment.start] + " "
        words += text[assignment.stop : min(stop, assignment.stop + _WORDS)]
        if number > 1:
            above = text[slice(*self.source.line(number - 1))][:_WORDS].strip()
            words = f"{above} {words}" if above.startswith(("#", "//")) else words
        words = f"{assignment.where.title} {words}"
        return " ".join(word for word in words.split() if "=" not in word)

    def settle(self) -> None:
        self.findings.sort(key=lambda f: (f.start, f.stop, f.remark.id))
