"""Reads the assignments of a file that a shell sources, without running it.

Covers what /etc/default/grub and its drop-ins hold: `NAME=value` with the three kinds of quoting, `$NAME`,
`${NAME}`, `${NAME:+word}`, `${NAME:-word}`, `export`. A line with anything else (commands, conditions,
`$(…)`) makes the variables that it assigns unknown, and the caller looks elsewhere instead of guessing.
Source of the rules: POSIX.1-2024, 2.2 Quoting, 2.6.2 Parameter Expansion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_ASSIGNMENT = re.compile(rf"^\s*(?:export\s+)?({_NAME})=")
_EXPANSION = re.compile(
    rf"\$(?:({_NAME})|\{{({_NAME})(?:(:?[-+])((?:[^{{}}$`\\\"]|\$\{{?{_NAME}\}}?)*))?\}})"
)
_OPENS = re.compile(r"^\s*(?:if|case|for|while|until)\b|^\s*\{|\)\s*\{\s*$")
_CLOSES = re.compile(r"(?:^|;)\s*(?:fi|esac|done|\})\s*(?:;.*)?$")
_OPAQUE = re.compile(r"^\s*(?:\.|source|eval)\s|<<")
_ANY_ASSIGNMENT = re.compile(rf"(?:^|[\s;&|{{(])({_NAME})\+?=")


class NotPlain(ValueError):
    """The text needs a real shell."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a value and the `file:line` that wrote it."""

    text: str
    source: str


Value = tuple[Segment, ...]


@dataclass(slots=True)
class Environment:
    """Variables after some files were read. A name in `unknown` has a value that only a shell can tell."""

    values: dict[str, Value] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    opaque: str = ""

    def read(self, path: str, text: str) -> None:
        depth = 0
        for number, line in _logical_lines(text):
            where = f"{path}:{number}"
            code = _uncommented(line)
            if _OPAQUE.search(code):  # another file or a here-document: it may assign anything
                self.values.clear()
                self.opaque = where
            depth += bool(_OPENS.search(code))
            conditional = depth > 0
            depth -= bool(depth and _CLOSES.search(code))
            match = None if conditional else _ASSIGNMENT.match(line)
            if match is None:
                for name in _ANY_ASSIGNMENT.findall(code):
                    self._forget(name, where)
                continue
            name = match.group(1)
            try:
                value = self._word(line[match.end() :], where)
            except NotPlain:
                for assigned in {name, *_ANY_ASSIGNMENT.findall(code)}:
                    self._forget(assigned, where)
                continue
            self.values[name] = value
            self.unknown.pop(name, None)

    def _forget(self, name: str, where: str) -> None:
        self.values.pop(name, None)
        self.unknown[name] = where

    def text(self, name: str) -> str | None:
        """The value as one string; None where it is unknown. An unset variable is empty."""
        if name not in self.values and (name in self.unknown or self.opaque):
            return None
        return "".join(segment.text for segment in self.values.get(name, ()))

    def _word(self, text: str, where: str) -> Value:
        """One shell word; what follows it must be nothing, a comment or a semicolon."""
        segments: list[Segment] = []
        at = 0
        while at < len(text):
            character = text[at]
            if character == "'":
                end = text.find("'", at + 1)
                if end < 0:
                    raise NotPlain
                segments.append(Segment(text[at + 1 : end], where))
                at = end + 1
            elif character == '"':
                at = self._double_quoted(text, at + 1, segments, where)
            elif character in " \t;":
                _nothing_follows(text[at:])
                break
            else:
                at = self._bare(text, at, segments, where)
        return tuple(segments)

    def _double_quoted(self, text: str, at: int, segments: list[Segment], where: str) -> int:
        while at < len(text):
            character = text[at]
            if character == '"':
                return at + 1
            if character == "\\" and at + 1 < len(text):
                escaped = text[at + 1]
                kept = escaped if escaped in '$`"\\' else "\\" + escaped
                segments.append(Segment(kept, where))
                at += 2
            elif character == "$":
                at = self._expand(text, at, segments, where)
            elif character == "`":
                raise NotPlain
            else:
                segments.append(Segment(character, where))
                at += 1
        raise NotPlain  # the quote is never closed

    def _bare(self, text: str, at: int, segments: list[Segment], where: str) -> int:
        character = text[at]
        if character == "$":
            return self._expand(text, at, segments, where)
        if character == "\\" and at + 1 < len(text):
            segments.append(Segment(text[at + 1], where))
            return at + 2
        if character in "`()<>|&~":
            raise NotPlain
        segments.append(Segment(character, where))
        return at + 1

    def _expand(self, text: str, at: int, segments: list[Segment], where: str) -> int:
        match = _EXPANSION.match(text, at)
        if match is None:
            raise NotPlain
        name, operator, word = match.group(1) or match.group(2), match.group(3), match.group(4)
        if name not in self.values and (name in self.unknown or self.opaque):
            raise NotPlain
        value = self.values.get(name, ())
        is_set = bool("".join(s.text for s in value)) if operator and ":" in operator else name in self.values
        if operator is None or (operator.endswith("-") and is_set):
            segments.extend(value)
        elif operator.endswith("-") or is_set:
            self._expand_word(word or "", segments, where)
        return match.end()

    def _expand_word(self, word: str, segments: list[Segment], where: str) -> None:
        at = 0
        while at < len(word):
            if word[at] == "$":
                at = self._expand(word, at, segments, where)
            else:
                segments.append(Segment(word[at], where))
                at += 1


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with `\\`-newline joined and quotes closed, each with the number it starts at."""
    lines: list[tuple[int, str]] = []
    pending, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not pending:
            start = number
        joined = pending + line
        if line.endswith("\\") and not line.endswith("\\\\"):
            pending = joined[:-1]
            continue
        if _quote_open(joined):
            pending = joined + "\n"
            continue
        lines.append((start, joined))
        pending = ""
    if pending:
        lines.append((start, pending))
    return [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]


def _quote_open(line: str) -> bool:
    if line.lstrip().startswith("#"):
        return False
    quote = ""
    previous = " "
    skip = False
    for character in line:
        if skip:
            skip = False
        elif character == "\\" and quote != "'":
            skip = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#" and previous.isspace():
            break
        previous = character
    return bool(quote)


def _nothing_follows(rest: str) -> None:
    stripped = rest.strip().lstrip(";").strip()
    if stripped and not stripped.startswith("#"):
        raise NotPlain


def _uncommented(line: str) -> str:
    return re.sub(r"(^|\s)#.*$", "", line)
