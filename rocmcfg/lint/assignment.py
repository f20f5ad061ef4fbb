"""What a reader finds: a name, perhaps with a value, its place, and how it is spelt there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocmcfg.lint.remark import Remark
    from rocmcfg.lint.source import Span


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


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name` is `module.parameter` for a parameter. `value` is None for a bare name; with `opaque` only the
    name can be judged, because the value is known at run time or stands for any (`$GFX`, `<mask>`).

    `start` and `stop` are the token in the file, `name_at` and `value_at` the parts of it that a replacement
    exchanges. `dotted` says that the module stands in `name_at` too, as on a kernel command line; in an
    `options` line it does not. `scope` names what reads several assignments as one, such as a command line:
    within it the last one of a name wins. Empty: order and repetition mean nothing here, as in a script.
    `removable`: the token may be cut out, and the text around it still says what it should. `statement` is
    what goes with the last token in it, together with its line.
    `builds`: software is compiled nearby. `turn`: within the scope, what has a higher one is read later,
    wherever it stands; of equal ones the later in the text. `carrier`: the variable that holds it.
    `beside`: the words around it, where they may tell what is meant by it.
    """

    what: What
    name: str
    value: str | None
    start: int
    stop: int
    name_at: tuple[int, int]
    value_at: tuple[int, int] | None = None
    opaque: bool = False
    dotted: bool = True
    scope: str = ""
    trust: Trust = Trust.FILE
    statement: tuple[int, int] | None = None
    removable: bool = False
    builds: bool = False
    turn: tuple[int, int] = (0, 0)
    carrier: str = ""
    beside: str = ""


@dataclass(slots=True)
class Reading:
    """What the readers of one text have found. `slips` are errors of syntax, with the token's range.
    `anew` are the carriers to which the text gives a value without what they held before."""

    assignments: list[Assignment] = field(default_factory=list)
    slips: list[tuple[int, int, Remark]] = field(default_factory=list)
    anew: set[str] = field(default_factory=set)

    def add(
        self,
        what: What,
        span: Span,
        *,
        name: str = "",
        start: int = 0,
        stop: int | None = None,
        opaque: bool = False,
        dotted: bool = True,
        where: Where,
        statement: tuple[int, int] | None = None,
        written_to: int = 0,
        verbatim: bool = False,
    ) -> None:
        """Add the token span.text[start:stop], spelt NAME or NAME=VALUE; `name` where it is known otherwise.

        `written_to` is where the token ends in the file, if that is behind a quote that is not in the span.
        `verbatim`: whoever reads it takes quotes for part of the value.
        """
        end = len(span.text) if stop is None else stop
        if end <= start:
            return
        equals = span.text.find("=", start, end)
        name_stop = end if equals < 0 else equals
        value = None if equals < 0 else span.text[equals + 1 : end]
        if value is not None and not verbatim:
            value = value.replace('"', "")
        if name_stop == start:
            return
        begin, finish = span.range(start, end)
        finish = max(finish, written_to)
        self.assignments.append(
            Assignment(
                what,
                name or span.text[start:name_stop].strip('"'),
                value,
                begin,
                finish,
                span.range(start, name_stop),
                None if equals < 0 else _inner(span, equals + 1, end),
                opaque or (value is not None and is_placeholder(value, where.trust)),
                dotted,
                where.scope,
                where.trust,
                statement,
                where.removable,
                where.builds,
                where.turn,
                where.carrier,
            )
        )


def _inner(span: Span, start: int, stop: int) -> tuple[int, int]:
    """Inside double quotes that enclose all of the value: a replacement keeps them."""
    text = span.text[start:stop]
    if len(text) > 2 and text[0] == text[-1] == '"':
        return span.range(start + 1, stop - 1)
    return span.range(start, stop) if text else (span.at(start - 1) + 1,) * 2


def is_placeholder(value: str, trust: Trust) -> bool:
    """Whether a value is filled in by somebody else: by a shell, or in a document by its reader."""
    if "$" in value or "`" in value or "%(" in value or "{{" in value:
        return True
    if trust is Trust.FILE:
        return False
    return bool(set(value) & set("<>{}[]…?*")) or "..." in value or value in ("X", "x", "N", "n", "VALUE", "")


@dataclass(frozen=True, slots=True)
class Where:
    """What holds for all assignments of one piece of text."""

    scope: str = ""
    trust: Trust = Trust.FILE
    builds: bool = False
    removable: bool = True
    depth: int = 0
    turn: tuple[int, int] = (0, 0)
    carrier: str = ""

    def inside(self, **changes: object) -> Where:
        return replace(self, depth=self.depth + 1, **changes)  # type: ignore[arg-type]
