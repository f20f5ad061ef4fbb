"""Jupyter notebooks: JSON whose code cells are Python, with lines for a shell and for IPython in between.

The JSON is not loaded but looked through, because a finding has to stand where the file has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rocmcfg.lint.assignment import Reading, Where
from rocmcfg.lint.source import Span, joined

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MAGIC = re.compile(r"[ \t]*(?:%(?:set_)?env[ \t]+|!|%sx[ \t]+|%%?)")
_SHELL_CELL = re.compile(r"%%(?:bash|sh|script[ \t]+\w*sh|!)[^\n]*\n?")


def read(piece: Span, out: Reading, where: Where) -> None:
    from rocmcfg.lint.readers import markdown, shell

    before = len(out.assignments)
    for kind, cell in _cells(piece):
        bash = _SHELL_CELL.match(cell.text)
        if kind == "markdown":
            markdown.read(cell, out, where)
        elif kind == "code" and bash:
            shell.read(cell.cut(bash.end()), out, where)
        elif kind == "code":
            _read_code(cell, out, where)
    out.assignments[before:] = [
        replace(found, stop=_behind_escape(piece, found.stop)) for found in out.assignments[before:]
    ]


def _behind_escape(piece: Span, stop: int) -> int:
    """A character that is written as an escape ends where the escape does."""
    if len(piece.runs) > 1:
        return stop
    here, there = piece.runs[0]
    escape = _ESCAPE.match(piece.text, stop - 1 + here - there)
    return stop - 1 + len(escape.group()) if escape else stop


def _read_code(cell: Span, out: Reading, where: Where) -> None:
    """IPython's own lines stand alone, each for itself."""
    from rocmcfg.lint.readers import environment, python, shell

    kept = []
    for line in cell.lines(ends=True):
        found = _MAGIC.match(line.text)
        if found is None:
            kept.append(line)
            continue
        rest = line.cut(found.end())
        if "env" in found.group():
            environment.read(rest, out, where)
        elif "!" in found.group() or "sx" in found.group():
            shell.read(rest, out, where)
    if kept:
        python.read(joined(kept), out, where)


@dataclass(slots=True)
class _Open:
    """An object or list that is not closed yet. `key` is the name that was read last, of a list its own;
    `named`: what comes next is the value of `key`."""

    is_list: bool
    key: str = ""
    named: bool = False
    kind: str = ""
    source: list[Span] = field(default_factory=list)


def _cells(piece: Span) -> Iterator[tuple[str, Span]]:
    """(cell_type, source) of each object that has both. Broken JSON gives what stands before the break."""
    stack = [_Open(is_list=True)]
    for found in _TOKEN.finditer(piece.text):
        mark, top = found.group(), stack[-1]
        if mark == "{":
            stack.append(_Open(is_list=False))
        elif mark == "[":
            stack.append(_Open(is_list=True, key=top.key if top.named else ""))
        elif mark in "}]":
            if len(stack) > 1:
                stack.pop()
                stack[-1].named = False
            if top.kind and top.source:
                yield top.kind, joined(top.source)
        elif mark == ":":
            top.named = not top.is_list
        elif mark == ",":
            top.named = False
        elif top.is_list or top.named:
            owner = stack[-2] if top.is_list and len(stack) > 1 else top
            if top.key == "source":  # an escape stands where its backslash stands
                text = piece.cut(found.start() + 1, found.end() - 1)
                owner.source.append(text.sub(_ESCAPE, _character))
            elif top.key == "cell_type" and not top.is_list:
                top.kind = mark[1:-1]
        else:
            top.key = mark[1:-1]


def _character(escape: re.Match[str]) -> str:
    code = escape.group()[1:]
    return chr(int(code[1:], 16)) if code[0] == "u" and len(code) == 5 else _PLAIN.get(code, code)
