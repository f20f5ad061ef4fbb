"""A rule of redaction: what to find in a line, what of it goes, and where such lines come from.

All patterns are for one line and take time linear in it, whatever it holds: a part that repeats begins where
nothing of its own kind stands before it (a look-behind), and no two parts that repeat can share characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

# What was replaced is one opaque character pair while the rules run, so that no rule finds anything in it.
OPAQUE = "\U000f0000-\U0010ffff"
HEX = "[0-9A-Fa-f]"
NAME = r"[A-Za-z_](?:[\w-]|\.(?=\w)){0,63}\$?"  # of an account: useradd(8), and domains' machines end in $
# an account where it is no longer what the rule looks for, and may have been replaced before
ACCOUNT = rf"(?:{NAME}|[{OPAQUE}]{{2}})"
WORD = rf"[^\s\"'`,;|<>(){{}}\[\]{OPAQUE}]+"  # up to what separates words in logs, files and tables


def anything(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """`near`: lower-case texts of which a line must hold one, or it is not looked at. `telling` decides about
    what was found, `teaches` whether that is certain enough to go from all other places as well."""

    kind: str
    pattern: re.Pattern[str]
    near: tuple[str, ...]
    why: str
    telling: Callable[[str], bool] = anything
    teaches: bool = False


class Rules:
    """Rules in their order, of which a line meets only those that something in it speaks for."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._always = {number for number, rule in enumerate(self._rules) if not rule.near}
        self._by_text: dict[str, list[int]] = {}
        for number, rule in enumerate(self._rules):
            for text in rule.near:
                self._by_text.setdefault(text, []).append(number)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def of(self, line: str) -> list[Rule]:
        lowered = line.lower()
        numbers = self._always.copy()
        for text, theirs in self._by_text.items():
            if text in lowered:
                numbers.update(theirs)
        return [self._rules[number] for number in sorted(numbers)]


def rule(
    kind: str,
    pattern: str,
    near: str,
    why: str,
    telling: Callable[[str], bool] = anything,
    *,
    teaches: bool = False,
) -> Rule:
    """`near` is a list of words; empty looks at every line. The group `x` of the pattern is what goes."""
    return Rule(kind, re.compile(pattern), tuple(near.split()), why, telling, teaches)
