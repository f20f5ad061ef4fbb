"""Words that the owner of a host wrote into GRUB's defaults, and those files without them. Only a value that
stands in one assignment on one line is changed, and of it whole words alone: whatever a shell might read
otherwise stays as it is."""

from __future__ import annotations

from collections.abc import Collection

from rocmcfg.model.edit import Moved
from rocmcfg.model.regex import regex
from rocmcfg.model.spelling import SAFE_VALUE

_ASSIGNMENT = regex(
    r"[ \t]*(?:export[ \t]+)?(?P<name>GRUB_CMDLINE_LINUX(?:_DEFAULT)?)="
    r"(?:\"(?P<double>[^\"\\`]*)\"|'(?P<single>[^']*)'|(?P<bare>[A-Za-z0-9._,:@%+=/-]+))"
    r"[ \t]*;?[ \t]*(?:#.*)?"
)
_WORD = regex(r"[^ \t]+")


def problem(content: bytes, line: int, word: str) -> str:
    """Say why a word cannot be taken out of a line, which is counted from 1; empty if it can."""
    text = _line(content, line)
    match = _ASSIGNMENT.fullmatch(text)
    if match is None:
        return "its line is not one plain assignment of GRUB_CMDLINE_LINUX or GRUB_CMDLINE_LINUX_DEFAULT"
    if not SAFE_VALUE.match(word) or word not in _WORD.findall(match[match.lastgroup or 0]):
        return "it is quoted, or put together by a shell"
    return ""


def without(content: bytes, line: int, words: Collection[str]) -> tuple[bytes, Moved]:
    """Return the file without these words in a line, for which `problem` says nothing."""
    lines = content.split(b"\n")
    text = _line(content, line)
    match = _ASSIGNMENT.fullmatch(text)
    assert match is not None, text  # the caller has asked
    start, end = match.span(match.lastgroup or 0)
    value, taken = text[start:end], list[str]()
    for word in reversed(list(_WORD.finditer(value))):
        if word[0] in words:
            taken.insert(0, word[0])
            before, after = value[: word.start()], value[word.end() :]
            value = before.rstrip(" \t") + after if before.strip(" \t") else before + after.lstrip(" \t")
    lines[line - 1] = (text[:start] + value + text[end:]).encode("utf-8", "surrogateescape")
    return b"\n".join(lines), Moved(match["name"], tuple(taken))


def _line(content: bytes, line: int) -> str:
    return content.split(b"\n")[line - 1].decode("utf-8", "surrogateescape")
