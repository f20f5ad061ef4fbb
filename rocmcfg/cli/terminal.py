"""Determine the terminal's width, its characters, and whether it shows colours and links; wrap texts to
it."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import TextIO

from rocmcfg.host.nowhere import open_nowhere
from rocmcfg.model.diagnostic import cut
from rocmcfg.model.regex import regex

LEAST = 20  # columns of the last cell of a row that is wrapped
_NARROW, _WIDTH, _WIDE = 60, 80, 100  # columns: at least, without a terminal, at most
# Replacements on a terminal without these characters; any other missing character becomes a question mark.
_PLAIN = {"→": "->", "×": "x", "…": "...", "≥": ">=", "≤": "<=", "–": "-", "—": "-", "’": "'"}
# Terminals that show links (gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda, OSC 8), known by the
# variables that they set, as in jamestalmage/supports-hyperlinks.
_LINKING = ("VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "DOMTERM")
_LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby")
_FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE")
_WORD = 255  # characters; a longer word is cut
_ENDLESS = regex(rf"\S{{{_WORD + 1},}}")
# A command in backticks, or behind a colon up to the end of a text
_QUOTED = regex(r"`[^`\n]*`|(?<=: )(?:sudo )?rocmcfg [a-z-]+(?:[^`;,\n]* -[^`;,\n]*)?$")
# A command, not a line of a file or a log: what stays on one line, and the rest
_PROGRAMS = "bootc|cat|curl|dmesg|echo|env|export|grep|journalctl|ldconfig|ldd|ls|lsmod|pip|python3|vainfo"
_LONG = regex(rf"(`?(?:sudo )?rocmcfg \S+|`sudo \S+|`(?:{_PROGRAMS})(?= ))(.*)")
_BLANK = regex(r"'[^']*'|\"[^\"]*\"| ")  # a shell takes a backslash in quotes for a character
_SHORT = 42  # characters; a longer command may be continued on the next line, behind a backslash
# Characters for private use
_KEPT = "\ue000"  # in place of the blanks in a short command
_CONTINUES = "\ue001\ue001"  # before a blank in a long one: as wide as " \\", which ends a line there
_ADDRESS = regex(r"https://[A-Za-z0-9._~:/?#@!$&*+=%-]*[A-Za-z0-9/]")


def open_streams() -> None:
    """Prepare the standard streams. A stream that was closed at the start (`>&-`) is None, and the next file
    opened would get its number, so /dev/null is opened instead. A terminal in the C locale gets ASCII; Python
    would write UTF-8 there (PEP 540), and sets LC_CTYPE for that (PEP 538)."""
    ctype = os.environ.get("LC_CTYPE", "").replace("C.UTF-8", "")
    locale = os.environ.get("LC_ALL") or ctype or os.environ.get("LANG") or "C"
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(open_nowhere(), mode))
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            plain = stream.isatty() and locale in ("C", "POSIX")
            stream.reconfigure(encoding="ascii" if plain else None, errors="rocmcfg")


def _replaced(problem: UnicodeError) -> tuple[str, int]:
    assert isinstance(problem, UnicodeEncodeError)
    return "".join(_PLAIN.get(c, "?") for c in problem.object[problem.start : problem.end]), problem.end


codecs.register_error("rocmcfg", _replaced)


def spelled(text: str, stream: TextIO) -> str:
    """Return a text as the stream will show it, so that its width is known."""
    encoding = stream.encoding or "utf-8"
    return text if text.isascii() else text.encode(encoding, "rocmcfg").decode(encoding)


def width(stream: TextIO) -> int:
    try:
        return min(max(os.get_terminal_size(stream.fileno()).columns, _NARROW), _WIDE)
    except (OSError, ValueError):  # no terminal
        return _WIDTH


def is_styled(stream: TextIO) -> bool:
    """Return whether a stream gets colours. NO_COLOR (no-color.org) counts first, then FORCE_COLOR
    (force-color.org) and CLICOLOR_FORCE (bixense.com/clicolors), which ask for them in a pipe as well."""
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "") not in ("", "0") for name in _FORCING):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def linked(text: str) -> str:
    """Return a text with its addresses as links, if the terminal shows links. A pager may not."""
    links = os.environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS or any(map(os.environ.get, _LINKING))
    if "https://" not in text or not links or not sys.stdout.isatty() or not is_styled(sys.stdout):
        return text
    return _ADDRESS.sub(lambda at: f"\x1b]8;;{at[0]}\x1b\\{at[0]}\x1b]8;;\x1b\\", text)


def _unbroken(quoted: re.Match[str]) -> str:
    if len(quoted[0]) <= _SHORT:
        return quoted[0].replace(" ", _KEPT)
    command = _LONG.fullmatch(quoted[0])
    if command is None:
        return quoted[0]
    rest = _BLANK.sub(
        lambda part: f"{_CONTINUES} " if part[0] == " " else part[0].replace(" ", _KEPT), command[2]
    )
    return command[1].replace(" ", _KEPT) + rest


def wrap(text: str, first: str = "", rest: str = "", stream: TextIO | None = None) -> list[str]:
    """Return the lines of a text, with these indents. A short command stays on one line; a long one is
    continued behind a backslash, so that it can be copied. A word that is too long after its indent moves to
    the left, because a terminal would break it; a word longer than any path is cut."""
    import textwrap

    stream = stream or sys.stdout
    most = width(stream)
    text = spelled(_ENDLESS.sub(lambda word: cut(word[0], _WORD), text), stream)
    lines = textwrap.wrap(
        _QUOTED.sub(_unbroken, text),
        most,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = [re.sub(f"{_CONTINUES}$", r" \\", line) for line in lines]
    lines = [line.replace(_KEPT, " ").replace(_CONTINUES, "") for line in lines]
    return [
        " " * max(2, most - len(line.strip())) + line.strip() if number and len(line) > most else line
        for number, line in enumerate(lines)
    ]


def wrapped_at_end(row: Sequence[str], room: int) -> list[list[str]]:
    """Return the lines of a row of a table whose last cell has `room` columns."""
    import textwrap

    first, *rest = textwrap.wrap(row[-1], room, break_on_hyphens=False) or [""]
    return [[*row[:-1], first], *([""] * (len(row) - 1) + [line] for line in rest)]
