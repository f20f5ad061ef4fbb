"""What a program prints, by its texts: those of a kernel's source, and of the libraries of ROCm."""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|t|j)?([a-zA-Z%])(?:\w{0,4})?")
_ESCAPES = {r"\n": "", r"\t": "\t", r"\"": '"', "\\\\": "\\"}
_LEAST = 10  # characters of a text that tell it from others
_SHARE = 0.4  # of what it matches, that it says itself
_WORDS = re.compile(r"[A-Za-z]{3,}")
_STRING = re.compile(rb"[\t\n\r\x20-\x7e]{10,}")


class Message(NamedTuple):
    """A text that the driver prints, as a pattern; `own` counts its characters without the conversions."""

    pattern: re.Pattern[str]
    own: int
    path: str


class Wordings(ABC):
    """The texts of one release of something that prints. `name` is what the data call the release."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def literals(self) -> Iterator[tuple[str, str]]:
        """Its texts as a C compiler reads them, each with the path of the file that holds it."""

    @functools.cached_property
    def messages(self) -> dict[str, list[Message]]:
        """Every text of several words, by the longest one, in lower case."""
        found: dict[str, list[Message]] = {}
        for text, path in self.literals():
            plain = _CONVERSION.sub(" ", text)
            words = _WORDS.findall(plain)
            if len(words) > 1:
                message = Message(re.compile(_as_pattern(text)), len(plain.strip()), path)
                found.setdefault(max(words, key=len).lower(), []).append(message)
        return found

    def prints(self, line: str, start: int, end: int) -> str:
        """The path of what prints the text of a line from `start` to `end`; of several, that which says most
        by itself. Empty where nothing does."""
        words = {word.lower() for word in _WORDS.findall(line)}
        likely = [one for word in words for one in self.messages.get(word, ()) if one.own >= _LEAST]
        for one in sorted(likely, key=lambda one: -one.own):
            found = one.pattern.search(line)
            if found and found.start() < end and found.end() > start and one.own > _SHARE * len(found[0]):
                return one.path
        return ""


class Library(Wordings):
    """A library as it is installed: its texts lie in it, each ended by a NUL. Names of variables and short
    words, which others print too, are none."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name)
        self.folder = folder

    def literals(self) -> Iterator[tuple[str, str]]:
        for file in sorted(self.folder.rglob("*.so*")):
            content = b"" if file.is_symlink() else file.read_bytes()
            for found in _STRING.finditer(content):
                lines = (
                    found[0].decode().splitlines() if content[found.end() : found.end() + 1] == b"\0" else ()
                )
                yield from ((line, file.name) for line in lines if " " in line.strip() and len(line) >= 16)


def _as_pattern(text: str) -> str:
    """What printf makes of a format, in words that may be there: every conversion stands for any text."""
    for escape, meant in _ESCAPES.items():
        text = text.replace(escape, meant)
    pieces = _CONVERSION.split(text.strip())
    plain = [re.escape(piece) for piece in pieces[::2]]
    kinds = ["%" if kind == "%" else ".*?" if kind == "s" else r"[-\w:.()+/ <>]*?" for kind in pieces[1::2]]
    return "".join(part for pair in zip(plain, [*kinds, ""], strict=True) for part in pair)
