"""The variables of a shell, and the expansion of words with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rocmcfg.languages.shell_structure import ASSIGNMENT
from rocmcfg.languages.shell_words import Part, Word
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_UNCHANGED_BY_SPLITTING = regex(r"[\w./:,+@%=-]+", re.ASCII)
_OF_THE_SHELL = regex(
    r"_|IFS|LINENO|OPTARG|OPTIND|PPID|PWD|OLDPWD|RANDOM|SECONDS|E?UID|GROUPS|HISTCMD|FUNCNAME|DIRSTACK"
    r"|BASH\w*|SHELLOPTS|POSIXLY_CORRECT|SHLVL|EPOCH\w*|SRANDOM|PS[0-4]"
)
_OPTIONS = regex(r"([-+])([abefhmuvx]*)(o?)")
_LETTERS = {"allexport": "a", "errexit": "e", "nounset": "u", "pipefail": "p"}
ENDING = "eup"  # options with which a failing command, pipe or expansion ends a script
_LONGEST = 128 << 10  # characters; no variable of a program is longer (execve(2), MAX_ARG_STRLEN)


class Function:
    """A function. A call of it may set `names`, the names of its `calls`, and with `computes` anything."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.calls: set[str] = set()
        self.computes = False


class Value(NamedTuple):
    """The value of a word, and its value if the script gets to it; None where it is not known."""

    certain: str | None = None
    if_reached: str | None = None


def options_of_set(words: Sequence[str]) -> dict[str, bool] | None:
    """Return the options that `set` turns on or off, by their letters; None for others, which change how a
    script is read."""
    if words[:1] == ["--"] or words in (["-o"], ["+o"]):
        return {}
    options: dict[str, bool] = {}
    named = iter(words)
    for word in named:
        match = _OPTIONS.fullmatch(word)
        letter = _LETTERS.get(next(named, ""), "") if match and match[3] else "-"
        if match is None or not letter or len(word) < 2:
            return None
        options |= dict.fromkeys(match[2] + letter, match[1] == "-")
    return options


class Environment:
    """The state of a shell after it sourced some scripts. `exported` are the variables with which it began.
    `opaque` is the first line of the last script that may have set variables that the script does not
    name."""

    def __init__(self, exported: dict[str, str | None] | None = None) -> None:
        self._values: dict[str, str | None] = dict(exported or {})
        self._exported: dict[str, bool | None] = dict.fromkeys(self._values, True)
        self._unset: set[str] = set()
        self._assumed: dict[str, str] = {}  # values if the script gets to the present place
        self.functions: dict[str, Function] = {}
        self.constant: set[str] = set()
        self.exports_all = False  # set -a
        self.opaque = 0
        self.passed: dict[int, str] = {}  # values that a program alone gets, by the place of their words

    @property
    def exported(self) -> tuple[str, ...]:
        """Return the variables that programs get, or may get."""
        return tuple(name for name, exported in self._exported.items() if exported is not False)

    def is_exported(self, name: str) -> bool | None:
        """Return whether programs get a variable; None where it is not known."""
        return self._exported.get(name, False)

    def value(self, name: str) -> str | None:
        """Return the value that programs get; None where it is not known."""
        return self._values.get(name) if self._exported.get(name) else None

    def assign(self, name: str, value: str | None) -> None:
        """Set a variable; an unknown value is None."""
        self._values[name] = value
        self._assumed.pop(name, None)
        self._unset.discard(name)
        if self.exports_all:
            self._exported[name] = True

    def export(self, name: str) -> bool:
        """Export a variable, and return whether it has a value to export; without one here, the value of the
        session counts."""
        self._exported[name] = True
        return name not in self._unset

    def assume(self, name: str, value: str | None) -> None:
        """Note the value of a doubtful variable if the script gets to the present place."""
        if value is not None:
            self._assumed[name] = value

    def pass_on(self, words: Sequence[Word]) -> None:
        """Note the values of the assignments before the name of a program."""
        before = set[str]()
        for word in words:
            match = ASSIGNMENT.match(word.raw)
            value = self.expanded(word, match.end(), splits=False, reached=True) if match else None
            # shells differ in whether such an assignment sees those before it
            if value is not None and not any(part.name in before for part in word.parts):
                self.passed[word.start] = value
            before |= {match[1]} if match else set()

    def unset(self, name: str) -> None:
        self._values.pop(name, None)
        self._assumed.pop(name, None)
        self._exported[name] = False
        self._unset.add(name)

    def doubt(self, name: str, *, may_export: bool) -> None:
        """Note that a variable may or may not be set, and may or may not be exported unless it was before."""
        exported = self._exported.get(name, False)
        self._values[name] = None
        self._assumed.pop(name, None)
        self._unset.discard(name)
        if exported is False:
            self._exported[name] = None if may_export or self.exports_all else False

    def of_word(self, word: Word, begin: int, *, splits: bool) -> Value:
        """Return the value of an assignment's word, as `expanded` does."""
        if word.elements is not None:  # a list
            return Value()
        certain = self.expanded(word, begin, splits=splits)
        return Value(certain, certain or self.expanded(word, begin, splits=splits, reached=True))

    def expanded(self, word: Word, begin: int, *, splits: bool, reached: bool = False) -> str | None:
        """Return the word from an offset of its raw text on, with its variables replaced; None where it is
        not known. `splits`: the word is an argument, where shells treat an unquoted expansion differently.
        `reached`: the script gets to the present place."""
        out, cut, before = list[str](), begin, ":"
        for part in word.parts:
            text = self._of_part(part, self._assumed if reached else {})
            if text is None:
                return None
            literal = not part.quoted and not part.name
            if cut and literal:
                text, cut = text[cut:], max(0, cut - len(text))
            if (splits and _may_change(text, part)) or (literal and re.search(r"(?:^|[:=])~", before + text)):
                return None
            out.append(text)
            before = text[-1:] if literal and text else "x" if not literal else before
        value = "".join(out)
        return None if len(value) > _LONGEST else value

    def _of_part(self, part: Part, assumed: Mapping[str, str]) -> str | None:
        name = part.name
        if part.unknown or (name and is_of_the_shell(name)):
            return None
        if not name:
            return part.text
        if name in self._unset:
            return part.text if part.operator.endswith("-") else ""
        value = assumed.get(name, self._values.get(name))
        if value is None or not part.operator:
            return value
        present = value != "" or ":" not in part.operator
        if part.operator.endswith("-"):
            return value if present else part.text
        return part.text if present else ""


def is_of_the_shell(name: str) -> bool:
    """Return whether a shell itself sets or uses the variable."""
    return _OF_THE_SHELL.fullmatch(name) is not None


def _may_change(text: str, part: Part) -> bool:
    """Return whether an unquoted part of an argument may expand to another text, or to several words."""
    if part.quoted:
        return False
    if part.name:
        return _UNCHANGED_BY_SPLITTING.fullmatch(text) is None
    return bool(set(text) & set("*?[{~"))
