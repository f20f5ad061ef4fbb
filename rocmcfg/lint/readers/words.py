"""Splits text into a shell's commands and words, each with its place, and never fails.

`backends.boot.grub_files.shell_assignments` evaluates what a shell would make of a file and gives up where
it is not sure. This reader wants the place of every word in any script, whole or broken, and so it guesses:
what stands inside `$( )` and backticks are commands of their own, and a quote without an end is a character.
Every character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.lint.source import Span, joined
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.regex import regex

_BLANK = regex(r"[^\S\n]+")
_PLAIN = regex(r"[^\s'\"\\$`;&|<>()#]+")
_IN_QUOTES = regex(r'["\\]')
_REDIRECT = regex(r"<<<|<<-?|&?>>?[|&]?|<")
_DELIMITER = regex(r"""[^\S\n]*\\?(['"]?)([A-Za-z_][\w.-]*)\1""")
_OPENING = {"if", "case", "for", "while", "until", "select", "{", "begin", "function", "switch"}
_CLOSING = {"fi", "esac", "done", "}", "end"}
# Here-documents without an end that are looked for in vain: a file with more of them is no script.
_PATIENCE = 50


class Word(NamedTuple):
    """text[start:stop] of the piece. `parts` are what quoting leaves of it, None where it has none."""

    start: int
    stop: int
    parts: tuple[tuple[int, int], ...] | None

    def span(self, piece: Span) -> Span:
        if self.parts is None:
            return piece.cut(self.start, self.stop)
        return joined(piece.cut(start, stop) for start, stop in self.parts)


class Command:
    """`targets` are files that it writes, `documents` the texts that it is fed, `piped` whether its output
    goes to the next one. `depth` counts the compound commands around it."""

    def __init__(self, depth: int = 0) -> None:
        self.words: list[Word] = []
        self.targets: list[Word] = []
        self.documents: list[Word] = []
        self.piped, self.depth = False, depth


def commands(piece: Span) -> Iterator[Command]:
    return _Lexer(piece.text).run()


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.command = Command()
        self.parts: list[tuple[int, int]] = []
        self.word_start = -1
        self.quoted = False
        self.redirect = ""
        self.awaited: list[tuple[str, bool, Command]] = []  # delimiter, tabs go, whose
        self.depth = 0
        self.endless = {"'": False, '"': False}
        self.patience = _PATIENCE
        self.resume = 0  # behind the here-documents that were read

    def run(self) -> Iterator[Command]:
        text = self.text
        while self.at < len(text):
            plain = _PLAIN.match(text, self.at)
            if plain:
                self._take(self.at, plain.end())
                continue
            character = text[self.at]
            if character == "\n":
                yield from self._end_command()
                self.at = max(self.at + 1, self.resume)  # here-documents were read already
            elif text.startswith(("\\\n", "\\\r\n"), self.at):  # a continued line joins its words
                self.quoted = True
                self.at = text.index("\n", self.at) + 1
            elif character.isspace():
                self._end_word()
                self.at = _BLANK.match(text, self.at).end()  # type: ignore[union-attr]
            elif character == "#" and self.word_start < 0:
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif character in "'\"":
                self._quoted(character)
            elif character == "\\":
                self._take(self.at + 1, min(self.at + 2, len(text)), escaped=True)
            elif redirect := _REDIRECT.match(text, self.at):
                self._redirected(redirect.group(), redirect.end())
            elif character in ";&|()`":
                if character == "`" and self.word_start >= 0:
                    self._take(self.at, self.at + 1, escaped=True)  # what it puts there is not known
                    self.at -= 1
                pipe = character == "|" and text[self.at : self.at + 2] != "||"
                self._end_word()
                self.command.piped = pipe
                yield from self._end_command()
                self.at += 1
            else:
                self._take(self.at, self.at + 1)
        yield from self._end_command()

    def _take(self, start: int, stop: int, *, escaped: bool = False) -> None:
        if self.word_start < 0:
            self.word_start = self.at
        self.quoted = self.quoted or escaped
        if self.parts and self.parts[-1][1] == start:
            self.parts[-1] = (self.parts[-1][0], stop)
        else:
            self.parts.append((start, stop))
        self.at = stop

    def _quoted(self, quote: str) -> None:
        start = self.at
        end = self._closing(quote)
        if end < 0:
            self._take(start, start + 1)
            return
        if self.word_start < 0:
            self.word_start = start
        self.quoted = True
        self.parts += self._inside(start + 1, end) if quote == '"' else [(start + 1, end)]
        self.at = end + 1

    def _closing(self, quote: str) -> int:
        """Where the quote at the current place ends, -1 where it is no quote."""
        if self.endless[quote]:
            return -1
        at = self.at + 1
        if quote == "'":
            end = self.text.find("'", at)
        else:
            end = -1
            while found := _IN_QUOTES.search(self.text, at):
                if found.group() == '"':
                    end = found.start()
                    break
                at = found.end() + 1
        self.endless[quote] = end < 0
        return end

    def _inside(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Between double quotes: without the backslash before what it escapes, continued lines joined."""
        parts, begin = [], start
        at = self.text.find("\\", start, stop)
        while at >= 0:
            following = self.text[at + 1 : at + 2]
            if following == "\n":
                parts.append((begin, at))
                begin = at + 2
            elif following in '$`"\\':
                parts.append((begin, at))
                begin = at + 1
            at = self.text.find("\\", at + 2, stop)
        parts.append((begin, stop))
        return parts

    def _redirected(self, operator: str, end: int) -> None:
        if self.word_start >= 0 and self.text[self.word_start : self.at].isdigit():
            self.word_start, self.parts, self.quoted = -1, [], False  # 2>: the number of a descriptor
        self._end_word()
        self.at = end
        if operator in ("<<", "<<-"):
            delimiter = _DELIMITER.match(self.text, end)
            if delimiter:
                self.at = delimiter.end()
                self.awaited.append((delimiter.group(2), operator == "<<-", self.command))
        else:
            self.redirect = operator

    def _end_word(self) -> None:
        if self.word_start < 0:
            return
        word = Word(self.word_start, self.at, tuple(self.parts) if self.quoted else None)
        self.word_start, self.parts, self.quoted = -1, [], False
        if not self.redirect:
            self.command.words.append(word)
        elif self.redirect == "<<<":
            self.command.documents.append(word)
        elif ">" in self.redirect and not self.redirect.endswith("&"):
            self.command.targets.append(word)
        self.redirect = ""

    def _end_command(self) -> Iterator[Command]:
        self._end_word()
        done, self.command, self.redirect = self.command, Command(), ""
        first = self.text[done.words[0].start : done.words[0].stop] if done.words else ""
        self.depth += first in _OPENING
        done.depth = self.depth
        if first in _CLOSING:
            self.depth = max(0, self.depth - 1)
        if done.words or done.targets or done.documents:
            if any(owner is done for _, _, owner in self.awaited):
                self._read_documents_of(done)
            yield done

    def _read_documents_of(self, owner: Command) -> None:
        """Here-documents begin behind the line of their command, and are read before it is handed out."""
        line_end = self.text.find("\n", self.at)
        if line_end < 0:
            return
        begin = max(line_end + 1, self.resume)
        for delimiter, tabs, whose in self.awaited:
            if whose is not owner:
                continue
            stop, after = self._document(begin, delimiter, tabs)
            if stop >= 0:
                owner.documents.append(Word(begin, stop, None))
                begin = after
        self.awaited = [entry for entry in self.awaited if entry[2] is not owner]
        self.resume = begin

    def _document(self, begin: int, delimiter: str, tabs: bool) -> tuple[int, int]:
        """(end of the text, begin of the line behind it), or -1 where there is no such line."""
        if self.patience <= 0:
            return -1, -1
        indent = "[ \\t]*" if tabs else ""
        line = re.compile(rf"^{indent}{re.escape(delimiter)}[ \t\r]*(?:\n|\Z)", re.MULTILINE)
        end = line.search(self.text, begin)
        if end is None:
            self.patience -= 1
            return -1, -1
        return end.start(), end.end()
