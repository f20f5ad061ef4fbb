"""Read and write bundles: the content of a `knowledge.d` as one file that can be signed, copied to other
hosts, and installed in one step. It is JSON: `{"schema": 1, "name": "site", "version": 7, "files":
{"issues/x.toml": …}}`; of two bundles with the same name the one with the higher version is newer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rocmcfg.host.foreign import Pairs, json_value
from rocmcfg.knowledge.file_names import MOST_OF_A_FILE, is_file
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

BEFORE = ".before"  # suffix of the bundle that the present one replaced
MOST_VERSION = 99_991_231_235_959  # an export uses its time as the version: YYYYMMDDhhmmss
_NAME = regex(r"[a-z0-9][a-z0-9-]{0,40}")


class Broken(RocmcfgError):
    def __init__(self, place: str, why: str) -> None:
        summary = f"{place} is not a usable bundle of knowledge"
        hint = "export it again with `rocmcfg knowledge export`"
        super().__init__(error("RC1031", summary, detail=why, location=place, hint=hint))


class Bundle(NamedTuple):
    """A bundle. `files` are TOML texts by their name in knowledge.d."""

    name: str
    version: int
    files: Mapping[str, str]

    @property
    def encoded(self) -> dict[str, bytes]:
        return {name: text.encode() for name, text in self.files.items()}

    def dump(self) -> bytes:
        document = {"schema": 1, "name": self.name, "version": self.version, "files": dict(self.files)}
        return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def _table(pairs: Pairs) -> dict[str, Any]:
    """Return a table. Raises ValueError for a duplicate key, of which readers take different ones."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key!r} occurs twice")
        table[key] = value
    return table


def parse(content: bytes, place: str) -> Bundle:
    """Return the bundle of a file. Raises Broken."""
    try:
        document = json_value(content, _table)
        if not isinstance(document, dict) or document.get("schema") != 1:
            raise Broken(place, "it is not of schema 1")
        name, version, files = (document.get(key) for key in ("name", "version", "files"))
    except ValueError as problem:
        raise Broken(place, str(problem)) from problem
    if not isinstance(name, str) or not is_name(name):
        raise Broken(place, "its name is not valid: use small letters, digits and hyphens")
    if type(version) is not int or version < 1:
        raise Broken(place, "its version is not a number above 0")
    if version > MOST_VERSION:
        raise Broken(place, f"its version is above {MOST_VERSION}, so no later one could be newer")
    if not isinstance(files, dict) or not files:
        raise Broken(place, "it holds no files")
    for file, text in files.items():
        if not is_file(file) or not isinstance(text, str):
            raise Broken(place, f"{file!r} is not a file of knowledge.d")
        try:
            size = len(text.encode())
        except UnicodeEncodeError as problem:  # JSON can name half of a character
            raise Broken(place, f"{file}: {problem}") from problem
        if size > MOST_OF_A_FILE:
            raise Broken(place, f"{file} is larger than {MOST_OF_A_FILE >> 20} MiB")
    return Bundle(name, version, files)
