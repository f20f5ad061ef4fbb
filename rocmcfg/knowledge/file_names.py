"""Names and maximum sizes of the files of a `knowledge.d`, and so of a bundle."""

from __future__ import annotations

from rocmcfg.model.regex import regex

TABLES = ("parameters", "parameter_notes", "environment", "gpus")  # files of rows, with .toml
MOST_OF_A_FILE = 1 << 20  # bytes
MOST_OF_A_BUNDLE = 16 << 20  # bytes
_FILE = regex(rf"issues/[a-z0-9_]+(?:-[a-z0-9_]+)*\.toml|(?:{'|'.join(TABLES)})\.toml")


def is_file(name: str) -> bool:
    """Return whether a file of this name, relative to the folder, is read."""
    return _FILE.fullmatch(name) is not None
