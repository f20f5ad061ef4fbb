"""Split a text into the tokens of a POSIX shell (POSIX.1-2024, 2.2 Quoting, 2.3 Token Recognition), and give
up where dash and bash would see different ones. Of the syntax of bash alone, only lists are supported."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_BLANKS = regex(r"(?:[ \t]|\\\n)+")
_COMMENT = regex(r"#[^\n]*")
_OPERATOR = regex(r"&&|\|\||;;|[;&|()\n]")
_REDIRECTION = regex(r"([0-9]*)(<<-?|[<>]&|>>|<>|>\||[<>])(?![<(])")
_DELIMITER = regex(r"[ \t]*(?:'([^'\n]+)'|\"([^\"\\$`\n]+)\"|\\([\w.-]+)|([\w.-]+))(?=[ \t\n;&|)]|$)")
_HARMLESS_TARGET = regex(r"/dev/null|[0-9]|-")
_PLAIN = regex(r"[^ \t\n'\"\\$`;&|<>()#]+")
_BETWEEN_DOUBLE = regex(r"[^\"\\$`]+")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_BEGIN = regex(_NAME)
_OF_LIST = regex(rf"\$\{{[#!]?{_NAME}\[(?:[@*]|\d+)\]\}}")
_VARIABLE = regex(rf"\$(?:({_NAME})|\{{({_NAME})(?:(:?[-+])([\w./:,+@%= -]*))?\}})", re.ASCII)
_SPECIAL = regex(r"\$(?:[0-9@*#?!$-]|\{[0-9@*#?!$-]\})")
_BRACES = regex(
    rf"\$\{{(?:#{_NAME}|({_NAME})(%%?|\#\#?|:?[-+=?])(?:[^{{}}\"'`\\$\n]|\$\{{?{_NAME}\}}?|\"[^\"\\$`\n]*\")*)\}}"
)
_LIST = regex(rf"{_NAME}\+?=", re.ASCII)
_BETWEEN_ELEMENTS = regex(r"(?:[ \t\n]|\\\n|#[^\n]*)*")
_ENDS_LIST = regex(r"\)(?=[ \t\n;]|$)")
_ENDS_COMMAND = regex(r"[^()'\"\\`$#<]+|<(?!<)")
LONGEST = 64 << 10  # characters of a word


class Lost(ValueError):
    """Only a shell can tell how the text continues."""


class Part(NamedTuple):
    """A part of a word. `text` is literal; or `name` is expanded, followed by `operator` and `text`; with
    `unknown` only a shell can tell the text."""

    text: str = ""
    quoted: bool = False
    name: str = ""
    operator: str = ""
    unknown: bool = False


class Word(NamedTuple):
    """The word text[start:stop]; `raw` is that text. `joined`: it spans a continued line. `assigns` are names
    that its expansions may set. `elements` are those of a list that it sets; None where it sets none."""

    start: int
    stop: int
    raw: str
    parts: tuple[Part, ...]
    assigns: tuple[str, ...] = ()
    elements: tuple[Word, ...] | None = None

    @property
    def joined(self) -> bool:
        return "\\\n" in self.raw

    @property
    def literal(self) -> str | None:
        """Return the word; None where something in it is expanded."""
        plain = all(not part.name and not part.unknown for part in self.parts)
        return "".join(part.text for part in self.parts) if plain else None

    @property
    def name(self) -> str:
        """Return the name with which it begins; empty if it does not begin with one."""
        match = _BEGIN.match(self.raw)
        return match.group() if match else ""

    @property
    def is_plain(self) -> bool:
        return self.literal is not None and not set(self.literal) & set("$`;&|()<>")


class Token(NamedTuple):
    """A word, an operator, or a redirection, which is `harmless` if it cannot fail."""

    word: Word | None = None
    operator: str = ""
    at: int = 0
    redirection: bool = False
    harmless: bool = True
    assigns: tuple[str, ...] = ()


class _Awaited(NamedTuple):
    delimiter: str
    tabs: bool
    expands: bool


class Lexer:
    """Reads tokens. `at` is the current offset. With `lists` it reads `NAME=(…)`, as in bash. Raises Lost."""

    def __init__(self, text: str, *, lists: bool = False) -> None:
        self.text = text
        self.lists = lists
        self.at = 0
        self._awaited: list[_Awaited] = []

    def tokens(self) -> Iterator[Token]:
        text = self.text
        while self.at < len(text):
            start = self.at
            if blanks := _BLANKS.match(text, start):
                self.at = blanks.end()
            elif comment := _COMMENT.match(text, start):
                self.at = comment.end()
            elif redirection := _REDIRECTION.match(text, start):
                yield self._redirection(redirection)
            elif operator := _OPERATOR.match(text, start):
                self.at = operator.end()
                if text.startswith("\\\n", self.at) or text.startswith(";;&", start):
                    raise Lost
                yield Token(operator=operator.group(), at=start)
                if operator.group() == "\n":
                    yield from self._documents()
            elif text[start] in "<>":
                raise Lost
            else:
                yield Token(self._word(), at=start)
        if self._awaited:
            raise Lost

    def _redirection(self, match: re.Match[str]) -> Token:
        start, self.at = self.at, match.end()
        if match[2].startswith("<<"):
            delimiter = _DELIMITER.match(self.text, self.at)
            if delimiter is None:
                raise Lost
            self.at = delimiter.end()
            name = delimiter[1] or delimiter[2] or delimiter[3] or delimiter[4]
            self._awaited.append(_Awaited(name, match[2] == "<<-", bool(delimiter[4])))
            return Token(at=start, redirection=True)
        if blanks := _BLANKS.match(self.text, self.at):
            self.at = blanks.end()
        if self.at >= len(self.text) or _OPERATOR.match(self.text, self.at):
            raise Lost
        word = self._word()
        harmless = _HARMLESS_TARGET.fullmatch(word.literal or "") is not None
        return Token(at=start, redirection=True, harmless=harmless, assigns=word.assigns)

    def _documents(self) -> Iterator[Token]:
        for awaited in self._awaited:
            tabs = r"\t*" if awaited.tabs else ""
            pattern = rf"^{tabs}{re.escape(awaited.delimiter)}$"
            end = re.compile(pattern, re.MULTILINE).search(self.text, self.at)
            if end is None:
                raise Lost
            body, start = self.text[self.at : end.start()], self.at
            self.at = min(end.end() + 1, len(self.text))
            if awaited.expands and ("\\\n" in body or _may_fail(body)):
                raise Lost
            names = tuple(re.findall(rf"\$\{{({_NAME}):?=", body)) if awaited.expands else ()
            yield Token(at=start, redirection=True, assigns=names)
        self._awaited.clear()

    def _word(self) -> Word:
        start, text = self.at, self.text
        parts: list[Part] = []
        assigns: list[str] = []
        while self.at < len(text):
            if not self._bare(parts, assigns):
                break
            if self.at - start > LONGEST:
                raise Lost
        elements = None
        if text.startswith("(", self.at) and text[self.at - 1] in "=@!+*?":  # a list, a pattern of bash
            if not self.lists or _LIST.fullmatch(text, start, self.at) is None:
                raise Lost
            elements = self._elements()
        return Word(start, self.at, text[start : self.at], tuple(parts), tuple(assigns), elements)

    def _elements(self) -> tuple[Word, ...]:
        self.at += 1
        elements: list[Word] = []
        while True:
            self.at = _BETWEEN_ELEMENTS.match(self.text, self.at).end()  # type: ignore[union-attr]
            if end := _ENDS_LIST.match(self.text, self.at):
                self.at = end.end()
                return tuple(elements)
            if self.text[self.at : self.at + 1] in ("", *";&|<>()"):
                raise Lost
            elements.append(self._word())

    def _bare(self, parts: list[Part], assigns: list[str]) -> bool:
        """Take the next part outside of double quotes; return False at the end of the word. Raises Lost."""
        text, character = self.text, self.text[self.at]
        if plain := _PLAIN.match(text, self.at):
            parts.append(Part(plain.group()))
            self.at = plain.end()
        elif character == "#":
            parts.append(Part("#"))
            self.at += 1
        elif character == "'":
            end = self._behind(text.find("'", self.at + 1))
            parts.append(Part(text[self.at + 1 : end - 1], quoted=True))
            self.at = end
        elif character == '"':
            self.at += 1
            self._double_quoted(parts, assigns)
        elif character == "\\":
            escaped = text[self.at + 1 : self.at + 2]
            if not escaped:
                raise Lost
            parts += [Part(escaped, quoted=True)] if escaped != "\n" else []
            self.at += 2
        elif character in "$`":
            self._expansion(parts, assigns, quoted=False)
        else:
            return False
        return True

    def _double_quoted(self, parts: list[Part], assigns: list[str]) -> None:
        text = self.text
        parts.append(Part(quoted=True))
        while True:
            if self.at >= len(text):
                raise Lost
            character = text[self.at]
            if plain := _BETWEEN_DOUBLE.match(text, self.at):
                parts.append(Part(plain.group(), quoted=True))
                self.at = plain.end()
            elif character == '"':
                self.at += 1
                return
            elif character == "\\":
                following = text[self.at + 1 : self.at + 2]
                if following != "\n":
                    parts.append(Part(following if following in '$`"\\' else f"\\{following}", quoted=True))
                self.at += 2
            else:
                self._expansion(parts, assigns, quoted=True)

    def _expansion(self, parts: list[Part], assigns: list[str], *, quoted: bool) -> None:
        text, at = self.text, self.at
        following = text[at + 1 : at + 2]
        if variable := _VARIABLE.match(text, at):
            name, operator, behind = variable[1] or variable[2], variable[3] or "", variable[4] or ""
            parts.append(Part(behind, quoted, name, operator))
            self.at = variable.end()
            return
        if text[at] == "`" or following == "(":
            end = self._end_of_command(at)
            command = text[at:end]
            if command.startswith("$(("):
                if re.search(r"[/%]|\*\*|,|[?:]", command):  # it may fail, which ends a shell
                    raise Lost
                assigns += re.findall(rf"{_NAME}(?=\s*[-+*&|^<>]*=[^=]|\s*\+\+|\s*--)", command)
                assigns += re.findall(rf"(?:\+\+|--)\s*({_NAME})", command)
            self.at = end
        elif self.lists and (element := _OF_LIST.match(text, at)):
            self.at = element.end()
        elif special := _SPECIAL.match(text, at):
            self.at = special.end()
        elif braces := _BRACES.match(text, at):
            if braces[2] and braces[2].endswith("?"):
                raise Lost
            assigns += [braces[1]] if braces[2] and braces[2].endswith("=") else []
            self.at = braces.end()
        elif following in ("{", "\\", "["):
            raise Lost
        elif following in ("'", '"') and following and not quoted:
            end = text.find("'", at + 2)
            if following == "'" and "\\" in text[at : end if end > 0 else len(text)]:
                raise Lost
            self.at += 1
        else:
            parts.append(Part("$", quoted))
            self.at += 1
            return
        parts.append(Part(quoted=quoted, unknown=True))

    def _end_of_command(self, at: int) -> int:
        text = self.text
        if text[at] == "`":
            end = text.find("`", at + 1)
            if end < 0 or set(text[at:end]) & set("\\'\"#") or "<<" in text[at:end]:
                raise Lost
            return end + 1
        depth, start = 0, at
        at += 1
        while at < len(text):
            character = text[at]
            if plain := _ENDS_COMMAND.match(text, at):
                at = plain.end()
            elif character in "()":
                depth += 1 if character == "(" else -1
                at += 1
                if depth == 0:
                    if re.search(r"\bcase\b|[()][ \t]*\)\)|<<", text[start:at]) and "case" in text[start:at]:
                        raise Lost
                    return at
            elif character == "'":
                at = self._behind(text.find("'", at + 1))
            elif character == '"':
                simple = re.compile(r'"(?:[^"\\$`]|\\.|\$(?!\()|\$\([^()"\'`\\#]*\))*"', re.DOTALL)
                quoted = simple.match(text, at)
                at = self._behind(quoted.end() - 1 if quoted else -1)
            elif character == "$":
                at += 1
            else:
                raise Lost  # a comment, a backslash, a here-document
        raise Lost

    def _behind(self, end: int) -> int:
        if end < 0:
            raise Lost
        return end + 1


def _may_fail(text: str) -> bool:
    """Return whether an expansion in a text could end the shell."""
    plain = _SPECIAL.sub("", _VARIABLE.sub("", text))
    return "${" in plain or "$(" in plain or "`" in plain or "$[" in plain
