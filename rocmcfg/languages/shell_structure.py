"""Parse the commands of a script with the compound commands around them. Raises Lost where dash and bash
would not agree, or where they would not understand the text."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rocmcfg.languages.shell_words import Lost, Token, Word
from rocmcfg.model.regex import regex

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
IDENTIFIER = regex(NAME)
ASSIGNMENT = regex(rf"({NAME})=")
_FUNCTION = regex(r"[A-Za-z_][\w.:-]*")
OPENING = {"if": "fi", "while": "done", "until": "done", "for": "done", "case": "esac", "{": "}", "(": ")"}
_CLOSING = frozenset(OPENING.values())
BETWEEN = frozenset({"then", "else", "elif", "do", "!"})
_ONLY_BASH = frozenset({"function", "select", "coproc", "time"})


class _Frame:
    """A compound command. `waits`: a pattern of `case` is next."""

    def __init__(self, opening: str, function: str) -> None:
        self.opening, self.function, self.waits = opening, function, opening == "case"


class Command:
    """A command. `before` is the operator before it. `harmless`: none of its redirections can fail. `assigns`
    are names that its redirections may set."""

    def __init__(self, start: int, before: str) -> None:
        self.start, self.before = start, before
        self.words: list[Word] = []
        self.redirected, self.harmless = False, True
        self.assigns: list[str] = []


class Structure(ABC):
    """Takes tokens, and runs the commands of each list once it ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.frames: list[_Frame] = []
        self._command: Command | None = None
        self._list: list[Command] = []
        self.before = ""  # the operator before the command that comes next
        self._naming = ""  # a function whose body comes next; "(" between its name and the parenthesis
        self._closed = False  # a compound command has just ended
        self._head = 0  # which part of the head of `for` or `case` comes next

    @abstractmethod
    def run_command(self, command: Command, *, first: bool) -> None:
        """Run a command. `first`: no earlier command of its list decides whether it runs."""

    @abstractmethod
    def doubt(self, name: str, start: int) -> None:
        """Note that a variable may be set at this place."""

    @abstractmethod
    def is_reserved(self, name: str) -> bool:
        """Return whether a function of that name would replace a command that this parser knows."""

    @property
    def is_over(self) -> bool:
        """Return whether the rest of the script is not run."""
        return False

    @property
    def function_name(self) -> str:
        """Return the name of the function whose body is being read; empty outside of one."""
        return next((frame.function for frame in self.frames if frame.function), "")

    @property
    def is_apart(self) -> bool:
        """Return whether a subshell runs the command, so that its variables end with it."""
        return any(frame.opening == "(" for frame in self.frames)

    def take(self, token: Token) -> None:
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.opening == "for" and self._head:
            self._of_for(token)
        elif frame is not None and frame.opening == "case" and (self._head or frame.waits):
            self._of_case(frame, token)
        elif token.redirection:
            self._redirect(token)
        elif token.word is not None:
            self._word(token.word)
        else:
            self._operator(token)

    def end(self) -> None:
        self._end_list(len(self.text))
        if self.frames:
            raise Lost

    def _redirect(self, token: Token) -> None:
        # the text of a here-document, which follows its line, does not begin a command
        if self._closed or (self._command is None and self.text[token.at] not in "<>0123456789"):
            for name in token.assigns:
                self.doubt(name, token.at)
            return
        command = self._begin(token.at)
        command.redirected, command.harmless = True, command.harmless and token.harmless
        command.assigns += token.assigns

    def _begin(self, at: int) -> Command:
        if self._command is None:
            self._command = Command(at, self.before)
        return self._command

    def _word(self, word: Word) -> None:
        if self._closed and word.raw not in _CLOSING | BETWEEN:
            raise Lost
        if (self._command is None or not self._command.words) and self._keyword(word):
            return
        self._begin(word.start).words.append(word)

    def _keyword(self, word: Word) -> bool:
        raw = word.raw
        if raw in _ONLY_BASH or (word.joined and not ASSIGNMENT.match(raw)):
            raise Lost
        if self._naming and raw not in OPENING:
            raise Lost
        if raw in BETWEEN:
            self._flush()
            self._closed, self.before = False, ""
        elif raw in OPENING:
            self._open(raw)
        elif raw in _CLOSING:
            self._close(raw)
        else:
            return False
        return True

    def _open(self, opening: str) -> None:
        if self._command is not None:
            raise Lost
        self._flush(certain=False)
        self.frames.append(_Frame(opening, self._naming))
        self._naming, self._closed = "", False
        self._head = 1 if opening in ("for", "case") else 0

    def _close(self, closing: str) -> None:
        self._flush()
        if not self.frames or OPENING[self.frames[-1].opening] != closing or self._naming:
            raise Lost
        self.frames.pop()
        self._closed = True

    def _of_for(self, token: Token) -> None:
        """Take a token of `for NAME in WORDS`, up to the end of its line. Raises Lost."""
        word = token.word
        if self._head == 1:
            if word is None or not IDENTIFIER.fullmatch(word.raw):
                raise Lost
            self.doubt(word.raw, word.start)
            self._head = 2
        elif token.operator in (";", "\n") or (word is not None and word.raw == "do"):
            self._head = 0
        elif word is None:
            raise Lost
        else:
            for name in word.assigns:
                self.doubt(name, word.start)

    def _of_case(self, frame: _Frame, token: Token) -> None:
        """Take a token of `case WORD in` or of a `PATTERN)`. Raises Lost."""
        word = token.word
        if self._head:
            if word is None and (self._head == 1 or token.operator != "\n"):
                raise Lost
            if self._head == 2 and word is not None and word.raw != "in":
                raise Lost
            self._head = 2 if self._head == 1 else 0 if word is not None else 2
        elif word is not None and word.raw == "esac":
            self.frames.pop()
            self._closed = True
        elif token.operator == ")":
            frame.waits = False
        elif word is None and token.operator not in ("(", "|", "\n"):
            raise Lost

    def _operator(self, token: Token) -> None:
        operator = token.operator
        if operator == "(":
            self._parenthesis(token)
        elif operator == ")" and self._naming == "(" and self._command is not None:
            self._naming = self._command.words[0].raw
            self._command = None
        elif self._naming and operator != "\n":
            raise Lost
        elif operator == "\n" and self.before and self._command is None and not self._closed:
            return  # a list continues after its operator
        elif operator in ("&&", "||", "|"):
            if self._command is None and not self._closed:
                raise Lost
            self._end_command()
            self.before, self._closed = operator, False
        else:
            self._end_list(token.at, background=operator == "&")
            self._behind_list(operator)

    def _behind_list(self, operator: str) -> None:
        if operator == ")":
            self._close(")")
        elif operator == ";;":
            if not self.frames or self.frames[-1].opening != "case":
                raise Lost
            self.frames[-1].waits = True

    def _parenthesis(self, token: Token) -> None:
        command = self._command
        if command is None and not self._closed:
            if self.text.startswith("((", token.at):
                raise Lost
            self._open("(")
            return
        if command is None or len(command.words) != 1 or command.redirected or self._list or self._naming:
            raise Lost
        name = command.words[0].raw
        if not _FUNCTION.fullmatch(name) or self.is_reserved(name):
            raise Lost
        self._naming = "("

    def _end_command(self) -> None:
        if self._command is not None:
            self._list.append(self._command)
        self._command = None

    def _end_list(self, at: int, *, background: bool = False) -> None:
        missing = self._command is None and not self._closed
        if missing and (self.before or self._naming):
            raise Lost
        ends_pattern = bool(self.frames) and self.text.startswith(";;", at)
        if missing and not self._list and self.text[at : at + 1] in (";", "&") and not ends_pattern:
            raise Lost
        self._flush(certain=not background)
        self.before, self._closed = "", False

    def _flush(self, *, certain: bool = True) -> None:
        """Run the commands of a list."""
        self._end_command()
        commands, self._list = self._list, []
        for number, command in enumerate(commands):
            following = commands[number + 1].before if number + 1 < len(commands) else ""
            alone = number == 0 and not command.before and following != "|"
            self.run_command(command, first=certain and alone)
            if self.is_over:
                return
