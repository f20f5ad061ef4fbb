"""Read Python: find what a program writes into os.environ, by the forms in which people write that, whether
or not the rest can be parsed. Only a line outside of any block is removable, because a block may not become
empty."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Assignment, Reading, What, Where
from rocmcfg.advice.lint.readers import lines
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.model.regex import regex

_STRING = r"""(?:"(?:[^"\\\n]|\\.){0,999}"|'(?:[^'\\\n]|\\.){0,999}')"""
_COMMENT = regex(rf"({_STRING})|#[^\n]*")
_ENVIRON = r"\b(?:os\.)?(?:environb?|env|environment|ENV)\b"
_KEY = r"""[rbuRBU]?(["'])(?P<name>[A-Z]\w*)\1\s*"""
_SETS = regex(
    rf"(?:{_ENVIRON}(?:\.setdefault\(|\[)|(?:\bos\.)?\b(?:put|set)env\()\s*{_KEY}(?:\]\s*=(?!=)|(,))"
)
# After these comes a table with several variables.
_TABLE = regex(rf"{_ENVIRON}\s*(?:\.update(?=\()|\|=?|=(?!=))|\bdict(?=\(\s*{_ENVIRON})")
_BRACKET = regex(rf"{_STRING}|[(\[{{]|[)\]}}]|[,;\n]")
_ALONE = regex(r"(?<![^\n])(?<!\\\n)")  # the start of a line that does not continue the one before
_ITEM = regex(rf"{_KEY}:|\b(?P<keyword>[A-Z]\w*)\s*=(?!=)")
_VALUE = regex(
    r"""\s*(?:\\\n\s*)?(?:[rbuRBU]*(["'])(?P<text>(?:(?!\1)[^\\\n]){0,999})\1(?=\s*(?:[,;)\]}\n]|\Z))|[^\n;,)}\]]*)"""
)


def read(piece: Span, out: Reading, where: Where) -> None:
    code = _COMMENT.sub(lambda match: match[1] or " " * len(match[0]), piece.text)
    for begin, name, stop, closes in _settings(code):
        value = _VALUE.match(code, stop)
        if value is None or not names.concerns(code[slice(*name)]):
            continue
        text, end = value["text"], len(code[: value.end()].rstrip()) if value["text"] is None else value.end()
        end += closes and code.startswith(")", end)
        alone = bool(text and _ALONE.match(code, begin)) and code[end : end + 1] in ("", "\n")
        out.assignments.append(
            Assignment(
                What.VARIABLE,
                code[slice(*name)],
                text or "",
                *piece.range(begin, max(stop, end)),
                piece.range(*name),
                piece.range(*value.span("text")) if text else None,
                where._replace(removable=alone, once=piece.at(begin)),
                opaque=text is None,
            )
        )
    for line in piece.lines():
        lines.read_paths(line, out, where)


def _settings(code: str) -> Iterator[tuple[int, tuple[int, int], int, bool]]:
    """Yield for each setting its start, the range of its name, the start of its value, and whether a bracket
    closes it."""
    for match in _SETS.finditer(code):
        yield match.start(), match.span("name"), match.end(), match[3] is not None
    behind = 0
    for table in _TABLE.finditer(code):
        if table.end() < behind:  # a table in a table
            continue
        behind = _end(code, table.end())
        for match in _ITEM.finditer(code, table.end(), behind):
            yield match.start(), match.span("name" if match["name"] else "keyword"), match.end(), False


def _end(code: str, at: int) -> int:
    """Return the end of the brackets that open at an offset."""
    depth = 0
    for bracket in _BRACKET.finditer(code, at):
        depth += (bracket[0] in "([{") - (bracket[0] in ")]}")
        if depth <= 0 and (bracket[0] in ")]},;\n"):
            return bracket.end()
    return len(code)
