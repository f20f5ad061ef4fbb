"""Arguments of ours on a command line that somebody else owns, between two arguments that say so.

For files that hold a command line, and for what programs make of such files: comments and blanks get lost on
the way, arguments do not. The kernel passes over a name with a dot whose module it does not know
(unknown_bootoption in init/main.c), and hands nothing of it to init.
"""

from __future__ import annotations

import re

from rocmcfg.model.edit import Edit

BEGIN, END = "rocmcfg.begin", "rocmcfg.end"
# with the blank before it, which goes and comes with it
_OWN = re.compile(rf" ?(?<!\S){re.escape(BEGIN)} [^\n]*?{re.escape(END)}(?!\S)".encode())


def part(arguments: str) -> bytes:
    return f" {BEGIN} {arguments} {END}".encode()


def own(content: bytes) -> bytes | None:
    """What of the content is ours; None where nothing is."""
    found = _OWN.search(content)
    return found[0] if found else None


def put(content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
    """The content with `wanted` as our part of its first line, or without any, and the edit that does it."""
    found = _OWN.search(content)
    start, end = found.span() if found else (len(content.partition(b"\n")[0]),) * 2
    edit = Edit(found[0] if found else b"", wanted or b"")
    return content[:start] + edit.inserted + content[end:], edit


def without(content: bytes) -> bytes:
    """The content without any part of ours."""
    while own(content) is not None:
        content, _ = put(content, None)
    return content


def at_end(line: bytes, ours: bytes | None) -> bytes:
    """A line with `ours`, before the blanks at its end, in place of what it has of ours."""
    line = without(line)
    end = len(line.rstrip())
    return line[:end] + (ours or b"") + line[end:]


def around(text: str) -> tuple[str, str, str]:
    """The text before our arguments, ours without what marks them, and the text after them."""
    content = text.encode()
    found = _OWN.search(content)
    if found is None:
        return text, "", ""
    ours = found[0].decode().strip().removeprefix(BEGIN).removesuffix(END)
    return content[: found.start()].decode(), ours, content[found.end() :].decode()
