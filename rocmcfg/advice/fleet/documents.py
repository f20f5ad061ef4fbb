"""Find the documents in a text, the host that each of them describes, and those that cannot be used."""

from __future__ import annotations

import calendar
import json
import os
import re
from collections.abc import Iterator
from typing import Any, Literal

from rocmcfg.model.shape import NamedTuple

SCHEMA = 1  # the version of the documents that this rocmcfg reads
COMMANDS = ("verify", "status", "doctor", "facts")
Kind = Literal[
    "unreadable", "too large", "empty", "broken", "newer", "older", "other command", "foreign", "duplicate"
]
Document = dict[str, Any]
_TIME = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_LONGEST = 255  # characters of a host's name: as many as a file name has
_decode = json.JSONDecoder().raw_decode
_BLANKS = " \t\r\n\x1e,"  # \x1e begins a text in a sequence (RFC 7464)


class Unused(NamedTuple):
    """A document that was not used, or a file or folder that could not be read."""

    kind: Kind
    file: str
    host: str
    reason: str


def documents(content: bytes) -> Iterator[Any]:
    """Yield the values of a JSON text, of JSON lines, or of texts that follow each other; a list stands for
    its elements. Raises ValueError where the rest is not JSON."""
    text = content.decode("utf-8-sig")
    at, end = 0, len(text)
    while True:
        while at < end and text[at] in _BLANKS:
            at += 1
        if at == end:
            return
        try:
            value, at = _decode(text, at)
        except RecursionError:
            raise ValueError("its values are nested too deeply") from None
        if isinstance(value, list):
            yield from value
        else:
            yield value


def kind_of(document: Any) -> tuple[Kind | None, str]:
    """Return why a document cannot be used, and in words; None for a document that can."""
    if not isinstance(document, dict):
        return "foreign", "it is not a document of rocmcfg"
    version, command = document.get("schema_version"), document.get("command")
    if type(version) is not int or not isinstance(command, str):
        return "foreign", "it is not a document of rocmcfg"
    if version > SCHEMA:
        return "newer", f"its schema_version is {version}, this rocmcfg reads {SCHEMA}"
    if version < SCHEMA:
        return "older", f"its schema_version is {version}, this rocmcfg reads {SCHEMA}"
    if command not in COMMANDS:
        return "other command", f"it is a document of `{command[:40]}`"
    return None, ""


def host_in(document: Any) -> str:
    """Return the field `host` of a document, which a collector may add to it; empty without one."""
    name = document.get("host") if isinstance(document, dict) else None
    return shortened(name.strip()) if isinstance(name, str) else ""


def written_in(document: Any) -> int:
    """Return the field `written` of a document, in nanoseconds since 1970, if it is a time in UTC such as
    2026-11-29T12:00:00Z; 0 without one."""
    text = document.get("written") if isinstance(document, dict) else None
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return 0
    numbers = tuple(map(int, re.findall("[0-9]+", text)))
    try:
        return calendar.timegm((*numbers, 0, 0, 0)) * 10**9 if numbers[0] >= 2000 else 0
    except ValueError:  # there is no such day
        return 0


def host_of_file(path: str, folder: str) -> str:
    """Return the name of the host that the documents of a file describe: the first folder below the named
    one, or the name of the file without `.json` and `.COMMAND`. A file that is called COMMAND.json has the
    name of its folder. Empty for the standard input."""
    if folder or path == "-":
        return shortened(folder)
    parent, name = os.path.split(path)
    name = name.removesuffix(".json")
    if name in COMMANDS:
        return shortened(os.path.basename(os.path.abspath(parent)))
    stem, dot, last = name.rpartition(".")
    return shortened(stem if dot and stem and last in COMMANDS else name)


def shortened(text: str, most: int = _LONGEST) -> str:
    """Return a text of at most so many characters, all of which can be printed: halves of a character
    (surrogates) are accepted by no file, and marks of direction make a name of another one."""
    if len(text) > most:
        text = f"{text[: most - 1]}…"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else " " if each.isspace() else "\ufffd" for each in text)
