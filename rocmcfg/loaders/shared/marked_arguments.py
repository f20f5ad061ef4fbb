"""Write our arguments into a foreign command line, between two arguments that mark them.

Programs that process such a file drop comments, but not arguments. The kernel ignores a name with a dot whose
module it does not know (unknown_bootoption in init/main.c), and does not pass it on to init.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.loaders.shared.menu import Entry
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.edit import Edit
from rocmcfg.model.kargs import Karg, join, split
from rocmcfg.model.regex import regex

BEGIN, END = "rocmcfg.begin", "rocmcfg.end"
# With the blank before it, which belongs to it. A quote around the whole line may follow it.
_OWN = regex(rf" ?(?<!\S){re.escape(BEGIN)} [^\n]*?{re.escape(END)}(?![^\s\"'])".encode())

_MARK = regex(rf"(?<!\S)(?:{re.escape(BEGIN)}|{re.escape(END)})(?![^\s\"'])".encode())

# comments are skipped by kernel-install (90-loaderentry.install of systemd 257), ukify and mkinitcpio
_FIRST = regex(rb"(?:[ \t]*#[^\n]*\n)*[^\n]*")


def part(arguments: str) -> bytes:
    return f" {BEGIN} {arguments} {END}".encode()


def own(content: bytes) -> bytes | None:
    """Return the part of the content that is ours; None where there is none. A single mark shows that our
    part was torn."""
    match = _OWN.search(content) or _MARK.search(content)
    return match[0] if match else None


def put(content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
    """Return the content with `wanted` in our part, or on its first line that is not a comment, and the
    edit."""
    match = _OWN.search(content)
    start, end = match.span() if match else (_FIRST.match(content).end(),) * 2  # type: ignore[union-attr]
    edit = Edit(match[0] if match else b"", wanted or b"")
    return content[:start] + edit.inserted + content[end:], edit


def at_end(line: bytes, ours: bytes | None) -> bytes:
    """Return a line with `ours` in place of our present part, or else before the blanks at its end."""
    match, end = _OWN.search(line), len(line.rstrip())
    if match is not None:
        return line[: match.start()] + (ours or b"") + _OWN.sub(b"", line[match.end() :])
    return line[:end] + (ours or b"") + line[end:]


def around(text: str) -> tuple[str, str, str]:
    """Return the text before our arguments, our arguments without their marks, and the text after them."""
    content = text.encode()
    match = _OWN.search(content)
    if match is None:
        return text, "", ""
    ours = match[0].decode().strip().removeprefix(BEGIN).removesuffix(END)
    return content[: match.start()].decode(), ours, content[match.end() :].decode()


def of_others(kargs: Sequence[Karg]) -> tuple[Karg, ...]:
    """Return the foreign arguments of a command line; none where one mark is missing, since they cannot be
    identified then."""
    before, _, after = around(join(kargs))
    others = (*split(before), *split(after))
    return () if any(karg.text in (BEGIN, END) for karg in others) else others


def torn(entries: Iterable[Entry]) -> Iterator[Diagnostic]:
    """Yield an error for each entry with only one of the two marks, in which our arguments cannot be
    identified."""
    for entry in entries:
        marks = [karg for karg in entry.kargs if karg.text in (BEGIN, END)]
        if len(marks) % 2:
            gone, where = (END, "after") if marks[-1].text == BEGIN else (BEGIN, "before")
            yield error(
                "RC3132",
                f"boot entry “{entry.title}” has {marks[-1].text} but not {gone}, so rocmcfg's arguments in "
                "it cannot be identified",
                location=marks[-1].source,
                hint=f"write {gone} there again, {where} the arguments that rocmcfg wrote",
            )
