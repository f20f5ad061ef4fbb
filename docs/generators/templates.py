"""The templates of what a plan and an apply write, as Python that needs no jinja2: to load that library takes
longer than a whole plan may (docs/decisions/0046).

A folder `templates` of the package gets one function for each of its templates. One whose name begins with
`_` is there to be included, and gets none. What the templates use of jinja2's language is known here, and
anything else is an error: text, values, filters, `if`, `for`, `include`, and `set` outside of these. `jinja`
returns the environment in which jinja2 itself renders the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, nodes

from rocmcfg.files import filters
from rocmcfg.knowledge.compiled import PACKAGE

_JINJA = ("rocmcfg/change/rendering",)  # jinja2 itself renders them: `rocmcfg render` is no part of a plan
_HEAD = '''"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any
'''
_INDENT = "    "


def folders() -> list[str]:
    """Return the folders whose templates are compiled, as paths of the repository."""
    package = Path(PACKAGE)
    folders = {path.parent.relative_to(package.parent).as_posix() for path in package.rglob("templates/*.j2")}
    return sorted(folder for folder in folders if not folder.startswith(_JINJA))


def page(folder: str) -> str:
    """Return the module of one folder."""
    functions = [_Function(name) for name in names(folder)]
    used = sorted({name for function in functions for name in function.filters})
    imports = f"\nfrom rocmcfg.files.filters import {', '.join(used)}\n" if used else ""
    return _HEAD + imports + "".join(f"\n\n{function.text}" for function in functions)


def names(folder: str) -> list[str]:
    """Return the templates of a folder that get a function, as `jinja` names them."""
    package = Path(PACKAGE)
    files = (package.parent / folder).glob("*.j2")
    return sorted(path.relative_to(package).as_posix() for path in files if path.name[0] != "_")


def function_of(name: str) -> str:
    """Return what the function of a template is called."""
    return re.sub(r"\W", "_", Path(name).name.removesuffix(".j2"))


@cache
def jinja() -> Environment:
    """Return the environment of these templates; they include each other by their paths in the package."""
    made = Environment(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        comment_start_string="<#",  # `{#` is the length of a variable to a shell
        comment_end_string="#>",
        loader=FileSystemLoader(PACKAGE),
    )
    made.filters.update({name: getattr(filters, name) for name in filters.__all__})
    return made


class _Function:
    """One template as the text of a function. `parameters` are the names that it does not set itself."""

    def __init__(self, name: str) -> None:
        self.filters: set[str] = set()
        self._name = name
        self._parameters: set[str] = set()
        lines = [*self._block(_parsed(name).body, frozenset())]
        parameters = "".join(f", {name}: Any" for name in sorted(self._parameters))
        head = f"def {function_of(name)}({'*' if parameters else ''}{parameters}) -> str:"
        body = ["out: list[str] = []", *lines, 'return "".join(out)']
        self.text = "\n".join([head, *(f"{_INDENT}{line}" for line in body), ""])

    def _block(self, body: list[nodes.Node], assigned: frozenset[str]) -> Iterator[str]:
        """Yield the lines of these nodes. `assigned` are the names that are set in front of them."""
        for node in body:
            if isinstance(node, nodes.Output):
                pieces = [self._piece(piece, assigned) for piece in node.nodes]
                yield f"out += [{', '.join(pieces)}]"
            elif isinstance(node, nodes.If):
                yield f"if {self._value(node.test, assigned)}:"
                yield from self._inner(node.body, assigned)
                for other in node.elif_:
                    yield f"elif {self._value(other.test, assigned)}:"
                    yield from self._inner(other.body, assigned)
                if node.else_:
                    yield "else:"
                    yield from self._inner(node.else_, assigned)
            elif isinstance(node, nodes.For) and isinstance(node.target, nodes.Name):
                if node.else_ or node.test or node.recursive:
                    raise self._unknown(node)
                yield f"for {node.target.name} in {self._value(node.iter, assigned)}:"
                yield from self._inner(node.body, assigned | {node.target.name})
            elif isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Name):
                yield f"{node.target.name} = {self._value(node.node, assigned)}"
                assigned |= {node.target.name}
            elif isinstance(node, nodes.Include) and isinstance(node.template, nodes.Const):
                yield from self._block(_parsed(node.template.value).body, assigned)
            else:
                raise self._unknown(node)

    def _inner(self, body: list[nodes.Node], assigned: frozenset[str]) -> Iterator[str]:
        for node in body:
            if isinstance(
                node, nodes.Assign
            ):  # a `for` would forget what is set there, and an `if` would not
                raise self._unknown(node)
        lines = [*self._block(body, assigned)] or ["pass"]
        return (f"{_INDENT}{line}" for line in lines)

    def _piece(self, node: nodes.Node, assigned: frozenset[str]) -> str:
        if isinstance(node, nodes.TemplateData):
            return repr(node.data)
        return f"str({self._value(node, assigned)})"

    def _value(self, node: nodes.Node, assigned: frozenset[str]) -> str:
        if isinstance(node, nodes.Const):
            return repr(node.value)
        if isinstance(node, nodes.Name) and node.name != "out":
            if node.name not in assigned:
                self._parameters.add(node.name)
            return node.name
        if isinstance(node, nodes.Getattr):
            return f"{self._value(node.node, assigned)}.{node.attr}"
        if isinstance(node, nodes.Or):
            return f"({self._value(node.left, assigned)} or {self._value(node.right, assigned)})"
        if isinstance(node, nodes.Not):
            return f"not {self._value(node.node, assigned)}"
        if isinstance(node, nodes.Test) and node.name == "none":
            return f"{self._value(node.node, assigned)} is None"
        if isinstance(node, nodes.Filter) and node.name in filters.__all__ and not node.args:
            assert node.node is not None
            self.filters.add(node.name)
            return f"{node.name}({self._value(node.node, assigned)})"
        raise self._unknown(node)

    def _unknown(self, node: nodes.Node) -> ValueError:
        where = f"{self._name}, line {node.lineno}"
        return ValueError(f"{where}: docs/generators/templates.py does not know {node}")


def _parsed(name: str) -> nodes.Template:
    return jinja().parse((Path(PACKAGE) / name).read_text(), name)
