"""The terminal: how wide it is, which characters it has, and whether it takes colours and links."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO

from rocmcfg.model.diagnostic import cut
from rocmcfg.model.regex import regex

_NARROW, _WIDTH, _WIDE = 60, 80, 100  # columns, at least, where there is no terminal, and at most
# For a terminal without these characters; what else it does not have becomes a question mark.
_PLAIN = {"→": "->", "×": "x", "…": "...", "≥": ">=", "≤": "<=", "–": "-", "—": "-", "’": "'"}
# Terminals that take links: gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda (OSC 8), with the
# variables that they set; jamestalmage/supports-hyperlinks goes by them too
_LINKING = ("VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "DOMTERM")
_LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby")
_WORD = 255  # characters of one that is shown whole
_ENDLESS = regex(rf"\S{{{_WORD + 1},}}")
_ADDRESS = regex(r"https://[A-Za-z0-9._~:/?#@!$&*+=%-]*[A-Za-z0-9/]")


def open_streams() -> None:
    """A stream that was closed at the start (`>&-`) is None, and the next file to be opened would get its
    number: /dev/null takes the place of both. A terminal of the C locale gets ASCII, although Python would
    write UTF-8 there (PEP 540), and sets LC_CTYPE for that itself (PEP 538)."""
    ctype = os.environ.get("LC_CTYPE", "").replace("C.UTF-8", "")
    locale = os.environ.get("LC_ALL") or ctype or os.environ.get("LANG") or "C"
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            plain = stream.isatty() and locale in ("C", "POSIX")
            stream.reconfigure(encoding="ascii" if plain else None, errors="rocmcfg")


def _replaced(problem: UnicodeError) -> tuple[str, int]:
    assert isinstance(problem, UnicodeEncodeError)
    return "".join(_PLAIN.get(c, "?") for c in problem.object[problem.start : problem.end]), problem.end


codecs.register_error("rocmcfg", _replaced)


def spelled(text: str, stream: TextIO) -> str:
    """As the stream will show it: a line that is laid out keeps its width."""
    encoding = stream.encoding or "utf-8"
    return text if text.isascii() else text.encode(encoding, "rocmcfg").decode(encoding)


def width(stream: TextIO) -> int:
    try:
        return min(max(os.get_terminal_size(stream.fileno()).columns, _NARROW), _WIDE)
    except (OSError, ValueError):  # no terminal
        return _WIDTH


def is_styled(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def linked(text: str) -> str:
    """With its addresses as links, where the terminal is one that takes them."""
    links = os.environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS or any(map(os.environ.get, _LINKING))
    if "https://" not in text or not links or not is_styled(sys.stdout):
        return text
    return _ADDRESS.sub(lambda at: f"\x1b]8;;{at[0]}\x1b\\{at[0]}\x1b]8;;\x1b\\", text)


def wrap(text: str, first: str = "", rest: str = "", stream: TextIO | None = None) -> list[str]:
    """The lines of a text, behind these indents. A word that is too long behind its indent moves to the left,
    since a terminal would break it; one that is longer than any path is cut."""
    import textwrap

    stream = stream or sys.stdout
    most = width(stream)
    lines = textwrap.wrap(
        spelled(_ENDLESS.sub(lambda word: cut(word[0], _WORD), text), stream),
        most,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [
        " " * max(2, most - len(line.strip())) + line.strip() if number and len(line) > most else line
        for number, line in enumerate(lines)
    ]
