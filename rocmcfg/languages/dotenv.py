"""Read files of NAME=VALUE that programs read themselves: .env, read by python-dotenv (src/dotenv/parser.py
of 1.2) and docker compose (compose-go, dotenv/parser.go of 2.x), with a value where both agree; and the files
of `docker run --env-file` (docker/cli, opts/file.go)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.languages import BYTE_ORDER_MARK, Statement, is_damaged, lines_of, without_values
from rocmcfg.model.regex import regex

_START = regex(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*([=:])([ \t]*)", re.ASCII)
_BARE_NAME = regex(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*(?=[#\r\n]|\Z)", re.ASCII)
_QUOTED = regex(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_BARE = regex(r"[^\r\n]*")
_BEHIND = regex(r"[ \t]*(?:#[^\r\n]*)?\r?(?=\n|\Z)")
_COMMENT = regex(r"[ \t]+#.*")


def read(text: str) -> Iterator[Statement]:
    unmarked = text.removeprefix(BYTE_ORDER_MARK)
    statements = _statements(unmarked, len(text) - len(unmarked))
    return without_values(statements) if is_damaged(text) else statements


def _statements(text: str, offset: int) -> Iterator[Statement]:
    at, line, lost = 0, 1, False
    while at < len(text):
        match = _START.match(text, at)
        end = at
        if match is not None:
            value, stop = _value(text, match)
            if stop < 0:  # an unclosed quote: one reader continues with the next line, the other fails
                lost, stop = True, match.end()
            # until 1.2.2 python-dotenv takes a byte order mark as a part of the name
            trusted = None if lost or match[2] == ":" or (offset and at == 0) else value
            yield Statement(match[1], trusted, line, offset + match.start(1), offset + stop)
            end = stop
        elif bare := _BARE_NAME.match(text, at):  # the value of the caller, or none
            yield Statement(bare[1], None, line, offset + bare.start(1), offset + bare.end(1))
        following = text.find("\n", end)
        following = len(text) if following < 0 else following + 1
        line += text.count("\n", at, following)
        at = following


def _value(text: str, match: re.Match[str]) -> tuple[str | None, int]:
    """Return the value, and the offset of its end, or -1 for an unclosed quote. The value is None where
    readers differ."""
    at = match.end()
    if text[at : at + 1] in ("'", '"') and text[at : at + 1]:
        quoted = _QUOTED.match(text, at)
        if quoted is None:
            return None, -1
        value = quoted.group()[1:-1]
        # escapes and expansions differ; text after the quote is an error for one of them
        plain = "\\" not in value and "$" not in value and "\r" not in value
        return (value if plain and _BEHIND.match(text, quoted.end()) else None), quoted.end()
    written = _BARE.match(text, at)
    value = written.group() if written else ""
    if value.startswith("#"):
        return None, at
    plain_value = value.partition(" #")[0].rstrip()
    same = plain_value == _COMMENT.sub("", value, count=1).rstrip() and "$" not in value
    strange = any(c.isspace() and c not in " \t" for c in plain_value)
    return (plain_value if same and not strange else None), at + len(plain_value)


def read_env_file(text: str) -> Iterator[Statement]:
    """Yield the variables. All text after the `=` is the value, including quotes, blanks and `#`."""
    damaged = is_damaged(text)
    for number, start, line in lines_of(text):
        kept = line.removesuffix("\r")
        written = kept.lstrip()
        name, equals, value = written.partition("=")
        if equals and name and not written.startswith("#") and not re.search(r"\s", name):
            at = start + len(kept) - len(written)
            name = name.removeprefix(BYTE_ORDER_MARK)
            yield Statement(name, None if damaged else value, number, at, start + len(kept))
