"""Examples of a terminal: commands behind prompts, and what they print."""

from __future__ import annotations

from rocmcfg.advice.lint.assignment import Reading, Where
from rocmcfg.advice.lint.readers import shell
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.model.regex import regex

_PROMPT = regex(
    r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+(?:[: ~/][^\n$#%>]*)?)?([$#%❯>])[ \t]+(?=\S)"
)


def read(piece: Span, out: Reading, where: Where) -> None:
    """An example of a terminal: commands behind prompts, and what they print, which sets nothing."""
    parts, continued = [], False
    for line in piece.lines(ends=True):
        prompt = _PROMPT.match(line.text)
        if prompt or continued:
            parts.append(line.cut(prompt.end() if prompt else 0))
            continued = line.text.rstrip("\r\n").endswith("\\")
    shell.read(joined(parts), out, where)


def has_prompts(text: str) -> bool:
    return any((prompt := _PROMPT.match(line)) and prompt[1] in "$❯" for line in text.split("\n"))
