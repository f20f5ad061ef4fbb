"""Read scripts of fish: conf.d and config.fish (fish-language; `set` of release 3.6). A value that is set in
a block, depends on a condition or is expanded is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rocmcfg.languages import Effect, Statement, is_damaged, without_values
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)
_PLAIN = regex(r"[^\s'\"\\$;&|<>()#{}*?~\[\]%^]+")
_COMMAND = regex(r"\([^()'\"#\n\\]*\)")
_REDIRECTION = regex(r"[<>][>?]?&?[ \t]*")
_DOLLAR = regex(r"\$+\w", re.ASCII)  # any other is an error
_OPENING = {"if", "for", "while", "switch", "begin", "function"}
_BEFORE_COMMAND = {"if", "while", "and", "or", "not", "!", "command", "builtin", "time"}
_NAMING = {*_OPENING, *_BEFORE_COMMAND, "else", "case", "read", "argparse", "string", "export", "set"}
_COMPUTING = {"eval", "source", ".", "exec", "return", "exit"}
_ESCAPED = regex(r"\\([ '\"$\\;&|<>()#{}*?~\[\]])")


class _Word(NamedTuple):
    """A word. `text` is None where only fish can evaluate it."""

    text: str | None
    raw: str
    start: int
    stop: int


class _Lost(ValueError):
    """The text does not follow the rules of fish, or its meaning cannot be told."""


def read(text: str, exported: Iterable[str] = ()) -> Iterator[Statement]:
    """Yield the variables that a script sets. `exported` are variables that were exported before: they stay
    exported if they are set without -x."""
    statements = _with_exports(_statements(text), set(exported))
    return without_values(statements) if is_damaged(text) else statements


def _with_exports(statements: Iterable[Statement], exported: set[str]) -> Iterator[Statement]:
    """Yield the statements, completed with properties that `set` does not change: whether a variable is
    exported, and the scope of an erased one."""
    doubtful: set[str] = set()
    for statement in statements:
        made = statement
        if statement.effect is Effect.SETS:
            (doubtful if statement.value is None else exported).add(statement.name)
        elif statement.name in doubtful:
            made = statement._replace(value=None, effect=Effect.SETS)
        elif statement.effect is Effect.UNSETS:
            exported.discard(statement.name)
        elif statement.name in exported:
            made = statement._replace(effect=Effect.SETS)
        yield made


def _statements(text: str) -> Iterator[Statement]:
    depth, certain, over, line = 0, True, False, 1
    defined: set[str] = set()  # functions of this script
    try:
        for words, plain in _commands(text):
            name = words[0].text
            line = text.count("\n", 0, words[0].start) + 1
            depth += (name in _OPENING) - (name == "end")
            if depth < 0 or (name in _BEFORE_COMMAND and words[1:] and words[1].text in _OPENING):
                raise _Lost
            if name == "function" and words[1:]:
                defined.add(words[1].raw)
            alone = plain and certain and not depth
            over = over or (name in ("return", "exit") and alone)
            if over:
                continue
            if name is None or name in defined or name in _COMPUTING:
                yield from _all(text, line)
                certain = certain and name not in _COMPUTING - {"eval"}
            elif name == "set" and alone:
                yield from _set(words, line)
            elif name == "export" and alone:
                yield from _export(words, line)
            elif name in _NAMING or "=" in words[0].raw:
                yield from _named(words, line)
                yield from _if_reached(words, line)
        if depth:
            raise _Lost
    except _Lost:  # fish runs nothing of a script that it cannot parse
        yield from _all(text, line)


def _all(text: str, line: int) -> Iterator[Statement]:
    for name in dict.fromkeys(_NAME.findall(text)):
        yield Statement(name, None, line, 0, 0)


def _named(words: list[_Word], line: int) -> Iterator[Statement]:
    for name in dict.fromkeys(name for word in words for name in _NAME.findall(word.raw)):
        yield Statement(name, None, line, words[0].start, words[-1].stop)


def _if_reached(words: list[_Word], line: int) -> Iterator[Statement]:
    """Yield what a command sets if it is reached: `set` and `export`, and `NAME=VALUE` before a program."""
    made: Iterable[Statement] = ()
    while len(words) > 1 and words[0].text in _BEFORE_COMMAND:
        words = words[1:]
    if words[0].text == "set":
        made = _set(words, line)
    elif words[0].text == "export":
        made = _export(words, line)
    elif len(words) > 1:
        made = _export(words[:-1], line, first=0)
    for statement in made:
        if statement.effect is Effect.SETS and statement.value is not None:
            yield statement._replace(value=None, written=statement.value)


def _export(words: list[_Word], line: int, first: int = 1) -> Iterator[Statement]:
    for word in words[first:]:
        name, equals, value = (word.text or word.raw).partition("=")
        if _NAME.fullmatch(name):
            certain = equals and word.text is not None and ":" not in value
            yield Statement(name, value if certain else None, line, word.start, word.stop)


def _set(words: list[_Word], line: int) -> Iterator[Statement]:
    options, rest = "", words[1:]
    long = {"--export": "x", "--global": "g", "--erase": "e"}
    while rest and rest[0].raw.startswith("-"):
        options += long.get(rest[0].raw, rest[0].raw[1:] if rest[0].raw[:2] != "--" else "?")
        rest = rest[1:]
    if set(options) & set("qnSLh") and not set(options) - set("qnSLhgxUlu"):
        return
    if not rest:
        return
    names = rest if "e" in options else rest[:1]
    for word in names:
        certain = word.text is not None and _NAME.fullmatch(word.text) and not set(options) - set("gxe")
        if not certain:
            yield from _named([word], line)
        elif "e" in options:
            yield Statement(word.text or "", None, line, words[0].start, rest[-1].stop, Effect.UNSETS)
        else:
            values = [value.text for value in rest[1:]]
            # a list is exported with blanks between its parts, or for some names with colons
            value = values[0] if len(values) == 1 else "" if not values else None
            effect = Effect.SETS if "x" in options else Effect.NOT_EXPORTED
            yield Statement(word.text or "", value, line, words[0].start, rest[-1].stop, effect)


def _commands(text: str) -> Iterator[tuple[list[_Word], bool]]:
    """Yield the words of each command, and whether it runs regardless of the command before it. Raises
    _Lost."""
    at, words, plain, chained = 0, list[_Word](), True, False
    while True:
        character = text[at : at + 1]
        if character in (" ", "\t") and character:
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif character == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif character in ("\n", ";", "", "&", "|"):
            operator = text[at : at + 2] if text[at : at + 2] in ("&&", "||") else character
            if words:
                yield words, plain and not chained and operator not in ("|", "&")
            elif operator in ("&", "|"):
                raise _Lost
            chained = operator in ("&&", "||", "|") or (chained and not words)
            words, plain = [], True
            at += len(operator)
            if not character:
                return
        elif redirection := _REDIRECTION.match(text, at):
            plain, at = False, redirection.end()
            if not text[at : at + 1].strip() or text[at] in ";&|<>":
                raise _Lost
            at = _word(text, at).stop
        else:
            words.append(_word(text, at))
            at = words[-1].stop


def _word(text: str, at: int) -> _Word:
    start, out, certain = at, list[str](), True
    while at < len(text) and text[at] not in " \t\n;&|<>":
        character = text[at]
        if plain := _PLAIN.match(text, at):
            out.append(plain.group())
            at = plain.end()
        elif character in "'\"":
            value, at = _quoted(text, at)
            certain = certain and value is not None
            out.append(value or "")
        elif escaped := _ESCAPED.match(text, at):
            out.append(escaped[1])
            at = escaped.end()
        elif character == "\\":
            certain, at = False, at + 2
        elif character == "(":
            command = _COMMAND.match(text, at)
            if command is None:
                raise _Lost
            certain, at = False, command.end()
        elif character in "){}" or (character == "$" and not _DOLLAR.match(text, at)):
            raise _Lost
        else:
            certain = certain and character in "#[]%^" and not text.startswith("%self", at)
            out.append(character)
            at += 1
    return _Word("".join(out) if certain else None, text[start:at], start, at)


def _quoted(text: str, at: int) -> tuple[str | None, int]:
    """Return the text between quotes, or None where something in it is expanded, and the offset of its end.
    Raises _Lost."""
    quote, begin = text[at], at + 1
    escapes = "\\'" if quote == "'" else '\\"$'
    out, certain, at = list[str](), True, begin
    while True:
        character = text[at : at + 1]
        if not character or (quote == '"' and text.startswith("$(", at)):
            raise _Lost
        if character == quote:
            return ("".join(out) if certain else None), at + 1
        if character == "\\" and text[at + 1 : at + 2] in escapes and text[at + 1 : at + 2]:
            out.append(text[at + 1])
            at += 2
            continue
        if character == "\\" and quote == '"' and text[at + 1 : at + 2] == "\n":
            at += 2
            continue
        if quote == '"' and character == "$":
            certain = False
            if not _DOLLAR.match(text, at):
                raise _Lost
        out.append(character)
        at += 1
