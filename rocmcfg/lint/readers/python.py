"""Python: what a program puts into os.environ, by its syntax tree, or line by line where it has none."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Assignment, Reading, What, Where
from rocmcfg.lint.readers import lines
from rocmcfg.lint.source import Span
from rocmcfg.model.regex import regex

_LINE = regex(
    r"""(?:environ(?:\.setdefault\(|\[)|putenv\(|setenv\()[ \t]*(['"])([A-Z]\w*)\1[ \t]*"""
    r"""(?:\][ \t]*=|,)[ \t]*(['"])([^'"\n]*)\3"""
)
_LITERAL = regex(r"""[rbuRBU]*('''|\"\"\"|'|")""")


def read(piece: Span, out: Reading, where: Where) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(piece.text)
            settings, needed = list(_settings(tree)), {*_needed(tree)}
    # a parser of broken or very deep code has many ways to give up
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        _read_lines(piece, out, where)
        return
    places = _Places(piece)
    for setting in settings:
        _add(setting, places, out, where, needed)
    for line in piece.lines():
        lines.read_paths(line, out, where)


Setting = tuple[ast.Constant, ast.expr, ast.AST]  # name, value, all of it


def _needed(tree: ast.AST) -> Iterator[int]:
    """The statements that may be all that a block has: without one, nobody can read it."""
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if isinstance(body, list) and body and all(isinstance(one, ast.Assign) for one in body):
                yield from map(id, body if not isinstance(node, ast.Module) else ())


def _settings(tree: ast.AST) -> Iterator[Setting]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Subscript) and _is_environ(target.value):
                        yield from _pair(target.slice, value, node)
                    elif _is_environ_name(target):
                        yield from _items(value)
            case ast.AugAssign(op=ast.BitOr(), target=left, value=right) if _is_environ(left):
                yield from _items(right)  # os.environ |= {…}
            case ast.BinOp(op=ast.BitOr(), left=left, right=right) if _is_environ(left):
                yield from _items(right)
            case ast.Call(keywords=keywords):
                yield from _call(node)
                for keyword in keywords:
                    if keyword.arg in ("env", "environment"):
                        yield from _items(keyword.value)


def _call(node: ast.Call) -> Iterator[Setting]:
    match node:
        case ast.Call(func=ast.Attribute(attr="putenv" | "setenv"), args=[key, value, *_]):
            yield from _pair(key, value, node)
        case ast.Call(func=ast.Attribute(owner, "setdefault"), args=[key, value, *_]) if _is_environ(owner):
            yield from _pair(key, value, node)
        case ast.Call(func=ast.Attribute(owner, "update"), args=tables) if _is_environ(owner):
            for table in tables:
                yield from _items(table)
            yield from _keywords(node)
        case ast.Call(func=ast.Name("dict"), args=tables) if any(map(_is_environ, tables)):
            yield from _keywords(node)


def _keywords(node: ast.Call) -> Iterator[Setting]:
    """`NAME="value"` among the arguments of a call."""
    for keyword in node.keywords:
        if keyword.arg is not None:
            key = ast.copy_location(ast.Constant(keyword.arg), keyword)
            key.end_lineno, key.end_col_offset = (
                keyword.lineno,
                keyword.col_offset + len(keyword.arg.encode()),
            )
            yield key, keyword.value, keyword


def _items(table: ast.expr) -> Iterator[Setting]:
    """Those of a dict that is written out."""
    if isinstance(table, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if key is not None:
                yield from _pair(key, value, key)


def _pair(key: ast.expr, value: ast.expr, whole: ast.AST) -> Iterator[Setting]:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        yield key, value, whole


def _is_environ(node: ast.expr) -> bool:
    return _is_environ_name(node) or (
        isinstance(node, ast.Attribute) and node.attr in ("environ", "environb")
    )


def _is_environ_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("environ", "env", "environment", "ENV")


class _Places:
    """The syntax tree counts columns in bytes of UTF-8."""

    def __init__(self, piece: Span) -> None:
        self.piece = piece
        # ast counts every line break that Python knows, and form feeds not
        self.starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", piece.text))]

    def of(self, line: int, column: int) -> int:
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.piece.text)
        text = self.piece.text[start:end]
        if text.isascii():
            return start + column
        return start + len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def range(self, node: ast.AST) -> tuple[int, int]:
        start = self.of(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return start, self.of(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _add(setting: Setting, places: _Places, out: Reading, where: Where, needed: set[int]) -> None:
    key, value, whole = setting
    name = str(key.value)
    if not names.concerns(name):
        return
    piece = places.piece
    start, stop = places.range(whole)
    if whole is key:
        stop = places.range(value)[1]
    text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
    alone = isinstance(whole, ast.Assign) and not whole.targets[1:] and id(whole) not in needed
    statement = piece.range(start, stop) if alone else None
    out.assignments.append(
        Assignment(
            What.VARIABLE,
            name,
            text if text is not None else "",
            *piece.range(start, stop),
            _inside(piece, *places.range(key)),
            _inside(piece, *places.range(value)) if text else None,
            where._replace(removable=statement is not None, once=piece.at(start)),
            opaque=text is None,
            statement=statement,
        )
    )


def _inside(piece: Span, start: int, stop: int) -> tuple[int, int]:
    """Between the quotes of a literal."""
    literal = _LITERAL.match(piece.text, start, stop)
    if literal is None:
        return piece.range(start, stop)
    return piece.range(literal.end(), max(literal.end(), stop - len(literal[1])))


def _read_lines(piece: Span, out: Reading, where: Where) -> None:
    for line in piece.lines():
        if line.text.lstrip().startswith("#"):
            continue
        lines.read_paths(line, out, where)
        for found in _LINE.finditer(line.text):
            if names.concerns(found[2]):
                assigned = Assignment(
                    What.VARIABLE,
                    found[2],
                    found[4],
                    *line.range(*found.span()),
                    line.range(*found.span(2)),
                    line.range(*found.span(4)) if found[4] else None,
                    where._replace(removable=False, once=line.at(found.start())),
                )
                out.assignments.append(assigned)
