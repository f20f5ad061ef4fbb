"""The column of accounts in tables of processes and sessions, found by their header.

A row of `ps` or `top` alone looks like many other lines. Below a header it is known which
of its words is a name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from rocmcfg.report.rule import NAME, OPAQUE
from rocmcfg.report.words import is_telling

_HEADER = re.compile(
    r"(?<!\S)(?:USER[ \t]+(?:PID|TTY|UID|SEAT)|(?:PID|UID)[ \t]+USER|UID[ \t]+PID[ \t]+PPID)(?!\S)"
)
_WORD = re.compile(r"\S+")
_ACCOUNT = re.compile(rf"(?P<x>{NAME})\+?$")
# What stands in the other columns of a row; a line with anything else ends the table.
_OTHERS = {
    "PID": re.compile(r"\d+$"),
    "PPID": re.compile(r"\d+$"),
    "UID": re.compile(r"\d+$"),
    "TTY": re.compile(rf"(?:tty|pts|console|hvc|:\d|[-?{OPAQUE}])"),
}
_MOST_COLUMNS = 40


class _Table(NamedTuple):
    account: int
    others: tuple[tuple[int, re.Pattern[str]], ...]


def accounts(lines: list[str]) -> dict[int, tuple[int, int]]:
    """Where in which lines an account stands."""
    found: dict[int, tuple[int, int]] = {}
    table: _Table | None = None
    for number, line in enumerate(lines):
        if ("USER" in line or "UID" in line) and _HEADER.search(line):
            table = _table(line)
        elif table is not None and line.strip():
            words = _words(line)
            if not _is_row(table, words):
                table = None
            elif (account := _ACCOUNT.match(words[table.account][0])) and is_telling(account["x"]):
                start = words[table.account].start()
                found[number] = start, start + account.end("x")
    return found


def _words(line: str) -> list[re.Match[str]]:
    return [word for word, _ in zip(_WORD.finditer(line), range(_MOST_COLUMNS), strict=False)]


def _table(header: str) -> _Table:
    columns = [word[0] for word in _words(header)]
    # `ps -f` calls the column of names UID
    account = columns.index("USER" if "USER" in columns else "UID")
    others = tuple((n, _OTHERS[c]) for n, c in enumerate(columns) if c in _OTHERS and n != account)
    return _Table(account, others)


def _is_row(table: _Table, words: list[re.Match[str]]) -> bool:
    last = max((table.account, *(number for number, _ in table.others)))
    return len(words) > last and all(form.match(words[number][0]) for number, form in table.others)
