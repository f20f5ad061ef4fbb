"""Patterns that are compiled when they are first used, since a command loads two hundred and uses a few, and
patterns that were not shipped with the program, each with a limited run time."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from typing import Annotated, Any, AnyStr, ClassVar, TypeVar, cast

T = TypeVar("T")
_TIME = 2.0  # seconds of processor time for the first pattern that takes too long
_PER_BYTE = 2e-7  # additional seconds; a well-written pattern needs a tenth of them


def regex(text: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """Return a pattern like `re.compile`, except that functions of `re` do not accept it in place of a
    text."""
    return cast("re.Pattern[AnyStr]", _Later(text, flags))


class _Later:
    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(*self._given), name)
        setattr(self, name, attribute)
        return attribute


def compiled(text: str) -> re.Pattern[str]:
    """Return the compiled pattern. Raises ValueError with the reason why Python cannot use a text as a
    pattern."""
    return _usable(text, text)


def compiled_for_bytes(text: str) -> re.Pattern[bytes]:
    """Return the compiled pattern for texts in UTF-8 that may be damaged. Raises ValueError as `compiled`."""
    return _usable(text, text.encode("utf-8", "surrogateescape"))


def _usable(text: str, pattern: AnyStr) -> re.Pattern[AnyStr]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as problem:
        raise ValueError(f"{text!r} is not a regular expression: {problem}") from problem


Expression = Annotated[str, compiled]


class _OutOfTime(Exception):
    """The timer of a pattern has run out."""


class UnshippedPattern(str):
    """A pattern that a host added. Its form does not show whether Python's `re` terminates, so `bounded`
    limits the processor time of all its uses together: `_TIME`, and `_PER_BYTE` for the matched texts. After
    that the pattern matches nothing, and `tell` gets the reason, once.

    The timer (setitimer(2), ITIMER_VIRTUAL) counts only the time of this process, so a busy machine does not
    stop a pattern. `re` checks for signals while it matches (Modules/_sre/sre_lib.h, MAYBE_CHECK_SIGNALS),
    and passes on the exception of the handler. It works only in the main thread.
    """

    _stopped: ClassVar[int] = (
        0  # the number of stopped patterns: the more there are, the less time the next one gets
    )

    def __new__(cls, text: str, tell: Callable[[str], None] = lambda _: None) -> UnshippedPattern:
        made = super().__new__(cls, text)
        made._tell, made._given, made._taken, made.stopped = tell, 0.0, 0.0, False
        return made

    _tell: Callable[[str], None]
    _given: float  # seconds, for the matched texts
    _taken: float
    stopped: bool

    def _run(self, act: Callable[[], T], size: int) -> T | None:
        if self.stopped:
            return None
        self._given += (size + 64) * _PER_BYTE
        # all stopped patterns together take at most twice the time of the first
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
    """Return the result of `act`, which only uses the pattern on a text of this size, in bytes. None if the
    pattern is not shipped and has no time left."""
    return pattern._run(act, size) if isinstance(pattern, UnshippedPattern) else act()


def is_stopped(pattern: str) -> bool:
    """Return whether the pattern had no time left, so that its matches are not known."""
    return isinstance(pattern, UnshippedPattern) and pattern.stopped


def search(pattern: str, text: str) -> re.Match[str] | None:
    return bounded(pattern, lambda: re.search(pattern, text), len(text))


def fullmatch(pattern: str, text: str, flags: int | re.RegexFlag = 0) -> re.Match[str] | None:
    return bounded(pattern, lambda: re.fullmatch(pattern, text, flags), len(text))


def _out_of_time(*_: object) -> None:
    raise _OutOfTime
