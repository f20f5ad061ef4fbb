"""The search of a program's output: line by line, whatever the pieces, and never without end."""

from __future__ import annotations

import os
import signal

import pytest

from rocmcfg.host.output_search import OutputSearch, Searched


def searched(pattern: str, *pieces: bytes) -> Searched:
    search = OutputSearch(pattern)
    for piece in pieces:
        search.add(piece)
    return search.end()


@pytest.mark.parametrize(
    ("pattern", "pieces", "match"),
    [
        ("loss is (nan|inf)", (b"loss is 1\nloss is n", b"an\n"), b"loss is nan"),
        ("^nan$", (b"first\nnan\nlast\n",), b"nan"),
        ("^nan$", (b"1\r2\rnan\r\n",), b"nan"),
        ("nan$", (b"the end is nan",), b"nan"),
        ("a[^x]*b", (b"a\nb\n",), b""),
        (r"\Ab", (b"a\nb\n",), b"b"),
        ("^$", (b"a\n", b"\n"), b"an empty text"),
        ("needle", (b"x" * 100_000, b"needle", b"x" * 100_000), b"needle"),
        ("needle", (b"x" * 65_530 + b"nee", b"dle" + b"x" * 100_000), b"needle"),
        ("é", ("dé".encode(),), "é".encode()),
        ("b+", (b"\xff\xfe\0b\n", b"bbb\n"), b"b"),
        ("a", (), b""),
        ("x{60000}", (b"x" * 60_000,), b"x" * 4096),
    ],
)
def test_a_line_that_matches_is_noticed(pattern: str, pieces: tuple[bytes, ...], match: bytes) -> None:
    assert searched(pattern, *pieces) == Searched(match)


@pytest.mark.parametrize("pattern", ["(a+b?){7}c", "(a|aa)+c"])
def test_a_pattern_without_end_is_stopped_and_the_rest_is_still_read(pattern: str) -> None:
    line = b"a" * 400 + b"\n"
    assert searched(pattern, *[line] * 5_000) == Searched(problem="it takes too long")


def test_a_search_that_was_killed_says_so() -> None:
    search = OutputSearch("a")
    os.kill(search._process, signal.SIGKILL)
    os.waitid(os.P_PID, search._process, os.WEXITED | os.WNOWAIT)
    search.add(b"a\n" * 100_000)
    assert search.end().problem == "the process that searched it has ended"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_of_the_terminal_does_not_end_the_search(number: signal.Signals) -> None:
    search = OutputSearch("needle")
    search.add(b"a\n" * 100_000)  # more than the pipe holds: the search reads already
    os.kill(search._process, number)
    search.add(b"needle\n")
    assert search.end() == Searched(b"needle")
