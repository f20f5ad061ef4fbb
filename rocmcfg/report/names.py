"""Names that are known to tell something, found as whole words in time linear in the text, however many.

A name is a path through nested tables, word by word. `tower7.example.org` is found in
`tower7.example.org:/srv` and in `TOWER7.EXAMPLE.ORG`, not in `mytower7.example.org`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# "_" and "-" end a word here: "tower--vg-root" is a volume of the host tower
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[^\W_]+|.", re.DOTALL)
# What systemd (\x2d), JSON (\n, \u001b) and URLs (%2F) write for a character ends before the word begins.
_ESCAPED = re.compile(r"(?<=\\)(?:x[0-9a-f]{2}|u[0-9a-f]{4}|[bfnrtv])|(?<=%)[0-9a-f]{2}")
_END = ""
LONGEST = 200  # characters of a name; as many steps at most are taken from each word of the text


class Names:
    def __init__(self) -> None:
        self._tree: dict[str, Any] = {}

    def add(self, name: str, kind: str) -> None:
        """The first kind that a name was given stays. One without a letter or digit, or too long, is none."""
        lowered = lower(name).strip()
        first = _WORD.search(lowered)
        if first is None or len(lowered) > LONGEST:
            return
        while not lowered[-1].isalnum():
            lowered = lowered[:-1]
        node = self._tree
        for part in _PART.findall(lowered, first.start()):
            node = node.setdefault(part, {})
        node.setdefault(_END, kind)

    def replaced(self, text: str, hide: Callable[[str, str], str]) -> str:
        """`hide` gets the kind and what stands there, and gives what takes its place."""
        if not self._tree:
            return text
        lowered = lower(text)
        pieces: list[str] = []
        done = 0
        for word in _WORD.finditer(lowered):
            if (start := word.start()) < done:
                continue
            found = self._at(lowered, start)
            if found is None and (escaped := _ESCAPED.match(lowered, start)):
                start = escaped.end()
                found = self._at(lowered, start)
            if found is not None:
                end, kind = found
                pieces += (text[done:start], hide(kind, text[start:end]))
                done = end
        return "".join((*pieces, text[done:])) if pieces else text

    def _at(self, text: str, start: int) -> tuple[int, str] | None:
        """Where the longest name ends that begins here, and its kind."""
        node, position, found = self._tree, start, None
        while (part := _PART.match(text, position)) and (child := node.get(part[0])) is not None:
            node, position = child, part.end()
            if _END in node:
                found = position, node[_END]
        return found


def lower(text: str) -> str:
    """In lower case, with every character at its place (Turkish capital I with a dot becomes two)."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := c.lower()) == 1 else c for c in text)
