"""Determine which commands of a script its shell never reaches: those of a branch that never runs, and those
behind a command that ends the script. A script that leaves a doubt about its structure has none."""

from __future__ import annotations

from enum import Enum

from rocmcfg.advice.lint.readers.words import Command
from rocmcfg.model.regex import regex

_OF_TESTS = {"if", "while", "until"}
_CLOSED_BY = {"if": "fi", "case": "esac", "{": "}", "function": "}", "begin": "end", "switch": "end"}
_LOOPS = {"for", "while", "until", "select"}
_CLOSING = {"fi", "esac", "}", "end", "done"}
_OF_FISH = _OF_TESTS | {"for", "function", "begin", "switch"}  # which `end` closes
_FALSE = {("false",), ("!", "true"), ("!", ":")}
_TRUE = {("true",), (":",), ("!", "false")}
_POSIX = regex(r"#!.*\b(?:ba|da|k|mk)?sh\b")  # in fish a script goes on if `exec` fails
_REDEFINED = regex(r"\b(?:exit|return|exec)[ \t]*(?:=|\([ \t]*\))")


class Fate(Enum):
    """What becomes of a command. NEVER: its branch is not run. BEHIND: the script ends before it."""

    MAY_RUN = "may run"
    NEVER = "never"
    BEHIND = "behind"


class _Frame:
    """A compound command. `tests` are the commands of its condition, which is read while `testing`. `taken`:
    a branch that always runs was passed. `dead`: the present branch never runs."""

    def __init__(self, opening: str) -> None:
        self.opening = opening
        self.tests: list[tuple[str, ...]] = []
        self.testing = opening in _OF_TESTS
        self.taken = self.dead = False

    def begin_branch(self) -> None:
        """Take the end of the condition."""
        test = self.tests[0] if self.testing and len(self.tests) == 1 else ()
        self.dead = self.taken or test in (_TRUE if self.opening == "until" else _FALSE)
        self.taken = self.taken or (self.opening == "if" and test in _TRUE)
        self.testing = False


class Reach:
    """Follow the commands of a text in order. `end` is the offset of the command that ends the script, or -1.
    `sourced`: another shell reads the script, so that `return` ends it, too. Without `ends` nothing does."""

    def __init__(self, text: str, *, sourced: bool, ends: bool) -> None:
        self.text = text
        self.end = -1
        self._can_end = ends and _REDEFINED.search(text) is None
        self._ends = {"exit", "return"} if sourced else {"exit"}
        self._exec_ends = not sourced and _POSIX.match(text) is not None and "execfail" not in text
        self._frames: list[_Frame] = []
        self._doubtful = False

    def take(self, command: Command) -> Fate:
        if self.end >= 0:
            return Fate.BEHIND
        self._doubtful = self._doubtful or command.guessed
        if self._doubtful:
            return Fate.MAY_RUN
        words = [self.text[word.start : word.stop] for word in command.words]
        begin = self._structure(words)
        if begin < 0:
            self._doubtful = True
            return Fate.MAY_RUN
        if any(frame.dead for frame in self._frames):
            return Fate.NEVER
        alone = self._can_end and begin == 0 and not self._frames and not command.nested and not command.piped
        if (
            alone
            and command.follows in "\n;"
            and self.text[command.stop : command.stop + 1] in ("\n", ";", "")
        ):
            self._end_at(command, words)
        return Fate.MAY_RUN

    def _end_at(self, command: Command, words: list[str]) -> None:
        program = words[1:] and not words[1].startswith(("-", "{"))
        if words and (words[0] in self._ends or (words[0] == "exec" and program and self._exec_ends)):
            self.end = command.words[0].start

    def _structure(self, words: list[str]) -> int:
        """Follow the compound commands that begin and end with a command's first words, and return the index
        of the first word that is no keyword; -1 if they do not fit together."""
        for number, word in enumerate(words):
            top = self._frames[-1] if self._frames else None
            if word in _OF_TESTS or word in ("{", "begin"):
                self._count(top, ())
                self._frames.append(_Frame(word))
            elif word in _CLOSED_BY or word in _LOOPS:  # its own words follow
                self._count(top, ())
                self._frames.append(_Frame(word))
                return number + 1
            elif word in ("then", "do"):
                if top is not None:
                    top.begin_branch()
            elif word in ("elif", "else"):
                if top is not None:
                    top.dead = top.taken
            elif word in _CLOSING and number == 0:
                return 1 if self._closes(word) else -1
            elif word not in ("!", "time") or number + 1 == len(words):
                self._count(top, tuple(words[number:]))
                return number
            else:
                self._count(top, tuple(words[number:]))
                return number + 1
        return len(words)

    def _count(self, top: _Frame | None, words: tuple[str, ...]) -> None:
        """Note a command of a condition."""
        if top is not None and top.testing:
            top.tests.append(words)

    def _closes(self, closing: str) -> bool:
        opening = self._frames.pop().opening if self._frames else ""
        own = _CLOSED_BY.get(opening, "done" if opening in _LOOPS else "")
        return own == closing or (closing == "end" and opening in _OF_FISH)
