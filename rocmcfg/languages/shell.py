"""Read the scripts that login shells source, /etc/profile and profile.d, as both dash and bash run them.

Nothing is run and nothing is guessed. A variable has a value if the script sets it literally, on a line that
every login runs. A value that depends on a condition, a loop, a function or another program is unknown, and
so is one on which the two shells differ. A computed command (`eval`, a file whose name is in a variable)
could set any variable that the script names; `Environment.opaque` is the place of such a command, since it
could also set variables that the script does not name.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Sequence

from rocmcfg.languages import Effect, Statement, is_damaged
from rocmcfg.languages.shell_state import (
    ENDING,
    Environment,
    Function,
    Value,
    is_of_the_shell,
    options_of_set,
)
from rocmcfg.languages.shell_structure import (
    ASSIGNMENT,
    BETWEEN,
    IDENTIFIER,
    NAME,
    OPENING,
    Command,
    Structure,
)
from rocmcfg.languages.shell_words import Lexer, Lost, Word
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

__all__ = ["Environment", "read"]

_OF_BASH = regex(rf"({NAME})(?:\[[^]]*\])?\+?=")  # arrays, and appending assignments
_ALIAS = regex(r"[\w.-]+=")
_SHELL_OPTIONS = frozenset({"expand_aliases", "extglob", "lastpipe"})
# Commands that may set the variables in their arguments.
_SETTING = frozenset(
    {"read", "getopts", "declare", "typeset", "local", "let", "mapfile", "readarray", "wait", "printf"}
)
_COMPUTING = frozenset({"eval", "trap", "command", "builtin"})
_KEEPING = frozenset(
    {":", "times", "break", "continue"}
)  # commands whose own assignments last in some shells
_DEPTH = 4  # scripts that source scripts
_PATIENCE = 50  # computed statements of a script

Sourced = Callable[[str], "str | None"]


def read(
    text: str, environment: Environment, sourced: Sourced = lambda _: None, *, bash: bool = False
) -> list[Statement]:
    """Return every place of a script that sets or unsets a variable, in order; `environment` has these
    variables afterwards. `sourced` returns the text of another script that this one sources, by its path, if
    it is available. `bash`: no other shell reads the script."""
    script = _Script(environment, text, sourced, 0, certain=True, bash=bash)
    script.run()
    environment.opaque = script.opaque
    return script.statements


class _Invocation(NamedTuple):
    """The arguments of a command of the shell, and whether every login runs it. `in_line`: it is run if the
    script gets to it."""

    words: Sequence[Word]
    command: Command
    certain: bool
    in_line: bool


class _Script(Structure):
    """`certain`: the rest of the script is run at every login."""

    def __init__(
        self,
        environment: Environment,
        text: str,
        sourced: Sourced,
        depth: int,
        *,
        certain: bool,
        bash: bool = False,
    ) -> None:
        super().__init__(text)
        self.lexer = Lexer(text, lists=bash)
        self.shell, self.sourced, self.depth, self.certain = environment, sourced, depth, certain
        self.statements: list[Statement] = []
        self.opaque = 0
        self.over = False
        self.patience = _PATIENCE
        self.line_starts = [0, *(newline.end() for newline in re.finditer("\n", text))]

    def run(self) -> None:
        begin = 0  # of the complete command, which a shell reads to its end before running any of it
        try:
            if is_damaged(self.text):
                raise Lost
            for token in self.lexer.tokens():
                self.take(token)
                if token.operator == "\n" and not self.frames and not self.before:
                    begin = token.at + 1
                if self.over:
                    return
            self.end()
        except Lost:
            self._lose(begin)

    @property
    def is_over(self) -> bool:
        return self.over

    def is_reserved(self, name: str) -> bool:
        return name in _COMMANDS or name in _SETTING or name in _COMPUTING or name in _KEEPING

    # -- commands

    def run_command(self, command: Command, *, first: bool) -> None:
        words = command.words
        for name in (*command.assigns, *(name for word in words for name in word.assigns)):
            self.doubt(name, command.start)
        in_line = first and command.harmless and not self.frames
        certain = in_line and self.certain
        count = 0
        while count < len(words) and (match := _OF_BASH.match(words[count].raw)):
            if not ASSIGNMENT.match(words[count].raw):
                self.doubt(match[1], words[count].start)
            count += 1
        if count == len(words):
            for word in words:
                self._assign(word, certain=certain, in_line=in_line)
            return
        if not self.frames and not self.depth:
            self.shell.pass_on(words[:count])
        called, rest = words[count].literal, words[count + 1 :]
        if called is None:
            self._compute(command)
        elif self.is_reserved(called) or called in self.shell.functions:
            for word in words[:count]:  # shells differ in whether these last
                self.doubt(word.name, word.start)
            self._builtin(called, _Invocation(rest, command, certain and not count, in_line and not count))

    def _builtin(self, name: str, invocation: _Invocation) -> None:
        rest, command = invocation.words, invocation.command
        if name in self.shell.functions:
            self._call(name, command)
        elif name in _COMMANDS:
            _COMMANDS[name](self, invocation)
        elif name in _COMPUTING:
            self._compute(command)
        elif name in _SETTING and (name != "printf" or (rest and rest[0].raw.startswith("-v"))):
            for identifier in (identifier for word in rest for identifier in IDENTIFIER.findall(word.raw)):
                self.doubt(identifier, command.start)
            if any(part.name or part.unknown for word in rest for part in word.parts):
                self._compute(command)

    def _assign(self, word: Word, *, certain: bool, in_line: bool) -> None:
        match = ASSIGNMENT.match(word.raw)
        if match is None:
            return
        value = self.shell.of_word(word, match.end(), splits=False)
        self._set_to(match[1], value, word, certain=certain, in_line=in_line, exports=False)

    def _set_to(
        self, name: str, value: Value, word: Word, *, certain: bool, in_line: bool, exports: bool
    ) -> None:
        if name in self.shell.constant:
            raise Lost
        if not certain or is_of_the_shell(name):
            self._doubt_at(name, word, value.if_reached, exports=exports)
            if in_line:
                self.shell.assume(name, value.if_reached)
            return
        self.shell.assign(name, value.certain)
        if value.certain is None:
            self.shell.assume(name, value.if_reached)
        if exports:
            self.shell.export(name)
        apart = self.shell.is_exported(name) is False
        effect = Effect.NOT_EXPORTED if apart else Effect.SETS
        self._say(name, value.certain, word, effect, value.if_reached)

    def _export(self, invocation: _Invocation) -> None:
        self._declare(invocation, exports=True)

    def _readonly(self, invocation: _Invocation) -> None:
        self._declare(invocation, exports=False)

    def _declare(self, invocation: _Invocation, *, exports: bool) -> None:
        rest, certain = invocation.words, invocation.certain
        if any(word.raw.startswith("-") for word in rest):
            if [word.raw for word in rest] != ["-p"]:
                for word in rest:
                    self.doubt(word.name, word.start)
                if not all(word.raw.startswith("-") or word.is_plain for word in rest):
                    raise Lost
            return
        matches = [ASSIGNMENT.match(word.raw) for word in rest]
        # all words are expanded before the first one is set
        values = [
            self.shell.of_word(w, f.end(), splits=exports) if f else Value()
            for w, f in zip(rest, matches, strict=True)
        ]
        for word, assigned, value in zip(rest, matches, values, strict=True):
            name = assigned[1] if assigned else word.literal or ""
            if not IDENTIFIER.fullmatch(name) or (word.joined and not assigned):
                raise Lost
            if assigned:
                in_line = invocation.in_line
                self._set_to(name, value, word, certain=certain, in_line=in_line, exports=exports)
            elif exports and (not certain or is_of_the_shell(name)):
                self._doubt_at(name, word, None, exports=True)
            elif exports:
                has_value = self.shell.export(name)
                effect = Effect.SETS if has_value else Effect.UNSETS
                self._say(name, self.shell.value(name), word, effect)
            if not exports and not self.is_apart:
                self.shell.constant.add(name)

    def _unset(self, invocation: _Invocation) -> None:
        rest = invocation.words
        if rest and rest[0].raw == "-f":
            return
        for word in rest[1:] if rest and rest[0].raw == "-v" else rest:
            name = word.literal or ""
            if not IDENTIFIER.fullmatch(name) or name in self.shell.constant:
                raise Lost
            if invocation.certain:
                self.shell.unset(name)
                self._say(name, None, word, Effect.UNSETS)
            else:
                self._doubt_at(name, word, None, exports=True)

    def _set(self, invocation: _Invocation) -> None:
        options = options_of_set([word.raw for word in invocation.words])
        if options is None:
            raise Lost
        if "a" in options:
            if not invocation.certain:
                raise Lost
            self.shell.exports_all = options["a"]
        if any(options.get(letter) for letter in ENDING):  # from now on any command may end the script
            self.opaque = self.opaque or self._line(invocation.command.start)
            self.certain = False

    def _source(self, invocation: _Invocation) -> None:
        rest, command, certain = invocation.words, invocation.command, invocation.certain
        path = self.shell.expanded(rest[0], 0, splits=True) if rest else None
        text = None
        of_both = command.words[0].raw == "."  # dash knows no `source`
        if path and path.startswith("/") and self.depth < _DEPTH and of_both and not self.is_apart:
            text = self.sourced(path)
        if text is None or self.function_name:
            self._compute(command)
            self.certain = self.certain and not certain  # a missing file ends dash
            return
        script = _Script(self.shell, text, self.sourced, self.depth + 1, certain=certain)
        script.run()
        if script.opaque:
            self.opaque = self.opaque or self._line(command.start)
        for statement in script.statements:
            self._say(statement.name, statement.value, rest[0], statement.effect)

    def _end_script(self, invocation: _Invocation) -> None:
        function = self._function()
        if function is not None:
            function.computes = function.computes or invocation.command.words[0].raw == "exit"
        elif not self.is_apart:
            self.over = invocation.certain
            self.certain = False

    def _exec(self, invocation: _Invocation) -> None:
        if invocation.words:
            self._compute(invocation.command)
            self.certain = False

    def _shift(self, invocation: _Invocation) -> None:
        """Give up: `shift` ends dash if there is nothing to shift. Raises Lost."""
        if invocation.command:
            raise Lost

    def _shopt(self, invocation: _Invocation) -> None:
        if any(word.raw in _SHELL_OPTIONS for word in invocation.words):
            raise Lost

    def _alias(self, invocation: _Invocation) -> None:
        for word in invocation.words:
            name = word.raw.partition("=")[0]
            if not _ALIAS.match(word.raw) or self.is_reserved(name) or name in OPENING or name in BETWEEN:
                raise Lost
            function = self.shell.functions.setdefault(name, Function())
            function.names.update(IDENTIFIER.findall(word.raw))
            function.computes = function.computes or not word.is_plain

    def _call(self, name: str, command: Command) -> None:
        caller = self._function()
        if caller is not None:
            caller.calls.add(name)
            return
        done, waiting = set(), [name]
        while waiting:
            called = waiting.pop()
            function = self.shell.functions.get(called)
            if called in done or function is None:
                continue
            done.add(called)
            waiting += function.calls
            for touched in sorted(function.names):
                self.doubt(touched, command.start)
            if function.computes:
                self._compute(command)
                self.certain = False

    # -- unknown values

    def _compute(self, command: Command) -> None:
        """Doubt all variables that the script names: only a shell can tell which of them this command
        sets."""
        function = self._function()
        if function is not None:
            function.computes = True
            function.names.update(IDENTIFIER.findall(self.text))
        elif not self.is_apart:
            self.patience -= 1
            if self.patience < 0:
                raise Lost
            self.opaque = self.opaque or self._line(command.start)
            for name in dict.fromkeys(IDENTIFIER.findall(self.text)):
                self.doubt(name, command.start)

    def _lose(self, at: int) -> None:
        """Note that the rest of the script, from this place on, needs a shell."""
        self.opaque = self.opaque or self._line(at)
        self.statements = [statement for statement in self.statements if statement.start < at]
        for name in dict.fromkeys(IDENTIFIER.findall(self.text, at)):
            self.shell.doubt(name, may_export=True)
            self.statements.append(Statement(name, None, self._line(at), at, at))

    def doubt(self, name: str, start: int) -> None:
        if not name or self.is_apart:
            return
        function = self._function()
        if function is not None:
            function.names.add(name)
            return
        self.shell.doubt(name, may_export=True)
        self.statements.append(Statement(name, None, self._line(start), start, start))

    def _doubt_at(self, name: str, word: Word, written: str | None, *, exports: bool) -> None:
        """Note that a word sets a variable if it is reached."""
        if self.is_apart or self._function() is not None:
            self.doubt(name, word.start)
            return
        self.shell.doubt(name, may_export=exports)
        effect = Effect.NOT_EXPORTED if self.shell.is_exported(name) is False else Effect.SETS
        self._say(name, None, word, effect, written)

    def _say(
        self, name: str, value: str | None, word: Word, effect: Effect, written: str | None = None
    ) -> None:
        line = self._line(word.start)
        statement = Statement(
            name, value, line, word.start, word.stop, effect, written if value is None else value
        )
        self.statements.append(statement)

    def _line(self, at: int) -> int:
        return bisect(self.line_starts, at)

    def _function(self) -> Function | None:
        """Return the function whose body is being read; None outside of one."""
        name = self.function_name
        return self.shell.functions.setdefault(name, Function()) if name else None


_COMMANDS: dict[str, Callable[[_Script, _Invocation], None]] = {
    "export": _Script._export,
    "readonly": _Script._readonly,
    "unset": _Script._unset,
    "set": _Script._set,
    ".": _Script._source,
    "source": _Script._source,
    "return": _Script._end_script,
    "exit": _Script._end_script,
    "exec": _Script._exec,
    "shift": _Script._shift,
    "shopt": _Script._shopt,
    "alias": _Script._alias,
}
