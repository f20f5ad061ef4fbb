"""Apply the rules of data/redaction.toml to a line. That file describes how a rule is written."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any

from rocmcfg.advice.report.looks import LOOKS, data, is_ip, tells
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

# While the rules run, a replaced text is one pair of opaque characters, in which no rule finds anything.
OPAQUE = "\U000f0000-\U0010ffff"
_GONE = regex(f"[{OPAQUE}]+")
_FORM = regex(r"\{([A-Z]\w*)\}")
_HOLE = regex(r"(?:\{(?P<plain>[a-z-]+)|\(<(?P<own>[a-z-]+))(?P<trust>[+!]?)[}>]")
_PLAIN = {"user": "{ACCOUNT}", "host": "{HOST}", "site": "{HOST}"}
_AROUND = 32  # characters before and after four numbers that show whether they are an address


class Place(NamedTuple):
    """The place of a text to replace. `taught`: the find is certain enough to replace the text everywhere."""

    start: int
    end: int
    kind: str
    taught: bool = False


class Rule(NamedTuple):
    """A rule. `holes` are the kinds of the groups h0, h1 … of the pattern, each with its degree of trust."""

    written: str
    holes: tuple[tuple[str, str], ...]
    near: tuple[str, ...]
    like: str
    but: re.Pattern[str] | None
    teaches: bool

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern; it is compiled on first use, because most texts need few rules."""
        return _compiled(self.written)

    def places(self, line: str) -> Iterator[Place]:
        for match in self.pattern.finditer(line):
            for number, (kind, trust) in enumerate(self.holes):
                start, end = match.span(f"h{number}")
                if start < end and self._tells(line, start, end, kind, trust):
                    yield Place(start, end, kind, bool(trust))

    def _tells(self, line: str, start: int, end: int, kind: str, trust: str) -> bool:
        text = line[start:end]
        if not _GONE.sub("", text).strip() or (self.but and self.but.fullmatch(text)):
            return False
        if kind == "ip" and not trust:
            return is_ip(text, line[max(0, start - _AROUND) : start], line[end : end + _AROUND])
        return tells(kind, text, certain=trust == "!") and LOOKS[self.like](text)


@functools.cache
def rules() -> tuple[Rule, ...]:
    return tuple(rule for entry in data()["rules"] for rule in _made(entry))


@functools.cache
def _by_text() -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for number, rule in enumerate(rules()):
        for text in rule.near or ("",):
            numbers.setdefault(text, []).append(number)
    return numbers


def rules_of(line: str) -> list[Rule]:
    """Return the rules that may apply to the line, in their order."""
    lowered = line.lower()
    numbers = {number for text, theirs in _by_text().items() if text in lowered for number in theirs}
    return [rules()[number] for number in sorted(numbers)]


def _made(entry: dict[str, Any]) -> Iterator[Rule]:
    near, like = tuple(entry["near"].split()), entry.get("like", "")
    but = re.compile(entry["but"]) if "but" in entry else None
    for find in [entry["find"]] if isinstance(entry["find"], str) else entry["find"]:
        pattern = _filled(find)
        holes = tuple((hole["plain"] or hole["own"], hole["trust"]) for hole in _HOLE.finditer(pattern))
        yield Rule(pattern, holes, near, like, but, any(trust for _, trust in holes))


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    numbers = itertools.count()

    def group(hole: re.Match[str]) -> str:
        form = f"{_filled(_PLAIN[hole['plain']])})" if hole["plain"] else ""
        return f"(?P<h{next(numbers)}>{form}"

    return re.compile(_HOLE.sub(group, pattern))


@functools.cache
def _filled(pattern: str) -> str:
    forms = {"OPAQUE": OPAQUE, **data()["forms"]}
    return _FORM.sub(lambda match: _filled(forms[match[1]]), pattern)
