"""Read Environment= and DefaultEnvironment= in units and system.conf of systemd (systemd.syntax(7),
systemd.exec(5); src/core/load-fragment.c, `config_parse_environ`; src/basic/extract-word.c)."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.languages import Effect, Statement, is_damaged, lines_of, without_values
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_SECTIONS = {"Environment": "Service", "DefaultEnvironment": "Manager", "UnsetEnvironment": "Service"}
_BLANKS = " \t\n\r"


class Directive(NamedTuple):
    section: str
    key: str
    value: str
    line: int


def directives(text: str) -> Iterator[Directive]:
    """Yield each directive with its continued lines joined by a blank, without comments between those
    lines."""
    section, kept, first = "", "", 0
    for number, _, line in lines_of(text):
        bare = line.strip(" \t\r")
        if bare[:1] in ("#", ";"):
            continue
        if not kept:
            first = number
        if bare.endswith("\\"):
            kept += f"{line[: line.rstrip().rindex(chr(92))]} "
            continue
        whole, kept = (kept + line).strip(_BLANKS), ""
        if whole.startswith("[") and whole.endswith("]"):
            section = whole[1:-1]
            continue
        key, equals, value = whole.partition("=")
        if equals:
            yield Directive(section, key.strip(), value.strip(_BLANKS), first)


def read(text: str) -> Iterator[Statement]:
    statements = _statements(text)
    return without_values(statements) if is_damaged(text) else statements


def _statements(text: str) -> Iterator[Statement]:
    for directive in directives(text):
        if _SECTIONS.get(directive.key) != directive.section:
            continue
        if not directive.value and directive.key != "UnsetEnvironment":
            yield Statement("", "", directive.line, 0, 0, Effect.FORGETS)
        for word in _words(directive.value):
            name, equals, value = word.partition("=")
            if not _NAME.fullmatch(name):
                continue
            if directive.key == "UnsetEnvironment":
                yield Statement(name, None, directive.line, 0, 0, Effect.UNSETS)
            elif equals:
                yield Statement(name, _without_specifiers(value), directive.line, 0, 0)


def _words(text: str) -> Iterator[str]:
    """Yield the words up to the first unclosed quote; the text after it is ignored. In a word with a
    backslash, whose meaning only the manager knows, a single `%` marks the value as unknown."""
    at = 0
    while at < len(text):
        if text[at] in _BLANKS:
            at += 1
            continue
        word, quote = "", ""
        while at < len(text) and (quote or text[at] not in _BLANKS):
            character = text[at]
            if character == "\\":
                word += "%\\" + text[at + 1 : at + 2]
                at += 1
            elif character == quote:
                quote = ""
            elif not quote and character in "'\"":
                quote = character
            else:
                word += character
            at += 1
        if quote:
            return
        yield word


def _without_specifiers(value: str) -> str | None:
    parts = value.split("%%")
    return None if any("%" in part for part in parts) else "%".join(parts)
