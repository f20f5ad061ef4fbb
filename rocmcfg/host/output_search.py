"""Search the output of a program for a pattern of its caller while the program runs.

The search has a process of its own: Python's `re` stops all threads of a process while it matches, so a
pattern that backtracks for hours would also stop the time limit of the program and Ctrl-C. The process of the
search limits the time of the pattern.
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from functools import partial

from rocmcfg.model.regex import UnshippedPattern, bounded, compiled_for_bytes
from rocmcfg.model.shape import NamedTuple

_PIECE = 64 << 10  # bytes
_LONGEST_MATCH = 4 << 10  # bytes, which a pipe holds though nobody reads them yet
_MATCH, _NO_MATCH, _PROBLEM = b"+", b"-", b"!"
_OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)


class Searched(NamedTuple):
    """The result of a search: `match` is the first text that the pattern matched, empty for none; `problem`
    is why that is not known."""

    match: bytes = b""
    problem: str = ""


class OutputSearch:
    """Search each line for a regular expression. A carriage return ends a line too: progress bars print
    it."""

    def __init__(self, pattern: str) -> None:
        """Start the process. Raises OSError where there can be no more processes or pipes."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        self._answer, answering = os.pipe2(os.O_CLOEXEC)
        self._process = os.fork()
        if not self._process:
            with suppress(BaseException):  # whatever happens, this process must not go on as its parent
                for descriptor in (writing, self._answer):
                    os.close(descriptor)
                os.write(answering, _search(pattern, reading))
            os._exit(0)
        os.close(reading)
        os.close(answering)
        self._pieces = os.fdopen(writing, "wb")

    def add(self, piece: bytes) -> None:
        """Search one more piece of the output."""
        with suppress(BrokenPipeError):  # `end` tells why
            self._pieces.write(piece)

    def end(self) -> Searched:
        """Search the last line, and return the result."""
        with suppress(BrokenPipeError):
            self._pieces.close()
        with os.fdopen(self._answer, "rb") as stream:
            answer = stream.read()
        with suppress(ChildProcessError):  # the first process of a container reaps all its children
            os.waitpid(self._process, 0)
        kind, text = answer[:1], answer[1:]
        if kind == _MATCH:
            return Searched(text)
        if kind == _NO_MATCH:
            return Searched()
        return Searched(problem=text.decode() or "the process that searched it has ended")


def _search(pattern: str, reading: int) -> bytes:
    """Read to the end of the output, and return the answer."""
    for number in _OF_TERMINAL:  # the parent ends the search, with its program
        signal.signal(number, signal.SIG_IGN)
    problems: list[str] = []
    limited = UnshippedPattern(pattern, problems.append)
    expression = compiled_for_bytes(pattern)
    match: bytes | None = None
    rest, piece = b"", b" "
    while piece:
        piece = os.read(reading, _PIECE)
        if match is not None or problems:
            continue
        text = rest + (piece or b"\n")
        whole, newline, rest = text.rpartition(b"\n")
        if not newline and len(text) > _PIECE:  # of a line without an end, a part is searched again
            whole, rest = text, text[-_PIECE // 2 :]
        match = bounded(limited, partial(_first, expression, whole), len(whole))
    if problems:
        return _PROBLEM + problems[0].encode()
    return _NO_MATCH if match is None else _MATCH + (match or b"an empty text")[:_LONGEST_MATCH]


def _first(expression: re.Pattern[bytes], text: bytes) -> bytes | None:
    """Return the first match in a line of a text."""
    matches = map(expression.search, text.splitlines() or (b"",))
    return next((match[0] for match in matches if match is not None), None)
