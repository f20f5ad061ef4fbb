"""Settings by their form alone, in a file of any format: a string that holds a kernel command line, a name
of ours beside its value, the options of a module, a command of a shell. For files of a format without a
reader of its own, and for what the reader of a format has left."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Reading, What, Where
from rocmcfg.advice.lint.readers import kernel, lines, pairs, shell
from rocmcfg.advice.lint.readers.inert import without_inert
from rocmcfg.advice.lint.readers.written import read_sed
from rocmcfg.advice.lint.source import Ranges, Span
from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue
from rocmcfg.model.kargs import canonical
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_STRING = regex(r"\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'|`([^`\n]*)`")
_KEY = regex(r"[ \t]*(?:-[ \t]+)?[\w.@/\"'{}$-]+[ \t]*(?::=|=>|[:=+])[ \t]*[+|>]?(?=\S)")
_ITEM = regex(r"[ \t]*(?:-[ \t]+)?")
# Items of one list: strings side by side, lines with a dash and a word.
_STRINGS = regex(r"(?:\"[^\"\n]*\"|'[^'\n]*')(?:[ \t\r\n,]+(?:\"[^\"\n]*\"|'[^'\n]*'))+")
_DASHED = regex(r"(?m:^)[ \t]*-[ \t]+[^\s:]+[ \t\r]*(?:(?:\n[ \t\r]*)+-[ \t]+[^\s:]+[ \t\r]*(?=\n|\Z))*")
_DASHED_ITEM = regex(r"(?m:^)[ \t]*-[ \t]+[\"']?([^\s\"']+)")
_RUN = regex(r"[^\"'`<>|;()\[\],\n]+")
_TUNED = regex(r"(?<![\w-])(?P<module>[a-z][\w-]*)[ \t]*=[ \t]*\+r[ \t,]+(?=[a-z][\w-]*=)")
# A command that a shell is given: what it writes, looks for or takes away is known there.
_COMMAND = regex(
    r"(?:^|(?<=[-:|&;>=({\"'`@$\s]))"
    r"(?:sed|echo|printf|[ef]?grep|rg|grubby|kernelstub|rpm-ostree|awk|unset|modprobe|insmod)[ \t]"
)
# A substitution of sed, in a list of a command's words.
_SUBSTITUTION = regex(
    r"(?<=[\"'\s,])s([/|#@!:~])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gIiep\d]*(?=[\"'\],\s]|\Z)"
)
_DOTTED = regex(r"(?<![\w./-])([a-z]\w+)\.([a-z][\w-]+)(?![\w.(/-])")
_CAPITALS = regex(r"(?<![\w$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-])")


class Mention(NamedTuple):
    """A name of ours at an offset of the text."""

    name: str
    start: int


def read(piece: Span, out: Reading, where: Where) -> None:
    """Read a file of a format without a reader."""
    where = where._replace(scope="", removable=False)
    piece = without_inert(piece)
    pairs.read(piece, out, where)
    for line in piece.lines():
        read_line(line, out, where._replace(once=line.at(0)))
    read_lists(piece, out, where)


def read_rest(piece: Span, out: Reading, where: Where, *, variables: bool) -> None:
    """Read what the reader of a format has left and has not passed over on purpose. Without `variables` that
    reader alone says what sets one."""
    rest, taken = Reading(), _read_already(out)
    read(piece, rest, where)
    out.assignments += [
        each
        for each in rest.assignments
        if (variables or each.what is not What.VARIABLE) and not taken.overlap(each.start, each.stop)
    ]


def mentions(piece: Span, out: Reading) -> list[Mention]:
    """Return the names of ours in a file that no setting was read from, at their first place each."""
    taken, text = _read_already(out), without_inert(piece).text
    first: dict[str, int] = {}
    for match in _DOTTED.finditer(text):
        id = canonical(match.group())
        if id in catalogue.load().parameters and not taken.overlap(*piece.range(*match.span())):
            first.setdefault(id, piece.at(match.start()))
    for match in _CAPITALS.finditer(text):
        name = match.group()
        if names.variable(name) is not None and not taken.overlap(*piece.range(*match.span())):
            first.setdefault(name, piece.at(match.start()))
    read_already = {each.name for each in out.assignments}
    return [Mention(name, start) for name, start in first.items() if name not in read_already]


def read_line(line: Span, out: Reading, where: Where) -> None:
    """Read the settings of a line in which what sets nothing is blanked."""
    if not line.text.strip():
        return
    line, before = _without_commands(line, out, where), len(out.assignments)
    lines.read_line(line, out, where)
    taken = Ranges((each.start, each.stop) for each in out.assignments[before:])
    for cut in _strings(line):
        if kernel.is_command_line(cut.text):
            _add_arguments(cut, out, where, taken)
    for run in _RUN.finditer(line.text):
        if kernel.holds_arguments(run[0]):
            _add_arguments(line.cut(*run.span()), out, where, taken)
    if match := _TUNED.search(line.text):
        pairs.read_options(line.cut(match.end()), canonical(match["module"]), out, where)


def read_lists(piece: Span, out: Reading, where: Where) -> None:
    """Read each item of a list of arguments, of which one tells what they all are."""
    before = _read_already(out)
    for group, item in ((_STRINGS, _STRING), (_DASHED, _DASHED_ITEM)):
        for match in group.finditer(piece.text):
            items = [inner.span(inner.lastindex or 0) for inner in item.finditer(piece.text, *match.span())]
            once = where._replace(once=piece.at(match.start()))
            # Talos takes an argument with a dash away
            cuts = [piece.cut(*span) for span in items if not piece.text.startswith("-", span[0])]
            if kernel.is_command_line(" ".join(cut.text for cut in cuts)):
                for cut in cuts:
                    if not before.overlap(*cut.place):
                        kernel.read_arguments(cut, out, once)


def _without_commands(line: Span, out: Reading, where: Where) -> Span:
    """Read the commands of a shell in a line, and return it with blanks in their place."""
    at = 0
    while match := _COMMAND.search(line.text, at):
        at = lines.quote_end(line.text, match.start())
        shell.read(line.cut(match.start(), at), out, where._replace(scope="", once=-1))
        blank = " " * (at - match.start())
        line = Span(line.text[: match.start()] + blank + line.text[at:], line.runs)
    return _without_substitutions(line, out, where) if "sed" in line.text else line


def _without_substitutions(line: Span, out: Reading, where: Where) -> Span:
    parts, at = [], 0
    for match in _SUBSTITUTION.finditer(line.text):
        read_sed(line.cut(*match.span()), out, where)
        parts += [line.text[at : match.start()], " " * len(match[0])]
        at = match.end()
    return Span("".join([*parts, line.text[at:]]), line.runs)


def _add_arguments(cut: Span, out: Reading, where: Where, taken: Ranges) -> None:
    """Read a command line, but what was read of it already, and note what was read now."""
    inside = Reading()
    kernel.read_arguments(cut, inside, where)
    new = [each for each in inside.assignments if not taken.overlap(each.start, each.stop)]
    for each in new:
        taken.add(each.start, each.stop)
    out.assignments += new


def _strings(piece: Span) -> Iterator[Span]:
    """Yield what stands in quotes, the innermost of them, and what stands behind a key, or alone, without
    any."""
    quoted = [match.span(match.lastindex) for match in _STRING.finditer(piece.text) if match.lastindex]
    for start, stop in quoted:
        cut = piece.cut(start, stop)
        yield from _strings(cut) if any(mark in cut.text for mark in "\"'`") else (cut,)
    if not quoted and not any(mark in piece.text for mark in "\"'`[("):
        for begin in filter(None, (_ITEM.match(piece.text), _KEY.match(piece.text))):
            yield piece.cut(begin.end(), len(piece.text.rstrip().rstrip(",;")))


def _read_already(out: Reading) -> Ranges:
    """Return what was read, or passed over on purpose."""
    spans = [(each.start, each.stop) for each in out.assignments]
    return Ranges([*spans, *((start, stop) for start, stop, _ in out.slips), *out.passed])
