"""Finds in the lines of a text what only a neighbouring line gives away: an account in a table below a header
of `ps` or `top`, the body of a private key, a value that YAML puts on the line below its key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from rocmcfg.report.looks import is_nobody, is_value, meaning
from rocmcfg.report.rules import OPAQUE, Found

_HEADER = re.compile(
    r"(?<!\S)(?:USER[ \t]+(?:PID|TTY|UID|SEAT)|(?:PID|UID)[ \t]+USER|UID[ \t]+PID[ \t]+PPID)(?!\S)"
)
_WORD = re.compile(r"\S+")
_ACCOUNT = re.compile(r"([A-Za-z_][\w.-]{0,63}\$?)\+?$")
# What stands in the other columns of a row; a line with anything else ends the table.
_OTHERS = {
    **dict.fromkeys(("PID", "PPID", "UID"), re.compile(r"\d+$")),
    "TTY": re.compile(rf"(?:tty|pts|console|hvc|:\d|[-?{OPAQUE}])"),
}
_MOST_COLUMNS = 40

_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----\s*$")
_ENDS = re.compile(r"-----END [A-Z0-9 ]{1,40}-----")
_BODY = re.compile(r"(?<![^\s\"'|>])[A-Za-z0-9+/]+={0,2}(?=[\"',\\rn]{0,4}$)")
_BLANK = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment): |(?:^|\s)$")


_OPENED = re.compile(
    r"(?P<indent>[ \t]*)(?:- )?[\"']?(?P<key>[A-Za-z_][\w.-]*)[\"']?:[ \t]*(?P<block>[|>][-+]?[ \t]*)?$"
)
_VALUE = re.compile(r"[ \t]+(?P<x>[^\s#{\[&*].*\S|\w)")
_NESTED = re.compile(r":(?:\s|$)|^\s*-")


def blocks(lines: list[str]) -> dict[int, Found]:
    """What was found, by the number of its line."""
    return {**dict(_below_keys(lines)), **dict(_accounts(lines)), **_keys(lines)}


def _below_keys(lines: list[str]) -> Iterator[tuple[int, Found]]:
    for number, (line, below) in enumerate(pairwise(lines), 1):
        opened = _OPENED.match(line) if line.rstrip().endswith((":", "|", ">", "-", "+")) else None
        if opened is None or (meant := meaning(opened["key"])) is None:
            continue
        value = _VALUE.match(below)
        if meant.kind != "secret" or not meant.sure or value is None or not is_value(value["x"]):
            continue
        # deeper than the key, and no list or table of its own
        if value.start("x") > opened.end("indent") and (opened["block"] or not _NESTED.search(below)):
            yield number, Found(*value.span("x"), "secret")


def _accounts(lines: list[str]) -> Iterator[tuple[int, Found]]:
    column: int | None = None  # of the accounts, in a table
    forms: dict[int, re.Pattern[str]] = {}  # of other columns, by their numbers
    for number, line in enumerate(lines):
        if ("USER" in line or "UID" in line) and _HEADER.search(line):
            names = [word[0] for word in _words(line)]
            column = names.index("USER" if "USER" in names else "UID")  # which is what `ps -f` calls it
            forms = {n: _OTHERS[name] for n, name in enumerate(names) if name in _OTHERS and n != column}
        elif column is not None and line.strip():
            words = _words(line)
            if len(words) <= max([column, *forms]) or not all(f.match(words[n][0]) for n, f in forms.items()):
                column = None
            elif (account := _ACCOUNT.match(words[column][0])) and not is_nobody(account[1]):
                start = words[column].start()
                yield number, Found(start, start + account.end(1), "user", taught=True)


def _words(line: str) -> list[re.Match[str]]:
    return list(islice(_WORD.finditer(line), _MOST_COLUMNS))


def _keys(lines: list[str]) -> dict[int, Found]:
    """The bodies of PEM blocks, also of blocks whose first or last line is missing. A log may have put a time
    stamp before each line."""
    bodies: dict[int, Found] = {}
    for number, line in enumerate(lines):
        if "-----" in line and _BEGINS.search(line):
            _take(lines, range(number + 1, len(lines)), bodies)
        if "-----" in line and _ENDS.search(line):
            _take(lines, range(number - 1, -1, -1), bodies)
    return bodies


def _take(lines: list[str], numbers: range, bodies: dict[int, Found]) -> None:
    """Adds the lines of a key's body to `bodies`, up to the first of `numbers` that is no line of a body.
    Only the last line of a body is short."""
    for number in numbers:
        if number in bodies:
            return
        body = _BODY.search(lines[number].rstrip())
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if body is not None and (len(body[0]) >= 40 or "-----END" in after):
            bodies[number] = Found(*body.span(), "secret")
        elif not _BLANK.search(lines[number]):
            return
