"""What a reader finds: a name, perhaps with a value, its place, and how it is spelt there."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from rocmcfg.advice.lint.source import Span
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from rocmcfg.advice.lint.remark import Remark


class What(str, Enum):
    """PARAMETER: of a module. ARGUMENT: of the kernel. VARIABLE: of the environment. PATH: a parameter's
    file in sysfs, read; with a value, written."""

    PARAMETER = "parameter"
    ARGUMENT = "argument"
    VARIABLE = "variable"
    PATH = "path"


class Trust(Enum):
    """How sure we are that the author means an assignment. FILE: a file that a program reads. CODE: an
    example in a document. PROSE: words of a document, whose ends only the author knows."""

    FILE = 3
    CODE = 2
    PROSE = 1


class Where(NamedTuple):
    """What all assignments of one piece of text have in common.

    `scope` names what reads several assignments as one, such as a command line: within it the last one of a
    name wins. Empty: order and repetition mean nothing here, as in a script, but for the arguments of one
    list, which begins at `listed`. `once`: an offset that is the same for what one process or one boot gets
    together, where no scope tells that: a proposal writes each name once in it, and takes nothing away
    because another command has it too. `builds`: software is compiled nearby. `removable`: a token may be cut
    out, and the text around it still says what it should; `part`: so may its statement, which is a part of a
    command. `depth` counts the scripts around this one. `turn`:
    within the scope, an assignment with a higher one is read later, wherever it stands; of equal ones the
    later in the text. `carrier`: the variable that holds them. `prints`: what the script prints is read by
    somebody who sets it.
    """

    scope: str = ""
    listed: int = -1
    once: int = -1
    trust: Trust = Trust.FILE
    builds: bool = False
    removable: bool = True
    part: bool = False
    depth: int = 0
    turn: tuple[int, int] = (0, 0)
    carrier: str = ""
    prints: bool = False

    def inside(self, **changes: Any) -> Where:
        return self._replace(depth=self.depth + 1, **changes)


class Assignment(NamedTuple):
    """`name` is `module.parameter` for a parameter. `value` is None for a bare name; with `opaque` only the
    name can be judged, because the value is known at run time or stands for any (`$GFX`, `<mask>`).

    `start` and `stop` are the token in the file, `name_at` and `value_at` the parts of it that a replacement
    exchanges. `dotted` says that the module stands in `name_at` too, as on a kernel command line; in an
    `options` line it does not. `statement` is what goes with the last token in it, together with its line.
    `beside`: the words around the token, where they may tell what its author means.
    """

    what: What
    name: str
    value: str | None
    start: int
    stop: int
    name_at: tuple[int, int]
    value_at: tuple[int, int] | None
    where: Where
    opaque: bool = False
    dotted: bool = True
    statement: tuple[int, int] | None = None
    beside: str = ""


class Reading:
    """What the readers of one text have found. `slips` are errors of syntax, with the token's range.
    `anew` are the carriers to which the text gives a value without what they held before. `passed` are ranges
    that name settings and set none: what a command looks for, prints or unsets."""

    def __init__(self) -> None:
        self.assignments: list[Assignment] = []
        self.slips: list[tuple[int, int, Remark]] = []
        self.anew: set[str] = set()
        self.passed: list[tuple[int, int]] = []

    def add(
        self,
        what: What,
        span: Span,
        *,
        name: str = "",
        dotted: bool = True,
        where: Where,
        statement: tuple[int, int] | None = None,
        written_to: int = 0,
        quotes: str = '"',
        opaque: bool = False,
        read_as: str | None = None,
    ) -> None:
        """Add a token, spelt NAME or NAME=VALUE; `name` where it is known otherwise.

        `written_to` is where the token ends in the file, if that is behind a quote that is not in the span.
        `quotes` are those that may enclose the value; empty where whoever reads the value keeps quotes in it.
        `read_as` is the value where its reader makes another one of what is written.
        """
        written_name, equals, written = span.text.partition("=")
        if not written_name:
            return
        value, value_at, last = None, None, len(span.text)
        if equals:
            value, first = written.lstrip(), len(written_name) + 1
            first += len(written) - len(value)
            written, written_name = value, written_name.rstrip()
            if quotes:
                value = value.replace('"', "")
                if len(written) > 2 and written[0] == written[-1] == '"':
                    first, last = first + 1, last - 1
            opaque = opaque or is_placeholder(value, where.trust)
            if "'" in quotes and len(value) > 1 and value[0] == value[-1] == "'":
                value, first, last = value[1:-1], first + 1, last - 1
            value = value if read_as is None else read_as
            value_at = span.range(first, last) if first < last else (span.at(first - 1) + 1,) * 2
        begin, finish = span.place
        self.assignments.append(
            Assignment(
                what,
                name or written_name.strip('"'),
                value,
                begin,
                max(finish, written_to),
                span.range(0, len(written_name)),
                value_at,
                where,
                opaque,
                dotted,
                statement,
            )
        )

    def told(self, value: str | None) -> None:
        """Set the value that was added last to what the language of the file makes of it; None where that
        cannot be told."""
        if self.assignments:
            last = self.assignments[-1]
            changed = last._replace(opaque=True) if value is None else last._replace(value=value)
            self.assignments[-1] = changed

    def written(self, value: str, value_at: tuple[int, int]) -> None:
        """Set what is written into the parameter's file that was added last."""
        last = self.assignments[-1]
        self.assignments[-1] = last._replace(value=value, value_at=value_at, opaque="$" in value)

    def slip(self, span: Span, remark: Remark) -> None:
        self.slips.append((*span.place, remark))

    def only_if_all(self, before: int, words: int) -> None:
        """A statement of so many `words` holds some that are not ours, if fewer were found since `before`: it
        stays with those."""
        if len(self.assignments) - before < words:
            self.assignments[before:] = [each._replace(statement=None) for each in self.assignments[before:]]


def is_placeholder(value: str, trust: Trust) -> bool:
    """Return whether a value is filled in by somebody else: by a shell, or in a document by its reader."""
    if "$" in value or "`" in value or "%(" in value or "{{" in value:
        return True
    if trust is Trust.FILE:
        return False
    return bool(set(value) & set("<>{}[]…?*")) or "..." in value or value in ("X", "x", "N", "n", "VALUE", "")
