"""Escape the characters of a text that a terminal would obey or hide."""

from __future__ import annotations

import json as json_module
import os
import re
import unicodedata

from rocmcfg.model.regex import regex

# rocmcfg's own colours carry a random word, which distinguishes them from colours in a text.
OURS = os.urandom(8).hex()
_COLOUR = regex(f"\x1b{OURS}(\\[[0-9]+m)")
NOT_ASCII_TEXT = regex(r"[^\t\n -~]")
_BLANKS = "Zs"  # the Unicode category of blanks, which hide nothing


def clean(text: str) -> str:
    """Return a text that may go to a terminal: an escape character becomes the four characters `\\x1b`."""
    texts = _COLOUR.split(text)  # every second one is one of rocmcfg's colours
    texts[::2] = [NOT_ASCII_TEXT.sub(_shown, piece) for piece in texts[::2]]
    texts[1::2] = [f"\x1b{colour}" for colour in texts[1::2]]
    return "".join(texts)


def _shown(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode() if _is_unseen(character[0]) else character[0]


def shown_in_json(character: re.Match[str]) -> str:
    """Return a character as a JSON document holds it: escaped if a terminal might obey or hide it."""
    return json_module.dumps(character[0])[1:-1] if _is_unseen(character[0]) else character[0]


def _is_unseen(character: str) -> bool:
    """Return whether a terminal may obey the character, reorder the text around it, or show nothing.
    `str.isprintable` refuses the Unicode categories of controls (Cc), formats (Cf, which contains the marks
    of direction), surrogates, private and unassigned characters, and separators."""
    return not character.isprintable() and unicodedata.category(character) != _BLANKS
