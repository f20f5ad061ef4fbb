"""Reads the assignments of a file that a shell sources, without running it.

Covers what /etc/default/grub and its drop-ins hold: `NAME=value` with the three kinds of quoting, `$NAME`,
`${NAME}`, `${NAME:+word}`, `${NAME:-word}`, `export`. It may say that a value is unknown, and the caller
looks elsewhere; it never guesses. A line with anything else makes the variables that it assigns unknown, and
one that may assign anything (`.`, `eval`, a function, a here-document) makes all of them unknown.
Source of the rules: POSIX.1-2024, 2.2 Quoting, 2.3 Token Recognition, 2.6.2 Parameter Expansion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rocmcfg.backends.boot.grub_files.shell_value import LONGEST, Segment, Value

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_WHOLE_NAME = rf"{_NAME}(?![A-Za-z0-9_])"  # else any part of it would do, and all would be tried
_ASSIGNMENT = re.compile(rf"[ \t]*(export[ \t]+)?({_NAME})=")
_EXPANSION = re.compile(
    rf"\$(?:({_NAME})|\{{({_NAME})(?:(:?[-+])((?:[^{{}}$`\\\"]|\$\{{?{_WHOLE_NAME}\}}?)*))?\}})"
)
# Substitutions simple enough to be sure where they end. Everything else ends the reading of the file.
_BRACES = re.compile(r"\$\{(?:[^{}\"'`\\$\n]|\$\{[^{}\"'`\\$\n]*\}|\$(?!\{))*\}")
_COMMAND = re.compile(r"\$\((?!\()(?:[^()\"'`\\#\n]|\([^()\"'`\\#\n]*\)|'[^'\n]*'|\"[^\"$`\\\n]*\")*\)")
_BACKTICKS = re.compile(r"`[^`\\\"'#\n]*`")

_TOKEN = re.compile(r"[^ \t\n;&|()<>]+|[;&|()<>]")
_OPENS = {"if", "case", "for", "while", "until", "select", "{", "("}
_CLOSES = {"fi": ("if",), "esac": ("case",), "done": ("for", "while", "until", "select"), "}": ("{",)}
_BEFORE_COMMAND = {";", "&", "|", "(", ")", "{", "then", "do", "else", "elif", "if", "while", "until", "!"}
# Commands that assign without `=`, or run text that may.
_ASSIGN_ANYTHING = re.compile(
    r"\.|alias|builtin|command|declare|eval|exec|function|getopts|let|local|mapfile|read|readarray|source|trap"
    r"|typeset|unalias|unset"
)
_LEAVES = {"return", "exit"}
_ANY_ASSIGNMENT = re.compile(rf"(?:^|[ \t\n;&|{{(])({_NAME})\+?=")
_ASSIGNING_EXPANSION = re.compile(rf"\$\{{({_NAME}):?=")
_LOOP_NAME = re.compile(rf"\b(?:for|select)[ \t]+({_NAME})")
# Not in the file and yet not empty: what grub-mkconfig sets, the environment, what the shell counts itself.
_SURELY_UNSET = re.compile(r"GRUB_CMDLINE_\w+")
_COUNTED_BY_SHELL = {"IFS", "LINENO", "OPTARG", "OPTIND", "PPID", "PWD", "OLDPWD", "RANDOM", "SECONDS", "_"}
_EMPTY = Value()
_HIDDEN = '"'  # stands for quoted text, an escape or a substitution where only the commands matter


class NotPlain(ValueError):
    """The text needs a real shell."""


class _Line(NamedTuple):
    """A logical line. `code` is `text` with quoted parts hidden; None where the reader lost its way."""

    number: int
    text: str
    code: str | None


@dataclass(slots=True)
class Environment:
    """Variables after some files were read. A name in `unknown` has a value that only a shell can tell.

    `opaque` is where something first could have assigned any variable; from there on, every command can.
    """

    values: dict[str, Value] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    opaque: str = ""

    def read(self, path: str, text: str) -> None:
        nesting: list[str] = []
        for line in _logical_lines(text):
            where = f"{path}:{line.number}"
            if line.code is None:
                self._lose(where)
                return
            nested = bool(nesting)
            _nest(nesting, line.code)
            if nested or nesting or not self._assign(line.text, where):
                self._command(line.text, line.code, where)
            if _LEAVES.intersection(_TOKEN.findall(line.code)):
                nesting.append("return")  # what follows may never run

    def _assign(self, line: str, where: str) -> bool:
        match = _ASSIGNMENT.match(line)
        if match is None or match.group(2) in _COUNTED_BY_SHELL:
            return False
        exported = bool(match.group(1))
        try:
            value = self._word(line[match.end() :], where, splits=exported)
        except NotPlain:
            return False
        self.values[match.group(2)] = value
        self.unknown.pop(match.group(2), None)
        return True

    def _command(self, line: str, code: str, where: str) -> None:
        if _may_assign_anything(code) or (self.opaque and _runs_something(code)):
            self._lose(where)
        for pattern, text in ((_ANY_ASSIGNMENT, code), (_ASSIGNING_EXPANSION, line), (_LOOP_NAME, code)):
            for name in pattern.findall(text):
                self.values.pop(name, None)
                self.unknown[name] = where

    def _lose(self, where: str) -> None:
        self.values.clear()
        self.opaque = self.opaque or where

    def text(self, name: str) -> str | None:
        """The value as one string; None where it is unknown. An unset variable is empty."""
        if name not in self.values and (name in self.unknown or self.opaque):
            return None
        return str(self.values.get(name, ""))

    def _word(self, text: str, where: str, *, splits: bool) -> Value:
        """One shell word; what follows it must be nothing or a semicolon.

        `splits`: an argument of `export`, where shells differ in what becomes of an unquoted expansion.
        """
        if len(text) > LONGEST:
            raise NotPlain
        segments: list[Segment | Value] = []
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
                if text[at:].strip(" \t") not in ("", ";"):
                    raise NotPlain
                break
            elif splits and character in "$*?[":
                raise NotPlain
            else:
                at = self._bare(text, at, segments, where)
        value = Value(segments)
        if value.length > LONGEST:  # lines that double it come to gigabytes soon
            raise NotPlain
        return value

    def _double_quoted(self, text: str, at: int, segments: list[Segment | Value], where: str) -> int:
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
                at = self._expand(text, at, segments, where, quoted=True)
            elif character == "`":
                raise NotPlain
            else:
                segments.append(Segment(character, where))
                at += 1
        raise NotPlain  # the quote is never closed

    def _bare(self, text: str, at: int, segments: list[Segment | Value], where: str) -> int:
        character = text[at]
        if character == "$":
            return self._expand(text, at, segments, where, quoted=False)
        if character == "\\" and at + 1 < len(text):
            segments.append(Segment(text[at + 1], where))
            return at + 2
        if character in "\\`()<>|&~":
            raise NotPlain
        segments.append(Segment(character, where))
        return at + 1

    def _expand(
        self, text: str, at: int, segments: list[Segment | Value], where: str, *, quoted: bool
    ) -> int:
        match = _EXPANSION.match(text, at)
        if match is None:
            raise NotPlain
        name, operator, word = match.group(1) or match.group(2), match.group(3), match.group(4)
        if name not in self.values and (
            name in self.unknown or self.opaque or not _SURELY_UNSET.fullmatch(name)
        ):
            raise NotPlain
        value = self.values.get(name)
        is_set = value is not None and (value.length > 0 or ":" not in (operator or ""))
        if operator is None or (operator.endswith("-") and is_set):
            segments.append(value or _EMPTY)
        elif operator.endswith("-") or is_set:
            self._expand_word(word or "", segments, where, quoted=quoted)
        return match.end()

    def _expand_word(self, word: str, segments: list[Segment | Value], where: str, *, quoted: bool) -> None:
        at = 0
        while at < len(word):
            if word[at] in "'~" and not quoted:
                raise NotPlain
            if word[at] == "$":
                at = self._expand(word, at, segments, where, quoted=quoted)
            else:
                segments.append(Segment(word[at], where))
                at += 1


def _logical_lines(text: str) -> Iterator[_Line]:
    """Lines as the shell sees them: `\\`-newline joined, quotes closed, comments gone."""
    start = number = 1
    at = 0
    line, code = "", ""
    while at < len(text):
        character = text[at]
        if character == "\n":
            if code.strip(" \t"):
                yield _Line(start, line, code)
            line, code, at, start = "", "", at + 1, number + 1
            number = start
        elif character == "#" and (not code or code[-1] in " \t;&|()"):
            line_end = text.find("\n", at)
            at = len(text) if line_end < 0 else line_end
        elif text.startswith("\\\n", at):
            at, number = at + 2, number + 1
        elif text.startswith(("<<", "\0"), at):
            yield _Line(number, line, None)
            return
        else:
            end, hides = _skip(text, at)
            if end is None:
                yield _Line(number, line, None)
                return
            # a continuation inside double quotes joins too; inside single quotes it is text
            part = text[at:end] if character == "'" else text[at:end].replace("\\\n", "")
            line += part
            code += _HIDDEN if hides else part
            number += text.count("\n", at, end)
            at = end
    if code.strip(" \t"):
        yield _Line(start, line, code)


def _skip(text: str, at: int) -> tuple[int | None, bool]:
    """Where what starts at `at` ends (None where that is not certain), and whether its inside is no code."""
    character = text[at]
    if character == "'":
        return (text.find("'", at + 1) + 1 or None), True
    if character == '"':
        return _skip_double_quoted(text, at + 1), True
    if character == "\\":
        return (at + 2 if at + 1 < len(text) else None), True
    if character == "`" or text.startswith(("$(", "${", "$'", '$"'), at):
        return _skip_substitution(text, at), True
    return at + 1, False


def _skip_substitution(text: str, at: int) -> int | None:
    pattern = {"`": _BACKTICKS, "$(": _COMMAND, "${": _BRACES}.get(
        "`" if text[at] == "`" else text[at : at + 2]
    )
    match = pattern.match(text, at) if pattern else None
    return match.end() if match else None


def _skip_double_quoted(text: str, at: int) -> int | None:
    while at < len(text):
        if text[at] == '"':
            return at + 1
        if text[at] == "\\":
            at += 2
        elif text[at] == "`" or text.startswith(("$(", "${"), at):
            end = _skip_substitution(text, at)
            if end is None:
                return None
            at = end
        else:
            at += 1
    return None


def _nest(nesting: list[str], code: str) -> None:
    """Follow compound commands. In doubt one stays open, which only makes more unknown."""
    previous = ";"
    for token in _TOKEN.findall(code):
        if token in _OPENS:
            nesting.append(token)
        elif token == ")":
            if nesting and nesting[-1] == "(":
                nesting.pop()
        elif token in _CLOSES and previous in (";", ")") and nesting and nesting[-1] in _CLOSES[token]:
            nesting.pop()
        previous = token


def _may_assign_anything(code: str) -> bool:
    tokens = _TOKEN.findall(code)
    if any(_ASSIGN_ANYTHING.fullmatch(token) for token in tokens):
        return True
    if re.search(r"\([ \t]*\)", code):  # a function: any later command may be a call of it
        return True
    starts, declares = True, False
    for token in tokens:
        if token in _BEFORE_COMMAND:
            starts, declares = True, False
        elif declares:
            if not re.fullmatch(rf"{_NAME}(=.*)?", token):
                return True
        elif starts and not re.match(rf"{_NAME}\+?=", token):
            if _HIDDEN in token or "$" in token:  # a command whose name only a shell can tell
                return True
            starts, declares = False, token in ("export", "readonly")
    return False


def _runs_something(code: str) -> bool:
    """Whether there is a command in it, and not only assignments and the words of compounds."""
    words = (t for t in _TOKEN.findall(code) if t not in _BEFORE_COMMAND | _OPENS | _CLOSES.keys())
    return any(not re.match(rf"{_NAME}=", word) for word in words)
