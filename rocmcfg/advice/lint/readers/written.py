"""What commands of a shell write: what `echo` and `printf` print, and what a script of sed puts in."""

from __future__ import annotations

import re

from rocmcfg.advice.lint.assignment import Reading, Where
from rocmcfg.advice.lint.readers import kernel, lines
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.model.regex import regex

_SED_MARKS = regex(r"\\?[\"']|\\\d|&|\bGRUB_\w+=|\^|\$$")
_SED = regex(r"(?:^|(?<=[\s;{}/\d$]))s([/|,#@!:~])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1", re.DOTALL)
_WRITTEN = regex(r"[aic](?:\\\s*|\s+)")  # text that a, i or c put in
_LINE_BREAK = regex(r"\\n")


def printed_text(words: list[Span], *, escapes: bool) -> Span:
    """The arguments with a blank between them; `\\n` breaks the line where the command reads it so."""
    parts: list[Span] = []
    for word in words:
        if re.fullmatch(r"-[neE]+", word.text) and not parts:
            continue
        if parts:
            parts.append(Span(" ", ((0, word.at(0)),)))
        parts.append(word.sub(_LINE_BREAK, lambda _: "\n") if escapes else word)
    return joined(parts)


def read_sed(word: Span, out: Reading, where: Where) -> None:
    """Read what a script of sed puts in: the second part of each `s/…/…/`, and the text behind a, i and c."""
    text, scoped, match = word.text, where.inside(scope="", once=-1), None
    for match in _SED.finditer(text):
        # quotes, `&`, `\\1` and an assignment's own name are no arguments
        kernel.read_arguments(word.cut(*match.span(2)).sub(_SED_MARKS, lambda _: " "), out, scoped)
    if match is None and (written := _WRITTEN.search(text)):
        line = word.cut(written.end())
        if kernel.holds_arguments(line.text):
            kernel.read_arguments(line, out, scoped)
        else:
            lines.read(line, out, scoped)


def write_parameters(targets: list[Span], text: Span, out: Reading, where: Where) -> None:
    """Read a text that is written into the files of parameters in sysfs."""
    value = text.text.strip()
    before = len(out.assignments)
    for target in targets:
        lines.read_paths(target, out, where)
    if not value or " " in value:
        return
    begin = text.text.index(value)
    value_at = text.range(begin, begin + len(value))
    out.assignments[before:] = [
        assignment._replace(value=value, value_at=value_at, opaque="$" in value)
        for assignment in out.assignments[before:]
    ]
