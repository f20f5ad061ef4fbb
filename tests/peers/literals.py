"""String literals of other languages' sources, as their compilers read them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "b": "\b", "a": "\a", "0": "\0", "\n": ""}
ONE = r'"((?:[^"\\]|\\[\s\S])*)"'
# Several beside each other are one in C, also where a line ends between them with a backslash.
SEVERAL = rf"{ONE}(?:\s*(?:\\\n)?\s*{ONE})*"


def c(text: str) -> str:
    """The value of one or more literals of C beside each other."""
    return "".join(unescaped(part) for part in re.findall(ONE, text, re.DOTALL))


def unescaped(text: str) -> str:
    return _ESCAPE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if code[0] in "xuU" and len(code) > 1 else _PLAIN.get(code, code)
