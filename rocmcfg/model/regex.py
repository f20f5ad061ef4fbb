"""Patterns that are compiled when they are first used: a command loads two hundred, and uses a few. And those
that did not come with the program, of which each has a limited time."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from typing import Annotated, Any, AnyStr, ClassVar, TypeVar, cast

T = TypeVar("T")
_TIME = 2.0  # seconds of the processor that the first pattern which takes too long may take
_PER_BYTE = 2e-7  # seconds besides; a pattern that is written well takes a tenth of it


def regex(text: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`; only functions of `re` do not take it in the place of a text."""
    return cast("re.Pattern[AnyStr]", _Later(text, flags))


class _Later:
    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(*self._given), name)
        setattr(self, name, attribute)
        return attribute


def compiled(text: str) -> re.Pattern[str]:
    """Raises ValueError that says why a text is no pattern that Python can use."""
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as problem:
        raise ValueError(f"{text!r} is not a regular expression: {problem}") from problem


Expression = Annotated[str, compiled]


class _OutOfTime(Exception):
    """The timer of a pattern has run out."""


class UnshippedPattern(str):
    """A pattern that a host added. No look at its form tells whether Python's `re` comes to an end with it,
    so `bounded` limits the time of the processor that it may take, of all its uses together: `_TIME`, and
    `_PER_BYTE` for what it was matched with. Then it matches nothing any more, and `tell` gets the reason,
    once.

    The timer (setitimer(2), ITIMER_VIRTUAL) counts nothing but the time of this process, so that a busy
    machine stops no pattern. `re` looks for signals while it matches (Modules/_sre/sre_lib.h,
    MAYBE_CHECK_SIGNALS), and lets what the handler raises through. For the main thread alone.
    """

    _stopped: ClassVar[int] = 0  # patterns: the more of them, the less time the next one gets

    def __new__(cls, text: str, tell: Callable[[str], None] = lambda _: None) -> UnshippedPattern:
        made = super().__new__(cls, text)
        made._tell, made._given, made._taken, made.stopped = tell, 0.0, 0.0, False
        return made

    _tell: Callable[[str], None]
    _given: float  # seconds, for what it was matched with
    _taken: float
    stopped: bool

    def _run(self, act: Callable[[], T], size: int) -> T | None:
        if self.stopped:
            return None
        self._given += (size + 64) * _PER_BYTE
        # all that are stopped take twice the time of the first, however many there are
        left = _TIME / (1 + UnshippedPattern._stopped) ** 2 + self._given - self._taken
        before = signal.signal(signal.SIGVTALRM, _out_of_time)
        try:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, max(left, 1e-3))
                return act()
            finally:
                self._taken += left - signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0]
        except _OutOfTime:
            self._stop("it takes too long")
        except (RecursionError, OverflowError, MemoryError, re.error) as problem:
            self._stop(str(problem) or type(problem).__name__)
        finally:
            signal.signal(signal.SIGVTALRM, before)
        return None

    def _stop(self, why: str) -> None:
        self.stopped = True
        UnshippedPattern._stopped += 1
        self._tell(why)


def bounded(pattern: str, act: Callable[[], T], size: int) -> T | None:
    """Return what `act` gives, which does nothing but to use the pattern for a text of this size, in bytes.
    None where the pattern is not shipped and has no time left."""
    return pattern._run(act, size) if isinstance(pattern, UnshippedPattern) else act()


def is_stopped(pattern: str) -> bool:
    """Say whether the pattern had no time left, so that nothing is known of what it matches."""
    return isinstance(pattern, UnshippedPattern) and pattern.stopped


def search(pattern: str, text: str) -> re.Match[str] | None:
    return bounded(pattern, lambda: re.search(pattern, text), len(text))


def fullmatch(pattern: str, text: str, flags: int | re.RegexFlag = 0) -> re.Match[str] | None:
    return bounded(pattern, lambda: re.fullmatch(pattern, text, flags), len(text))


def _out_of_time(*_: object) -> None:
    raise _OutOfTime
