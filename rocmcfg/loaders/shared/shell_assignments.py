"""Read the assignments of a file that a shell sources, without running it and without guessing.

Covers `NAME=value` with the three kinds of quoting, `$NAME`, `${NAME}`, `${NAME:+word}`, `${NAME:-word}`,
`export`. A value of any other form makes its variable unknown; a line that is not just an assignment makes
all variables unknown, to the end of the file. Source of the rules: POSIX.1-2024, 2.2 Quoting, 2.3 Token
Recognition, 2.6.2 Parameter Expansion.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_WHOLE_NAME = rf"{_NAME}(?![A-Za-z0-9_])"  # otherwise any prefix would match, and all would be tried
_ASSIGNMENT = regex(rf"[ \t]*(export[ \t]+)?({_NAME})(\+?)=")
_EXPANSION = regex(
    rf"\$(?:({_NAME})|\{{({_NAME})(?:(:?[-+])((?:[^{{}}$`\\\"]|\$\{{?{_WHOLE_NAME}\}}?)*))?\}})"
)
# Substitutions whose end is certain. Anything else ends the reading of the file.
_BRACES = r"\$\{(?:[^{}\"'`\\$\n]|\$\{[^{}\"'`\\$\n]*\}|\$(?!\{))*\}"
_COMMAND = r"\$\((?!\()(?:[^()\"'`\\#\n]|\([^()\"'`\\#\n]*\)|'[^'\n]*'|\"[^\"$`\\\n]*\")*\)"
_BACKTICKS = r"`[^`\\\"'#\n]*`"
_SUBSTITUTION = f"{_BRACES}|{_COMMAND}|{_BACKTICKS}"
# The tokens of a file, outside of double quotes and inside. Where none matches, the reader gives up.
_OUTSIDE = regex(
    rf"(?P<end>\n)|(?P<joined>\\\n)|(?P<comment>#[^\n]*)|(?P<quote>\")"
    rf"|(?P<hidden>'[^']*'|\\.|{_SUBSTITUTION})|(?P<plain>[^\n#\"'\\`$<\0]+|<(?!<)|\$(?![({{'\"]))",
    re.DOTALL,
)
_INSIDE = regex(
    rf"(?P<joined>\\\n)|(?P<quote>\")|(?P<quoted>[^\"\\`$]+|\\.|{_SUBSTITUTION}|\$(?![({{]))", re.S
)
# The tokens of a value other than expansions, outside of double quotes and inside.
_BARE = regex(
    r"(?P<quote>\")|'(?P<single>[^']*)'|\\(?P<escaped>.)|(?P<end>[ \t;])"
    r"|(?P<literal>[*?\[]|[^ \t;\"'\\`()<>|&~$*?\[]+)",
    re.DOTALL,
)
_DOUBLE = regex(r"(?P<quote>\")|\\(?P<escaped>[$`\"\\])|(?P<literal>\\.|[^\"\\`$]+)", re.DOTALL)

# A line that sets one variable to any value, with quoted parts hidden.
_ALONE = regex(rf"[ \t]*(?:export[ \t]+)?({_NAME})\+?=[^ \t\n;&|()<>]*[ \t]*;?[ \t]*")
_ASSIGNING_EXPANSION = regex(rf"\$\{{{_NAME}:?=")
# If no file assigns them, only these names are certainly empty: grub-mkconfig, the environment and the shell
# itself set others.
_SURELY_UNSET = regex(r"GRUB_CMDLINE_\w+|LINUX_(?:FALLBACK_)?OPTIONS")
_COUNTED_BY_SHELL = {"IFS", "LINENO", "OPTARG", "OPTIND", "PPID", "PWD", "OLDPWD", "RANDOM", "SECONDS", "_"}
_HIDDEN = '"'  # replaces quoted text, an escape or a substitution where only the commands matter


# Limits of a value, in characters and in segments; a kernel takes 2,048 bytes of all of GRUB's variables
# together.
LONGEST, MOST = 4 << 10, 1 << 10


class Segment(NamedTuple):
    """A piece of a value, and the `file:line` that set it."""

    text: str
    source: str


Value = tuple[Segment, ...]  # no segment is empty


def arguments(name: str, path: str, text: str) -> tuple[Karg, ...] | None:
    """Return the arguments that a variable holds after a file with this text was sourced; None where only a
    shell can tell."""
    environment = Environment()
    environment.read(path, text)
    assigned = environment.text(name)
    return None if assigned is None else split(assigned, path)


class NotPlain(ValueError):
    """The text needs a real shell."""


class _Line(NamedTuple):
    """A logical line. `code` is `text` with quoted parts hidden; None where the reader gave up."""

    number: int
    text: str
    code: str | None


class Environment:
    """The variables after some files were read. Only a shell can tell the value of a name in `unknown`;
    `opaque` is the first line that could have assigned any variable. `bash`: `NAME+=value` appends to the
    variable; to a POSIX shell it is the name of a command."""

    def __init__(self, *, bash: bool = False) -> None:
        self.bash = bash
        self.values: dict[str, Value] = {}
        self.unknown: dict[str, str] = {}
        self.opaque = ""

    def read(self, path: str, text: str) -> None:
        for line in _logical_lines(text):
            where = f"{path}:{line.number}"
            if line.code is None or not (self._assign(line.text, where) or self._alone(line, where)):
                self.values.clear()
                self.opaque = self.opaque or where
                return

    def _assign(self, line: str, where: str) -> bool:
        match = _ASSIGNMENT.match(line)
        if match is None or match.group(2) in _COUNTED_BY_SHELL:
            return False
        name, adds = match.group(2), bool(match.group(3))
        before = self.values.get(name) if adds else ()
        if before is None and name not in self.unknown and not self.opaque and _SURELY_UNSET.fullmatch(name):
            before = ()
        if before is None or (adds and not self.bash):
            return False
        try:
            value = (*before, *self._value(line[match.end() :], where, splits=bool(match.group(1))))
            _require_bounded(value)
        except NotPlain:
            return False
        self.values[name] = value
        self.unknown.pop(name, None)
        return True

    def _alone(self, line: _Line, where: str) -> bool:
        match = _ALONE.fullmatch(line.code or "")
        if match is None or _ASSIGNING_EXPANSION.search(line.text):
            return False
        self.values.pop(match[1], None)
        self.unknown[match[1]] = where
        return True

    def text(self, name: str) -> str | None:
        """Return the value as one string; None where it is unknown. An unset variable is empty."""
        if name not in self.values and (name in self.unknown or self.opaque):
            return None
        return "".join(segment.text for segment in self.values.get(name, ()))

    def _value(self, text: str, where: str, *, splits: bool) -> Value:
        """Return the value of one shell word, followed by nothing or by a semicolon. `splits`: the word is an
        argument of `export`, where shells treat an unquoted expansion differently. Raises NotPlain."""
        if len(text) > LONGEST:
            raise NotPlain
        segments = (segment for segment in self._segments(text, where, splits=splits) if segment.text)
        value = tuple(islice(segments, MOST + 1))
        _require_bounded(value)
        return value

    def _segments(
        self, text: str, where: str, *, splits: bool = False, all_quoted: bool = False
    ) -> Iterator[Segment]:
        """Yield the segments of a text. `all_quoted`: double quotes open before the text and close after it.
        Raises NotPlain."""
        quoted = all_quoted
        at = 0
        while at < len(text):
            if splits and not quoted and text[at] in "$*?[":
                raise NotPlain
            pattern = _EXPANSION if text[at] == "$" else _DOUBLE if quoted else _BARE
            match = pattern.match(text, at)
            if match is None:
                raise NotPlain
            if pattern is _EXPANSION:
                yield from self._expanded(match, where, quoted=quoted)
            elif match.lastgroup == "quote":
                quoted = not quoted
            elif match.lastgroup == "end":
                if text[at:].strip(" \t") not in ("", ";"):
                    raise NotPlain
                break
            else:
                yield Segment(match[match.lastgroup or 0], where)
            at = match.end()
        if quoted != all_quoted:  # the quote is never closed
            raise NotPlain

    def _expanded(self, match: re.Match[str], where: str, *, quoted: bool) -> Iterable[Segment]:
        name, operator, word = match[1] or match[2], match[3] or "", match[4] or ""
        value = self.values.get(name)
        if value is None and (name in self.unknown or self.opaque or not _SURELY_UNSET.fullmatch(name)):
            raise NotPlain
        is_set = value is not None and (value != () or ":" not in operator)
        if not operator or (operator.endswith("-") and is_set):
            return value or ()
        if not operator.endswith("-") and not is_set:
            return ()
        if not quoted and ("'" in word or "~" in word):
            raise NotPlain
        return self._segments(word, where, all_quoted=True)


def _require_bounded(value: Value) -> None:
    """Refuse a value that is too long: lines that double a value soon reach gigabytes. Raises NotPlain."""
    if len(value) > MOST or sum(len(segment.text) for segment in value) > LONGEST:
        raise NotPlain


@functools.lru_cache(maxsize=4)  # one command reads the same files a dozen times
def _logical_lines(text: str) -> tuple[_Line, ...]:
    return tuple(_parted(text))


def _parted(text: str) -> Iterator[_Line]:
    """Yield lines as the shell sees them: joined at `\\`-newline, with quotes closed, without comments."""
    start = number = opened = 1
    at = 0
    line: list[str] = []  # a list of pieces, since a growing text would be copied each time
    code: list[str] = []
    quoted = False
    while at < len(text):
        match = (_INSIDE if quoted else _OUTSIDE).match(text, at)
        if match is None:
            break
        piece, kind = match[0], match.lastgroup
        if kind == "comment" and code and code[-1][-1] not in " \t;&|()":
            piece, kind = "#", "plain"
        at += len(piece)
        number += piece.count("\n")
        if kind == "end":
            if (text_of_code := "".join(code)).strip(" \t"):
                yield _Line(start, "".join(line), text_of_code)
            line, code, start = [], [], number
        elif kind not in ("joined", "comment"):
            line.append(piece)
            if kind == "plain":
                code.append(piece)
            elif kind == "hidden" or (kind == "quote" and not quoted):
                code.append(_HIDDEN)
            if kind == "quote":
                quoted, opened = not quoted, number
    if quoted or at < len(text):
        yield _Line(opened if quoted else number, "".join(line), None)
    elif (text_of_code := "".join(code)).strip(" \t"):
        yield _Line(start, "".join(line), text_of_code)
