"""Split text into the commands and words of a shell, each with its place. This never fails.

`loaders.shared.shell_assignments` evaluates a file as a shell would, and gives up if it is not sure. This
reader needs the place of every word in any script, whole or broken, and so it guesses: the text inside `$( )`
and backticks is read as commands of its own, and a quote without an end as a character. Every character is
looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Reading, What, Where
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_BLANK = regex(r"[^\S\n]+")
_PLAIN = regex(r"[^\s'\"\\$`;&|<>()#]+")
_EXPANDED = regex(r"\$\{[^{}\n'\"`\\]*\}")  # a blank in it does not end the word
_QUOTED = {"'": regex(r"'[^']*'"), '"': regex(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)}
_ESCAPED = regex(r'\\([\n$`"\\])')  # between double quotes
_REDIRECT = regex(r"<<<|<<-?|&?>>?[|&]?|<")
_DELIMITER = regex(r"""[^\S\n]*\\?(['"]?)([A-Za-z_][\w.-]*)\1""")
_OPENING = {"if", "case", "for", "while", "until", "select", "{", "begin", "function", "switch"}
_CLOSING = {"fi", "esac", "done", "}", "end"}
_REST = regex(r"[ \t;]*(?:#[^\n]*)?\r?(?:\n|\Z)")  # of a line, which is no command
_INDENT = 100  # characters; a long line is not searched for its beginning again and again
# Here-documents without an end that are searched for: a file with more of them is not a script.
_PATIENCE = 50


class Word(NamedTuple):
    """A word: text[start:stop] of the piece. `parts` are the ranges without the quoting; None if nothing is
    quoted."""

    start: int
    stop: int
    parts: tuple[tuple[int, int], ...] | None

    def span(self, piece: Span) -> Span:
        if self.parts is None:
            return piece.cut(self.start, self.stop)
        return joined(piece.cut(start, stop) for start, stop in self.parts)


class Command:
    """A command. `targets` are the files that it writes, `documents` the texts that it reads from its input;
    `piped`: its output goes to the next command. `depth` counts the compound commands around it. `awaited`
    are the delimiters of here-documents that begin after its line, and whether tabs may come before them.
    `unclosed`: a quote in it has no end. `follows`: the operator, or the end of the line, after the command
    before it. `stop` is its end. `nested` counts the parentheses and backticks around it. `guessed`: what the
    lexer made of the text up to its end is a guess."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.targets: list[Word] = []
        self.documents: list[Word] = []
        self.awaited: list[tuple[str, bool]] = []
        self.piped, self.unclosed, self.depth, self.follows = False, False, 0, "\n"
        self.stop, self.nested, self.guessed = 0, 0, False


def commands(piece: Span) -> Iterator[Command]:
    return _Lexer(piece.text).run()


def list_words(piece: Span) -> list[Word]:
    """Return the words of a list that is no command: a blank ends a word, and operators of a shell do not."""
    return [word for command in _Lexer(piece.text, operators="").run() for word in command.words]


def has_lines(text: str, command: Command) -> bool:
    """Return whether a command of an example has its lines for itself, with no comment above them that may
    name another file."""
    start = command.words[0].start
    begin = text.rfind("\n", max(0, start - _INDENT), start) + 1
    if (begin == 0 and start > _INDENT) or text[begin:start].strip():
        return False
    above = text[text.rfind("\n", 0, max(0, begin - 1)) + 1 : begin]
    return not above.lstrip().startswith("#") and _REST.match(text, command.words[-1].stop) is not None


def add_word(
    piece: Span,
    word: Word,
    out: Reading,
    where: Where,
    statement: tuple[int, int] | None = None,
    start: int = 0,
) -> None:
    """Add a word that holds NAME=VALUE from `start` on; the token includes a quote that closes its value."""
    written_to = 0 if piece.text[word.start] in "'\"" else piece.at(word.stop - 1) + 1
    span = word.span(piece)
    out.add(What.VARIABLE, span.cut(start), where=where, statement=statement, written_to=written_to)


class _Lexer:
    def __init__(self, text: str, operators: str = ";&|()`") -> None:
        self.text = text
        self.operators = operators
        self.at = 0
        self.command = Command()
        self.parts: list[tuple[int, int]] = []
        self.word_start = -1
        self.quoted = False
        self.redirect = ""
        self.depth = 0
        self.quotes = {"'", '"'}  # the quotes that may still have an end
        self.patience = _PATIENCE
        self.follows = "\n"
        self.resume = 0  # the end of the here-documents that were read
        self.parentheses = 0
        self.in_backticks = self.guessed = False

    def run(self) -> Iterator[Command]:
        text = self.text
        while self.at < len(text):
            plain = _PLAIN.match(text, self.at)
            if plain or (plain := _EXPANDED.match(text, self.at)):
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
            elif character == "#" and self.word_start < 0 and self.operators:
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif character in "'\"":
                self._quoted(character)
            elif character == "\\":
                self._take(self.at + 1, min(self.at + 2, len(text)), escaped=True)
            elif self.operators and (redirect := _REDIRECT.match(text, self.at)):
                self._redirected(redirect.group(), redirect.end())
            elif character in self.operators:
                if character == "`" and self.word_start >= 0:
                    self._take(self.at, self.at + 1, escaped=True)  # the text that it inserts is unknown
                    self.at -= 1
                self._end_word()
                self.command.piped = character == "|" and text[self.at : self.at + 2] != "||"
                yield from self._end_command()
                self.follows = character
                self._nest(character)
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

    def _nest(self, operator: str) -> None:
        if operator == "`":
            self.in_backticks = not self.in_backticks
        elif operator in "()":  # a parenthesis behind a pattern of `case` has no counterpart
            self.parentheses = max(0, self.parentheses + (1 if operator == "(" else -1))

    def _quoted(self, quote: str) -> None:
        match = _QUOTED[quote].match(self.text, self.at) if quote in self.quotes else None
        if match is None:  # and no later one has an end either
            self.command.unclosed |= quote in self.quotes
            self.guessed = True
            self.quotes -= {quote}
            self._take(self.at, self.at + 1)
            return
        if self.word_start < 0:
            self.word_start = self.at
        self.quoted = True
        begin, self.at = self.at + 1, match.end()
        # in $'…' an escaped quote is no end
        self.guessed |= quote == "'" and self.text[begin - 2 : begin - 1] == "$" and "\\" in match.group()
        if quote == '"':  # without the backslash before what it escapes, continued lines joined
            for escape in _ESCAPED.finditer(self.text, begin, self.at - 1):
                self.parts.append((begin, escape.start()))
                begin = escape.end() if escape[1] == "\n" else escape.start() + 1
        self.parts.append((begin, self.at - 1))

    def _redirected(self, operator: str, end: int) -> None:
        if self.word_start >= 0 and self.text[self.word_start : self.at].isdigit():
            self.word_start, self.parts, self.quoted = -1, [], False  # 2>: the number of a descriptor
        self._end_word()
        self.at = end
        if operator in ("<<", "<<-"):
            delimiter = _DELIMITER.match(self.text, end)
            if delimiter:
                self.at = delimiter.end()
                self.command.awaited.append((delimiter.group(2), operator == "<<-"))
            else:
                self.guessed = True
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
        done.depth, done.follows, done.stop = self.depth, self.follows, self.at
        done.nested = self.parentheses + self.in_backticks
        self.guessed |= first == "case" and done.nested > 0
        if first in _CLOSING:
            self.depth = max(0, self.depth - 1)
        if done.words or done.targets or done.documents:
            self.follows = "\n"
            self._read_documents_of(done)
            done.guessed = self.guessed
            yield done

    def _read_documents_of(self, owner: Command) -> None:
        """Read the here-documents of a command, which begin after its line, before the command is yielded."""
        line_end = self.text.find("\n", self.at) if owner.awaited else -1
        if line_end < 0:
            return
        begin = max(line_end + 1, self.resume)
        for delimiter, tabs in owner.awaited:
            indent = "[ \\t]*" if tabs else ""
            line = re.compile(rf"^{indent}{re.escape(delimiter)}[ \t\r]*(?:\n|\Z)", re.MULTILINE)
            end = line.search(self.text, begin) if self.patience > 0 else None
            if end is None:
                self.patience -= 1
                self.guessed = True
                continue
            owner.documents.append(Word(begin, end.start(), None))
            begin = end.end()
        self.resume = begin
