"""python-dotenv: what its parser makes of lines of an .env file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.peers import reading
from tests.peers.judgement import Answer, Case
from tests.peers.suites.suite import Suite


def _cases(sources: Path) -> list[Case]:
    return list(_parsed((sources / "tests/test_parser.py").read_text()))


def _parsed(source: str) -> Iterator[Case]:
    """The table of test_parser.py: a text, and the bindings that it comes to."""
    for call in ast.walk(ast.parse(source)):
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "parametrize"
        ):
            continue
        table = call.args[1]
        assert isinstance(table, ast.List)
        for row in table.elts:
            assert isinstance(row, ast.Tuple)
            text = ast.literal_eval(row.elts[0])
            assert isinstance(row.elts[1], ast.List)
            bindings = [_binding(one) for one in row.elts[1].elts]
            yield Case(f"parser {text!r}", text, *_answers(text, bindings))


def _binding(node: ast.expr) -> tuple[str | None, str | None, bool]:
    assert isinstance(node, ast.Call)
    given = {word.arg: word.value for word in node.keywords}
    name, value, error = (ast.literal_eval(given[key]) for key in ("key", "value", "error"))
    return name, value, error


def _answers(
    text: str, bindings: list[tuple[str | None, str | None, bool]]
) -> tuple[Answer | None, Answer | None]:
    """Names that no environment could have are dotenv's own."""
    values = {name: value for name, value, error in bindings if name is not None and not error}
    if any(not name.isidentifier() or value is None for name, value in values.items()) or not values:
        return None, None
    return dict(values), reading.written(".env", text, values)


SUITE = Suite("python-dotenv", ("*/tests/*",), _cases)
