"""Patterns that are compiled when they are first used: a command loads two hundred, and uses a few."""

from __future__ import annotations

import re
from typing import Annotated, Any, AnyStr, cast


def regex(text: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`; only functions of `re` do not take it in the place of a text."""
    return cast("re.Pattern[AnyStr]", _Later(text, flags))


class _Later:
    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def compiled(text: str) -> re.Pattern[str]:
    """Raises ValueError that says why a text is no pattern that Python can use."""
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as problem:
        raise ValueError(f"{text!r} is not a regular expression: {problem}") from problem


Expression = Annotated[str, compiled]
