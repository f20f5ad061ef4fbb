"""Dockerfiles, and YAML that sets an environment: compose files, Kubernetes, workflows, Ansible."""

from __future__ import annotations

import re
from dataclasses import replace

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Assignment, Reading, Trust, What, Where
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

    rest = line.cut(found.end(), len(line.text))
    word = found[1].upper()
    if word == "ENV":
        separate = _SEPARATE.match(rest.text)
        if separate and "=" not in separate[1]:
            _pair(rest, separate.span(1), separate.span(2), out, where, line.range(0, len(line.text)))
        else:
            environment.read_words(rest, out, where)
    elif word in ("RUN", "CMD", "ENTRYPOINT"):
        shell.read(rest, out, replace(where, scope=""))


def _pair(
    piece: Span,
    name: tuple[int, int],
    value: tuple[int, int],
    out: Reading,
    where: Where,
    statement: tuple[int, int] | None,
) -> None:
    """A name and its value that no `=` joins."""
    text = piece.text[slice(*name)]
    if not names.concerns(text):
        return
    start, name_stop = piece.range(*name)
    value_at = piece.range(*value)
    said = piece.text[slice(*value)]
    out.assignments.append(
        Assignment(
            What.VARIABLE,
            text,
            said,
            start,
            max(name_stop, value_at[1] + (piece.text[value[1] : value[1] + 1] in ("'", '"'))),
            (start, name_stop),
            value_at if said else None,
            replace(where, removable=statement is not None),
            opaque="$" in said or "{{" in said or not said,
            statement=statement,
        )
    )


def read_yaml(piece: Span, out: Reading, where: Where) -> None:
    """Line by line: a mapping's or a list's item, Kubernetes' name and value, anything else as text."""
    named: tuple[int, int] | None = None
    for start, stop in piece.lines():
        text = piece.text[start:stop]
        if not text or text.lstrip().startswith("#"):
            continue
        statement = piece.range(start, stop)
        free = replace(where, scope="")
        if found := _NAME.match(text):
            named = (start + found.start(1), start + found.end(1))
            continue
        if named and (found := _VALUE.match(text)):
            _pair(piece, named, _scalar(text, found.end(), start), out, free, None)
        elif found := _ITEM.match(text):
            opened = found.end() - (text[found.end() - 1] in "\"'")
            end = _scalar(text, opened, start)[1]
            at = start + found.end()
            if names.concerns(text[found.end() :].partition("=")[0]):
                # of a plain scalar, quotes inside are part of the text
                out.add(
                    What.VARIABLE,
                    piece,
                    start=at,
                    stop=end,
                    where=free,
                    statement=statement,
                    quotes="" if opened == found.end() else '"',
                )
            else:
                lines.read_line(piece.cut(start, stop), out, free)
        elif "{" in text and (pairs := list(_FLOW.finditer(text))):
            for found in pairs:
                key = (start + found.start(1), start + found.end(1))
                _pair(piece, key, _flow_scalar(text, found.end(), start), out, free, None)
        elif (found := _MAP.match(text)) and names.concerns(found[1]):
            key = (start + found.start(1), start + found.end(1))
            _pair(piece, key, _scalar(text, found.end(), start), out, free, statement)
        else:
            lines.read_line(piece.cut(start, stop), out, free)
        named = None


def _flow_scalar(text: str, at: int, offset: int) -> tuple[int, int]:
    """The same between braces, where a comma or a brace ends it too."""
    start, stop = _scalar(text, at, offset)
    if start != offset + at:
        return start, stop
    found = re.compile(r"[^,}\]]*").match(text, at, stop - offset)
    return offset + at, offset + at + len(found.group().rstrip() if found else "")


def _scalar(text: str, at: int, offset: int) -> tuple[int, int]:
    """A YAML scalar on one line: inside its quotes, or up to a comment."""
    quote = text[at : at + 1]
    if quote and quote in "\"'" and (end := text.find(quote, at + 1)) >= 0:
        return offset + at + 1, offset + end
    comment = text.find(" #", at)
    plain = text[at : comment if comment >= 0 else len(text)].rstrip()
    return offset + at, offset + at + len(plain)
