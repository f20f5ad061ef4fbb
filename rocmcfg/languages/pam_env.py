"""Read /etc/environment in the same way as pam_env(8) (linux-pam, modules/pam_env/pam_env.c,
`_parse_env_file`, of release 1.3.1 to 1.7.2). A value is unknown where releases, or builds with libeconf,
differ: blanks at the end of a value, also before a comment, quotes inside a value, and lines that are too
long for some releases."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.languages import Effect, Statement, is_damaged, lines_of
from rocmcfg.model.regex import regex

_LINE = regex(r"[ \t]*(export )?([A-Za-z0-9_]+)(=?)([^#]*)")
_VALUE = regex(r"\"([^\"']*)\"|'([^\"']*)'|((?:[^\s\"'\\](?:[^\"'\\]*[^\s\"'\\])?)?)")
LONGEST = 1023  # bytes, in release 1.3.1 (BUF_SIZE); 8,191 from 1.4.0 on, without a limit from 1.6.0 on


def read(text: str) -> Iterator[Statement]:
    certain = not is_damaged(text)
    joined = False  # whether the line before ends with a backslash, which joins this one to it
    for number, start, line in lines_of(text):
        # an invalid name ends the reading in release 1.3.1
        certain = certain and not line.lstrip(" \t").startswith("=")
        certain = certain and len(line.encode("utf-8", "replace")) <= LONGEST
        match = _LINE.match(line)
        continues = line.rstrip(" \t").endswith("\\") and not line.lstrip(" \t").startswith("#")
        clear = certain and not joined and not continues
        if match and match[3] and not match[2][0].isdigit():
            value = _value(match[4]) if clear else None
            name_at = start + match.start(2)
            yield Statement(match[2], value, number, name_at, start + len(line[: match.end()].rstrip()))
        elif match and not match[3] and not match[4].strip():
            place = number, start + match.start(2), start + match.end(2)
            yield Statement(match[2], None, *place, Effect.UNSETS if clear else Effect.SETS)
        # which lines are joined, and with what between them, depends on the release
        joined = continues or (joined and line.lstrip(" \t")[:1] in ("", "#"))


def _value(written: str) -> str | None:
    match = _VALUE.fullmatch(written)
    return None if match is None else "".join(part or "" for part in match.groups())
