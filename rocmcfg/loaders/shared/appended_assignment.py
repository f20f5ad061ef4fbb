"""Append two lines to a shell file that somebody else owns: a comment, by which the lines are found again
even if they were moved, and an assignment that adds to the value of a variable, or of an element of an array.
Each further variable gets two more lines. During a trial a variable of the boot loader is last in the added
text; it is not applied, and does not count as our part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.loaders.shared import templates
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.edit import Edit, appended
from rocmcfg.model.regex import regex

COMMENT = templates.appended_comment().encode()
_ASSIGNMENT = rb'(?:(\w+)="\$\{\1:\+\$\1 \}|\w+\[[^]\n]*\]\+=" )[^\n]*(?:\n|\Z)'
_VARIABLE = regex(rb' ?\\\$\w+(?="\n?\Z)')
_OWN = regex(rb"^(?:" + re.escape(COMMENT) + rb"(?:" + _ASSIGNMENT + rb")?)+", re.MULTILINE)


def lines(name: str, added: str) -> bytes:
    template = templates.appended_element_sh if name.endswith("]") else templates.appended_assignment_sh
    return template(name=name, added=added).encode()


def assignment(name: str, added: str) -> str:
    """Return a line of shell that appends to the value of a variable."""
    return templates.assignment_sh(name=name, added=added)


def with_arguments(text: str, name: str, kargs: Sequence[str]) -> str:
    content, _ = put(text.encode(), lines(name, " ".join(kargs)))
    return content.decode()


def own(content: bytes) -> bytes | None:
    """Return our lines of the file with every copy of them; None where there are none except a trial's."""
    return b"".join(_applied(match[0]) for match in _OWN.finditer(content)) or None


def _applied(part: bytes) -> bytes:
    """Return our lines without a trial's variable; empty where they hold nothing else."""
    left = _VARIABLE.sub(b"", part)
    return left if left == part or not left.rstrip().endswith(b' }"') else b""


def with_variable(part: bytes | None, name: str, variable: str) -> bytes:
    """Return our lines with a variable of the boot loader after the applied arguments, escaped so that the
    shell does not expand it."""
    if part is None:
        return lines(name, f"\\{variable}")
    before, quote, end = part.rpartition(b'"')
    return before + f" \\{variable}".encode() + quote + end


def without_variable(text: str) -> str:
    match = _OWN.search(text.encode())
    return text.replace(match[0].decode(), _applied(match[0]).decode() or "\n\n") if match else text


def put(content: bytes, wanted: bytes | None) -> tuple[bytes, Edit]:
    matches = list(_OWN.finditer(content))
    if matches:
        start, end = matches[0].start(), matches[-1].end()
        edit = Edit(content[start:end], (wanted or b"") + _OWN.sub(b"", content[start:end]))
        return content[:start] + edit.inserted + content[end:], edit
    edit = Edit(b"", appended(content, wanted) if wanted else b"")
    return content + edit.inserted, edit


def continued(text: str, path: str) -> Iterator[Diagnostic]:
    """Yield an error where the line before ours continues on the next line."""
    last = around(text)[0].removesuffix("\n").rpartition("\n")[2]
    if re.search(r"(?<!\\)(?:\\\\)*\\\Z", last) and not re.search(r"(?:^|\s)#", last):
        summary = "the line before rocmcfg's ends with a backslash, which would join the two"
        yield error("RC3119", summary, location=path, hint="remove the backslash")


def around(text: str) -> tuple[str, str, str]:
    """Return the text before our lines, our lines, and the text after them; each line keeps its number."""
    content = text.encode()
    match = _OWN.search(content)
    if match is None:
        return text, "", ""
    before, above = content[: match.start()], content.count(b"\n", 0, match.start())
    below = content.count(b"\n", 0, match.end())
    after = b"\n" * below + content[match.end() :]
    return before.decode(), "\n" * above + match[0].decode(), after.decode()


def blanked(text: str) -> str:
    """Return the text with empty lines in place of ours."""
    return _OWN.sub(lambda match: b"\n" * match[0].count(b"\n"), text.encode()).decode()
