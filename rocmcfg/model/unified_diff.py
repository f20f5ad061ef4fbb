"""Compare two texts in the format of `diff -u`, which patch(1) reads."""

from __future__ import annotations

from collections.abc import Sequence

_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def unified_diff(
    before: Sequence[str], after: Sequence[str], names: tuple[str, str], *, remark: str = "", context: int = 3
) -> str:
    """Return the diff of two texts, which are their lines; empty if they are equal. `remark` stands after the
    second of the `names`."""
    import difflib

    old, new = map(quoted, names)
    lines = difflib.unified_diff(before, after, old, f"{new}{remark}", n=context)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def quoted(name: str) -> str:
    """Return the name of a file as GNU diff and patch spell it: in double quotes if it has characters that do
    not print. A line break in it would begin a diff of another file."""
    if name.isprintable():
        return name
    return '"' + "".join(map(_escaped, name)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES or character.isprintable():
        return _ESCAPES.get(character, character)
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
