"""YAML: compose files, Kubernetes, workflows, Ansible, Salt, cloud-init. Whether or not it can be parsed."""

from __future__ import annotations

import re

from rocmcfg.advice.lint.assignment import Reading, Where
from rocmcfg.advice.lint.readers import anywhere, pairs
from rocmcfg.advice.lint.readers.inert import without_inert
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.model.regex import regex

_NAME = r"[\"']?([A-Z][A-Z0-9_]{3,})[\"']?[ \t]*"
_QUOTED = r":[ \t]+(?:[!&][^\s,\"']*[ \t]+){0,2}(?:\"([^\"\n]*)\"|'([^'\n]*)'|"
_PLAIN = r"([^\"'#\s](?:[^#\n]*[^#\s])?))"
_PLAIN_IN_BRACES = r"([^\"'#\s,{}](?:[^,{}\n]*[^\s,{}])?))(?=[ \t]*[,}])"
_MAP = regex(rf"[ \t]*(?:-[ \t]+)?{_NAME}{_QUOTED}{_PLAIN}")
_BRACES = regex(rf"[{{,][ \t]*{_NAME}{_QUOTED}{_PLAIN_IN_BRACES}")
_ELSEWHERE = regex(r"\*\S+|[|>][-+\d]*")
_ARGS = regex(r"([ \t]*)(?:build[-_])?args:")  # of a build
# Kubernetes: a name, and below it its value.
_NAMED = regex(rf"^[ \t]*(?:-[ \t]+)?name:[ \t]+{_NAME}\r?\n[ \t]*value{_QUOTED}{_PLAIN}", re.MULTILINE)


def read(piece: Span, out: Reading, where: Where) -> None:
    """Line by line: a mapping's item, anything else as text. What the rest is without one is not known."""
    where = where._replace(removable=False)
    piece = without_inert(piece)
    for named in _NAMED.finditer(piece.text):
        _pair(piece, named, out, where._replace(once=piece.at(named.start())))
    pairs.read_arguments(piece, out, where)
    builds, outer = where.builds, -1  # where the list of a build's arguments is indented
    for line in piece.lines():
        content = line.text.lstrip(" \t-")
        if not content:
            continue
        if args := _ARGS.match(line.text):
            outer = args.end(1)
        elif line.text.index(content) <= outer:
            outer = -1
        # another line may stand in another service
        where = where._replace(once=line.at(0), builds=builds or outer >= 0 or "args:" in content)
        if (match := _MAP.match(line.text)) and names.concerns(match[1]):
            _pair(line, match, out, where)
        else:
            for inside in _BRACES.finditer(line.text):
                _pair(line, inside, out, where)
            anywhere.read_line(line, out, where)
    anywhere.read_lists(piece, out, where)


def _pair(piece: Span, match: re.Match[str], out: Reading, where: Where) -> None:
    """Add a name, and the last group as its value; for an alias and a block it stands elsewhere."""
    value = match.span(match.lastindex or 0)
    opaque = _ELSEWHERE.fullmatch(match[match.lastindex or 0]) is not None
    pairs.add_variable(piece, match.span(1), value, out, where, piece.place, opaque=opaque)
