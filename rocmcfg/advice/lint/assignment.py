"""An assignment as a reader finds it: a name, perhaps with a value, its place, and its spelling there."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from rocmcfg.advice.lint.source import Span
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from rocmcfg.advice.lint.remark import Remark


class What(str, Enum):
    """The kind of an assignment: a parameter of a module, an argument of the kernel, a variable of the
    environment, or the sysfs file of a parameter (PATH), which is written if there is a value, else read."""

    PARAMETER = "parameter"
    ARGUMENT = "argument"
    VARIABLE = "variable"
    PATH = "path"


class Trust(Enum):
    """How certain it is that the author means an assignment. FILE: a file that a program reads. CODE: an
    example in a document. PROSE: running text, in which only the author knows where a value ends."""

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
    somebody who sets it. `title`: what the boot entry, or the variable of a menu's generator, is called.
    `for_entries`: boot entries are made of the text.
    """

    scope: str = ""
    listed: int = -1
    once: int = -1
    trust: Trust = Trust.FILE
    builds: bool = False
    removable: bool = True
    editable: bool = True
    part: bool = False
    depth: int = 0
    turn: tuple[int, int] = (0, 0)
    carrier: str = ""
    prints: bool = False
    title: str = ""
    for_entries: bool = False

    def inside(self, **changes: Any) -> Where:
        return self._replace(depth=self.depth + 1, **changes)


class Unread(NamedTuple):
    """Why a program does not read a setting where it stands: `because` of what is at the offset `at`, and the
    rule."""

    at: int
    because: str
    rule: str


class Assignment(NamedTuple):
    """An assignment. `name` is `module.parameter` for a parameter. `value` is None for a bare name. `opaque`:
    only the name can be judged, because the value is only known at run time or is a placeholder (`$GFX`,
    `<mask>`).

    `start` and `stop` are the range of the token in the file, `name_at` and `value_at` the ranges in it that
    a replacement changes. `dotted`: `name_at` includes the module, as on a kernel command line but not in an
    `options` line. `statement` is the range that is removed, with its line, together with its last token.
    `beside`: the words around the token, if they may show what its author means. `dropped`: the offset at
    which the text drops the setting, by unsetting, emptying or replacing what holds it; -1 if nowhere."""

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
    dropped: int = -1
    unread: Unread | None = None


class Reading:
    """Everything that the readers of one text have found. `slips` are errors of syntax, with the range of the
    token. `anew` are the carriers to which the text assigns a value that drops their earlier one. `passed`
    are ranges with names of settings that set nothing: a command searches for them, prints or unsets them."""

    def __init__(self) -> None:
        self.assignments: list[Assignment] = []
        self.slips: list[tuple[int, int, Remark]] = []
        self.anew: set[str] = set()
        self.passed: list[tuple[int, int]] = []
        self._standing: dict[str, list[int]] = {}  # variables by name that nothing has dropped yet
        self._indexed = 0  # the assignments among which those were looked for

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
        """Add a token, spelt NAME or NAME=VALUE. `name` is its name if it differs from the one written there.

        `written_to` is the end of the token in the file, if it comes after a quote that is not in the span.
        `quotes` are the quotes that may enclose the value; empty if the reader of the file keeps quotes.
        `read_as` is the value as the reader of the file understands it, if it differs from the written one.
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
        """Set the value that was added last to the value that the language of the file gives it; None if that
        is unknown."""
        if self.assignments:
            last = self.assignments[-1]
            opaque = value is None or is_placeholder(value, last.where.trust)
            self.assignments[-1] = last._replace(value=last.value if value is None else value, opaque=opaque)

    def written(self, value: str, value_at: tuple[int, int]) -> None:
        """Set what is written into the parameter's file that was added last."""
        last = self.assignments[-1]
        self.assignments[-1] = last._replace(value=value, value_at=value_at, opaque="$" in value)

    def drop(self, numbers: Iterable[int], at: int) -> None:
        """Note that the text drops some assignments at an offset."""
        for number in numbers:
            self.assignments[number] = self.assignments[number]._replace(dropped=at)

    def drop_variables(self, at: int, *names: str, since: int = 0) -> None:
        """Note that the text unsets these variables at an offset, or all of them if none is named."""
        for number, each in enumerate(self.assignments[self._indexed :], self._indexed):
            if each.what is What.VARIABLE:
                self._standing.setdefault(each.name, []).append(number)
        self._indexed = len(self.assignments)
        for name in names or tuple(self._standing):
            standing = self._standing.pop(name, ())
            self.drop((n for n in standing if n >= since and self.assignments[n].where.scope), at)

    def slip(self, span: Span, remark: Remark) -> None:
        self.slips.append((*span.place, remark))

    def only_if_all(self, before: int, words: int) -> None:
        """Keep the statement of the assignments since `before` if some of its `words` are not assignments
        that lint judges."""
        if len(self.assignments) - before < words:
            self.assignments[before:] = [each._replace(statement=None) for each in self.assignments[before:]]


def is_placeholder(value: str, trust: Trust) -> bool:
    """Return whether a value is a placeholder, which a shell, or the reader of a document, replaces."""
    if "$" in value or "`" in value or "%(" in value or "{{" in value:
        return True
    if trust is Trust.FILE:
        return False
    return bool(set(value) & set("<>{}[]…?*")) or "..." in value or value in ("X", "x", "N", "n", "VALUE", "")
