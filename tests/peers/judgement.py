"""What a comparison came to, and the table of the differences that there are today."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Final, Literal, NamedTuple

from rocmcfg.knowledge import toml

TABLE = Path(__file__).with_name("differences.toml")


class CannotTell(Enum):
    CANNOT_TELL = "cannot be told"


CANNOT_TELL: Final = CannotTell.CANNOT_TELL
# By name: a value, None where nothing sets it, or that rocmcfg says that it cannot tell.
Values = Mapping[str, str | CannotTell | None]


class Refused(NamedTuple):
    """The reader takes nothing of this input; `why` in its words."""

    why: str


Answer = Values | Refused


class Outcome(Enum):
    AGREE = "agree"
    REFUSED = "refused or cannot be told"
    DIFFER = "differ"
    NOT_EXPRESSIBLE = "not expressible"


class Case(NamedTuple):
    """`id` tells cases apart in the table of differences: a name within the peer's tests, or a kind of trick.
    Both answers are None where the case says nothing about what rocmcfg reads."""

    id: str
    input: str
    theirs: Answer | None
    ours: Answer | None

    @property
    def outcome(self) -> Outcome:
        if self.theirs is None or self.ours is None:
            return Outcome.NOT_EXPRESSIBLE
        return compare(self.theirs, self.ours)


class Difference(NamedTuple):
    """A row of the table: patterns of the cases of a program or suite that differ, whose fault that is, and
    why."""

    of: str
    cases: tuple[str, ...]
    whose: Literal["ours", "theirs", "scope"]
    why: str


def compare(theirs: Answer, ours: Answer) -> Outcome:
    """A value that rocmcfg does not claim to know is no wrong value. Where the program refuses its input, it
    sets nothing."""
    if isinstance(ours, Refused):
        return Outcome.AGREE if isinstance(theirs, Refused) else Outcome.REFUSED
    real: Values = {} if isinstance(theirs, Refused) else theirs
    names = {*real, *ours}
    if any(real.get(name) != ours.get(name) and ours.get(name) is not CANNOT_TELL for name in names):
        return Outcome.DIFFER
    return Outcome.REFUSED if CANNOT_TELL in ours.values() else Outcome.AGREE


def table() -> list[Difference]:
    read = toml.loads(TABLE.read_text())
    return [
        Difference(row["of"], tuple(row["cases"]), row["whose"], row["why"]) for row in read["difference"]
    ]


def figures(of: str, cases: Iterable[Case], rows: Iterable[Difference]) -> Counter[str]:
    """How many cases agree, are refused, differ by whose fault, or are not expressible."""
    counted: Counter[str] = Counter()
    for case in cases:
        row = next((row for row in rows if row.of == of and _pattern(case, row)), None)
        differs = case.outcome is Outcome.DIFFER
        counted[row.whose if differs and row else case.outcome.value] += 1
    return counted


def unexpected(of: str, cases: Iterable[Case], rows: Iterable[Difference]) -> str:
    """What is not as the table says: a difference without a row, with its input; a row without a difference.
    Empty where all is as it says."""
    own = {(row.of, pattern) for row in rows if row.of == of for pattern in row.cases}
    seen: set[tuple[str, str]] = set()
    new: dict[str, str] = {}
    for case in cases:
        if case.outcome is not Outcome.DIFFER:
            continue
        patterns = {(of, pattern) for row in rows if row.of == of and (pattern := _pattern(case, row))}
        seen |= patterns
        if not patterns:
            shown = f"  input: {case.input!r}\n  theirs: {case.theirs}\n  ours: {case.ours}"
            new.setdefault(case.id, f"differs, and no row says so: {case.id!r}\n{shown}")
    gone = [f"agrees now, delete it from {TABLE.name}: {pattern!r}" for _, pattern in sorted(own - seen)]
    return "\n".join([*new.values(), *gone])


def _pattern(case: Case, row: Difference) -> str:
    """That of the row which fits the case; `*` stands for anything, and nothing else is special."""
    for pattern in row.cases:
        parts = map(re.escape, pattern.split("*"))
        if re.fullmatch(".*".join(parts), case.id, re.DOTALL):
            return pattern
    return ""
