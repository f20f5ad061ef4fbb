"""Dockerfiles, and YAML that sets an environment: compose files, Kubernetes, workflows, Ansible."""

from __future__ import annotations

import re
from dataclasses import replace

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Reading, Trust, What, Where
from rocmcfg.lint.readers import environment, lines
from rocmcfg.lint.source import Span

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+")
# Between two ENV they run nothing that would have had the first value.
_ONLY_DESCRIBE = frozenset({"ENV", "ARG", "LABEL", "EXPOSE", "WORKDIR", "COPY", "ADD", "USER", "VOLUME"})
_SEPARATE = re.compile(r"([A-Za-z_]\w*)[ \t]+(?!=)(.*\S)")
_MAP = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?([A-Z][A-Z0-9_]{3,})[\"']?[ \t]*:[ \t]+")
_ITEM = re.compile(r"[ \t]*-[ \t]+[\"']?(?=[A-Z][A-Z0-9_]{3,}=)")
_FLOW = re.compile(r"[{,][ \t]*[\"']?([A-Z][A-Z0-9_]{3,})[\"']?[ \t]*:[ \t]*(?=[^\s,}])")
_NAME = re.compile(r"[ \t]*(?:-[ \t]*)?name:[ \t]*[\"']?([A-Z][A-Z0-9_]{3,})[\"']?[ \t]*$")
_VALUE = re.compile(r"[ \t]*value:[ \t]*")


def read_dockerfile(piece: Span, out: Reading, where: Where) -> None:
    run = 0
    for line in piece.logical_lines(("#",), blanks_behind=True):
        if found := _INSTRUCTION.match(line.text):
            run += found[1].upper() not in _ONLY_DESCRIBE
            straight = where.scope or where.trust is not Trust.FILE
            scope = where.scope if straight else f"straight on {piece.at(0)} {run}"
            _instruction(line, found, out, replace(where, scope=scope))


def _instruction(line: Span, found: re.Match[str], out: Reading, where: Where) -> None:
    from rocmcfg.lint.readers import shell

    rest = line.cut(found.end())
    word = found[1].upper()
    if word == "ENV":
        separate = _SEPARATE.match(rest.text)
        if separate and "=" not in separate[1]:
            _pair(rest, rest.cut(*separate.span(1)), separate.span(2), out, where, line.place)
        else:
            environment.read_words(rest, out, where)
    elif word in ("RUN", "CMD", "ENTRYPOINT"):
        shell.read(rest, out, replace(where, scope=""))


def _pair(
    line: Span,
    name: Span,
    value: tuple[int, int],
    out: Reading,
    where: Where,
    statement: tuple[int, int] | None = None,
) -> None:
    """A name, and a range of the line that is its value; the token ends with the quote behind it."""
    if names.concerns(name.text):
        closed = line.text[value[1] : value[1] + 1] in ("'", '"')
        written_to = line.range(*value)[1] + closed
        where = replace(where, removable=statement is not None)
        out.add_pair(name, line.cut(*value), where=where, statement=statement, written_to=written_to)


def read_yaml(piece: Span, out: Reading, where: Where) -> None:
    """Line by line: a mapping's or a list's item, Kubernetes' name and value, anything else as text."""
    named: Span | None = None
    free = replace(where, scope="")
    for line in piece.lines():
        text = line.text
        if not text or text.lstrip().startswith("#"):
            continue
        if found := _NAME.match(text):
            named = line.cut(*found.span(1))
            continue
        if named and (found := _VALUE.match(text)):
            _pair(line, named, _scalar(text, found.end()), out, free)
        elif (found := _ITEM.match(text)) and names.concerns(text[found.end() :].partition("=")[0]):
            opened = found.end() - (text[found.end() - 1] in "\"'")
            stop = _scalar(text, opened)[1]
            # of a plain scalar, quotes inside are part of the text
            quotes = "" if opened == found.end() else '"'
            start, place = found.end(), line.place
            out.add(What.VARIABLE, line, start=start, stop=stop, where=free, statement=place, quotes=quotes)
        elif "{" in text and (pairs := list(_FLOW.finditer(text))) and not _ITEM.match(text):
            for found in pairs:
                _pair(line, line.cut(*found.span(1)), _flow_scalar(text, found.end()), out, free)
        elif (found := _MAP.match(text)) and names.concerns(found[1]):
            _pair(line, line.cut(*found.span(1)), _scalar(text, found.end()), out, free, line.place)
        else:
            lines.read_line(line, out, free)
        named = None


def _flow_scalar(text: str, at: int) -> tuple[int, int]:
    """The same between braces, where a comma or a brace ends it too."""
    start, stop = _scalar(text, at)
    if start != at:
        return start, stop
    found = re.compile(r"[^,}\]]*").match(text, at, stop)
    return at, at + len(found.group().rstrip() if found else "")


def _scalar(text: str, at: int) -> tuple[int, int]:
    """A YAML scalar on one line: inside its quotes, or up to a comment."""
    quote = text[at : at + 1]
    if quote and quote in "\"'" and (end := text.find(quote, at + 1)) >= 0:
        return at + 1, end
    comment = text.find(" #", at)
    plain = text[at : comment if comment >= 0 else len(text)].rstrip()
    return at, at + len(plain)
