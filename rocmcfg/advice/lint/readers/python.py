"""Read Python: find what a program writes into os.environ, by the forms in which people write that, whether
or not the rest can be parsed. A string that is a statement and a block that is switched off set nothing. Only
a line outside of any block is removable, because a block may not become empty."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Assignment, Reading, What, Where
from rocmcfg.advice.lint.readers import lines
from rocmcfg.advice.lint.source import Ranges, Span
from rocmcfg.judging import names
from rocmcfg.model.regex import regex

_STRING = r"""(?:"(?:[^"\\\n]|\\.){0,999}"|'(?:[^'\\\n]|\\.){0,999}')"""
_COMMENT = regex(rf"({_STRING})|#[^\n]*")
_TRIPLE = r"""[rRbBuUfF]{0,2}(?P<marks>\"{3}|'{3})(?:[^\\]|\\.)*?(?:(?P=marks)|\Z)"""
_TEXT = regex(rf"(?P<begin>(?m:^)[ \t]*)?{_TRIPLE}|{_STRING}|(?P<bracket>[()\[\]{{}}])", re.DOTALL)
_OFF = regex(r"([ \t]*)(?:if|while)[ \t]+(?:False|0)[ \t]*:")
_ENVIRON = r"\b(?:os\.)?(?:environb?|\w*env(?:ironment)?(?:_?vars?)?|ENV)\b"
_KEY = r"""[rbuRBU]?(["'])(?P<name>[A-Z]\w*)\1\s*"""
_SETS = regex(
    rf"(?:{_ENVIRON}(?:\.setdefault\(|\[)|(?:\bos\.)?\b(?:put|set)env\()\s*{_KEY}(?:\]\s*=(?!=)|(,))"
)
# After these comes a table with several variables.
_TABLE = regex(rf"{_ENVIRON}\s*(?:\.update(?=\()|\|=?|=(?!=))|\bdict(?=\(\s*{_ENVIRON})")
_BRACKET = regex(rf"{_STRING}|[(\[{{]|[)\]}}]|[,;\n]")
_ALONE = regex(r"(?<![^\n])(?<!\\\n)")  # the start of a line that does not continue the one before
_ITEM = regex(rf"{_KEY}:|\b(?P<keyword>[A-Z]\w*)\s*=(?!=)")
_IN_A_TABLE = regex(rf"{_KEY}:")  # of any name: it may reach os.environ elsewhere
_VALUE = regex(
    r"""\s*(?:\\\n\s*)?(?:[rbuRBU]*(["'])(?P<text>(?:(?!\1)[^\\\n]){0,999})\1(?=\s*(?:[,;)\]}\n]|\Z))|(?P<number>\d+)(?=\s*(?:[,;)\]}\n]|\Z))|[^\n;,)}\]]*)"""
)


def read(piece: Span, out: Reading, where: Where) -> None:
    code = _COMMENT.sub(lambda match: match[1] or " " * len(match[0]), piece.text)
    idle = Ranges((*_documentation(code), *_switched_off(code)))
    out.passed += [piece.range(start, stop) for start, stop in idle]
    for begin, name, stop, closes in _settings(code):
        value = _VALUE.match(code, stop)
        if value is None or not names.concerns(code[slice(*name)]) or idle.overlap(*name):
            continue
        group = "text" if value["number"] is None else "number"
        text, end = value[group], len(code[: value.end()].rstrip()) if value[group] is None else value.end()
        end += closes and code.startswith(")", end)
        alone = bool(text and _ALONE.match(code, begin)) and code[end : end + 1] in ("", "\n")
        out.assignments.append(
            Assignment(
                What.VARIABLE,
                code[slice(*name)],
                text or "",
                *piece.range(begin, max(stop, end)),
                piece.range(*name),
                piece.range(*value.span(group)) if text else None,
                where._replace(removable=alone, once=piece.at(begin)),
                opaque=text is None,
            )
        )
    for line in piece.lines():
        lines.read_paths(line, out, where)


def _documentation(code: str) -> Iterator[tuple[int, int]]:
    """Yield the strings that are statements: each begins its line, outside of brackets."""
    depth = 0
    for text in _TEXT.finditer(code):
        if text["bracket"] is not None:
            depth += 1 if text["bracket"] in "([{" else -1
        elif text["begin"] is not None and depth == 0 and code[text.start() - 2 : text.start()] != "\\\n":
            yield text.span()


def _switched_off(code: str) -> Iterator[tuple[int, int]]:
    """Yield the blocks of `if False` and `while False`."""
    inside, begin, at = -1, 0, 0
    for line in code.split("\n"):
        indent = len(line) - len(line.lstrip(" \t"))
        if inside >= 0 and line.strip() and indent <= inside:
            yield begin, at
            inside = -1
        if inside < 0 and (head := _OFF.match(line)):
            inside, begin = len(head[1]), at + head.end()
        at += len(line) + 1
    if inside >= 0:
        yield begin, len(code)


def _settings(code: str) -> Iterator[tuple[int, tuple[int, int], int, bool]]:
    """Yield for each setting its start, the range of its name, the start of its value, and whether a bracket
    closes it."""
    for match in _SETS.finditer(code):
        yield match.start(), match.span("name"), match.end(), match[3] is not None
    behind, inside = 0, set[int]()
    for table in _TABLE.finditer(code):
        if table.end() < behind:  # a table in a table
            continue
        behind = _end(code, table.end())
        for match in _ITEM.finditer(code, table.end(), behind):
            inside.add(match.start())
            yield match.start(), match.span("name" if match["name"] else "keyword"), match.end(), False
    for match in _IN_A_TABLE.finditer(code):
        value = _VALUE.match(code, match.end())
        text = value and (value["text"] or value["number"])
        # what has blanks describes the variable
        if match.start() not in inside and text and " " not in text:
            yield match.start(), match.span("name"), match.end(), False


def _end(code: str, at: int) -> int:
    """Return the end of the brackets that open at an offset."""
    depth = 0
    for bracket in _BRACKET.finditer(code, at):
        depth += (bracket[0] in "([{") - (bracket[0] in ")]}")
        if depth <= 0 and (bracket[0] in ")]},;\n"):
            return bracket.end()
    return len(code)
