"""Two lines of ours at the end of a shell file that somebody else owns: a comment, and an assignment that
adds to what a variable holds, or an element of an array; two more for each further one.

For files that have no directory of drop-ins. The lines are found again by their comment, wherever others have
moved them.
"""

from __future__ import annotations

import re

from rocmcfg.model.edit import Edit, appended

_COMMENT = b"# Written by rocmcfg, with the next line. Undo: sudo rocmcfg rollback\n"
_ASSIGNMENT = rb'(?:(\w+)="\$\{\1:\+\$\1 \}|\w+\[[^]\n]*\]\+=" )[^\n]*(?:\n|\Z)'
_OWN = re.compile(rb"^(?:" + re.escape(_COMMENT) + rb"(?:" + _ASSIGNMENT + rb")?)+", re.MULTILINE)


def lines(name: str, added: str) -> bytes:
    if name.endswith("]"):
        return _COMMENT + f'{name}+=" {added} "\n'.encode()
    return _COMMENT + f'{name}="${{{name}:+${name} }}{added}"\n'.encode()


def own(content: bytes) -> bytes | None:
    """Our lines of the file; None where it has none."""
    found = _OWN.search(content)
    return found[0] if found else None


def put(content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
    """The file with `wanted` as our part of it, or without any, and the edit that makes it so."""
    found = _OWN.search(content)
    if found:
        edit = Edit(found[0], wanted or b"")
        return content[: found.start()] + edit.inserted + content[found.end() :], edit
    edit = Edit(b"", appended(content, wanted) if wanted else b"")
    return content + edit.inserted, edit


def around(text: str) -> tuple[str, str, str]:
    """The text before our lines, our lines, and the text after them; the last two with empty lines in front,
    so that every line keeps its number."""
    content = text.encode()
    found = _OWN.search(content)
    if found is None:
        return text, "", ""
    before, above = content[: found.start()], content.count(b"\n", 0, found.start())
    below = content.count(b"\n", 0, found.end())
    after = b"\n" * below + content[found.end() :]
    return before.decode(), "\n" * above + found[0].decode(), after.decode()


def blanked(text: str) -> str:
    """The text without our lines, with empty ones in their place."""
    return _OWN.sub(lambda found: b"\n" * found[0].count(b"\n"), text.encode()).decode()
