"""Read files of bash that hold only assignments: mkinitcpio.conf and its drop-ins.

A list is `NAME=(word …)`, `NAME+=(word …)`, or a string that its program divides at blanks, as mkinitcpio
does (arrayize_config of its functions, v39). Nothing is run and nothing is guessed: a word with anything that
bash expands makes its variable unknown, and a command, a function or a condition makes all of them unknown,
regardless of later lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.languages import is_damaged
from rocmcfg.languages.shell_words import Lexer, Lost, Word
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_ASSIGNMENT = regex(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_EXPANDED = frozenset("{}*?[~")  # expanded by bash outside of quotes: braces, file names, home directories
_UNCLEAR_BLANKS = frozenset("\t\n")  # separators in a string for some programs, and not for others


class Untold(ValueError):
    """Only bash can tell the value. `at` is the `file:line` that is the reason."""

    def __init__(self, at: str) -> None:
        super().__init__(at)
        self.at = at


class _Value(NamedTuple):
    """A list, or with `string` the text of one element; `source` is the `file:line` that set it last."""

    words: tuple[str, ...]
    source: str
    string: bool


class Lists:
    """The variables after some files were read, in the order in which bash reads them."""

    def __init__(self) -> None:
        self._values: dict[str, _Value] = {}
        self._untold: dict[str, str] = {}
        self._opaque = ""

    def read(self, path: str, text: str) -> None:
        if is_damaged(text):
            self._lose(f"{path}:1")
        lexer, words, begin = Lexer(text, lists=True), list[Word](), 0
        try:
            for token in lexer.tokens():
                if token.word is not None:
                    words.append(token.word)
                elif token.operator in ("\n", ";") and not token.redirection:
                    self._take(words, path, text)
                    words, begin = [], token.at + 1
                else:
                    raise Lost
            self._take(words, path, text)
        except Lost:
            at = words[0].start if words else begin
            self._lose(_place(path, text, at))

    def words(self, name: str) -> tuple[str, ...] | None:
        """Return the words of a list; None where nothing sets it. Raises Untold."""
        if at := self._opaque or self._untold.get(name, ""):
            raise Untold(at)
        value = self._values.get(name)
        if value is None or not value.string:
            return value and value.words
        if _UNCLEAR_BLANKS & set(value.words[0]):
            raise Untold(value.source)
        return tuple(word for word in value.words[0].split(" ") if word)

    def source(self, name: str) -> str:
        """Return the `file:line` that set a variable last; empty where nothing does."""
        return self._values[name].source if name in self._values else ""

    def _lose(self, at: str) -> None:
        self._opaque = self._opaque or at

    def _take(self, command: Sequence[Word], path: str, text: str) -> None:
        """Perform the assignments of a command. Raises Lost for a command that is not an assignment."""
        if not all(_ASSIGNMENT.match(word.raw) for word in command):
            raise Lost
        for word in command:
            self._assign(word, _place(path, text, word.start))

    def _assign(self, word: Word, at: str) -> None:
        assignment = _ASSIGNMENT.match(word.raw)
        assert assignment is not None
        for name in word.assigns:
            self._untold[name] = at
        name, adds, value = assignment[1], bool(assignment[2]), _value(word, assignment.end(), at)
        before = self._values.get(name)
        if value is None or self._mixes(name, value, adds=adds):
            self._values.pop(name, None)
            self._untold[name] = at
            return
        if adds and before is not None:
            texts = (*before.words, *value.words)
            value = value._replace(words=("".join(texts),) if value.string else texts)
        self._untold.pop(name, None)
        self._values[name] = value

    def _mixes(self, name: str, value: _Value, *, adds: bool) -> bool:
        """Return whether a string sets or extends the first element of a possible list, or a list is added to
        a possible string."""
        if not adds and not value.string:
            return False
        before = self._values.get(name)
        return name in self._untold or (before is not None and before.string != value.string)


def _value(word: Word, start: int, at: str) -> _Value | None:
    """Return the value of an assignment from an offset of its raw text on; None where bash expands anything
    in it."""
    if word.elements is None:
        text = _literal(word)
        return None if text is None else _Value((text[start:],), at, True)
    texts = [_literal(element) for element in word.elements]
    words = tuple(text for text in texts if text is not None)
    return _Value(words, at, False) if len(words) == len(texts) else None


def _literal(word: Word) -> str | None:
    bare = (part.text for part in word.parts if not part.quoted)
    return None if any(_EXPANDED & set(text) for text in bare) else word.literal


def _place(path: str, text: str, at: int) -> str:
    return f"{path}:{text.count(chr(10), 0, at) + 1}"
