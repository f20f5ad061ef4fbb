"""Settings by their form alone, in a file of any format: a string that holds a kernel command line, a name of
ours beside its value, the options of a module. For files of a format without a reader of its own, and for
what the reader of a format has left."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Reading, What, Where
from rocmcfg.advice.lint.readers import environment, kernel, lines
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue
from rocmcfg.model.kargs import canonical, tokens
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

# A comment, up to the end of its line or block: of a shell, YAML, Python, Nix, Puppet, HCL (#), C, JSON5, HCL
# (//), Lua, SQL (--), INI (;), XML. What stands in quotes before it is no comment.
_COMMENTS = regex(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
    |(?:(?:^|(?<=\s))(?:\#|//(?!\S*[./]\S)|--(?=\s)|;(?=\s))[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z))""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_STRING = regex(r"\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'|`([^`\n]*)`")
_KEY = regex(r"[ \t]*(?:-[ \t]+)?[\w.@/\"'{}$-]+[ \t]*(?::=|=>|[:=+])[ \t]*[+|>]?(?=\S)")
_WORD = regex(r"[\w.,:/@%{}$()\[\]+-]+(?:=\S*)?")
_ALONE = frozenset({"iommu", "nomodeset", "mitigations"})  # plain words that are arguments and nothing else
_NAME = r"(?P<quote>[\"']?)(?P<name>[A-Z][A-Z0-9_]{3,})(?P=quote)"
_VALUE = r"(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<plain>[^\s\"',;(){}\[\]]+))"
# NAME = "value" (Nix, TOML, HCL), "NAME": "value" (JSON), NAME => "value" (Puppet, Ruby); the forms without
# blanks belong to `lines`.
_PAIR = regex(
    rf"(?<![\w$/-])(?<!\$\{{){_NAME}(?:[ \t]+=[ \t]*|[ \t]*=>[ \t]*|[ \t]*:[ \t]+|(?<=[\"']):){_VALUE}"
)
# setenv("NAME", "value") (Lmod), setenv NAME value (environment modules, csh)
_CALL = regex(
    r"\b(?:setenv|pushenv|putenv|set_env|SetEnv|set-env)[ \t]*\(?[ \t]*"
    rf"{_NAME}[ \t]*(?:,[ \t]*|[ \t]){_VALUE}",
    re.IGNORECASE,
)
# {"name": "NAME", "value": "value"}, also on two lines: Kubernetes in JSON, HCL, task definitions
_NAMED = regex(
    rf"\b[\"']?name[\"']?[ \t]*(?:=>|[:=])[ \t]*{_NAME}[ \t]*,?"
    rf"\s*[\"']?value[\"']?[ \t]*(?:=>|[:=])[ \t]*{_VALUE}"
)
_NAMED_ARGUMENT = regex(
    r"\bname[\"']?[ \t]*(?:=>|[:=])[ \t]*(?P<quote>[\"']?)(?P<name>[a-z][\w.-]*)(?P=quote)[ \t]*,?"
    rf"\s*[\"']?value[\"']?[ \t]*(?:=>|[:=])[ \t]*{_VALUE}"
)
# Parameters of a module, apart from its name: KMM, AMD's GPU operator, Talos, Ansible's and Puppet's modules.
_PARAMETERS = regex(
    r"\b(?P<key>parameters|params|options|modprobe_options)[\"']?[ \t]*(?:=>|[:=])[ \t]*"
    r"(?P<list>\[[^\]]*\]|\"[^\"\n]*\"|'[^'\n]*'|(?:\r?\n[ \t]*-[ \t]+[^\n]+)+|[^\s\[\"'][^\n]*)"
)
_MODULE = regex(
    r"\b(?:name|moduleName|module|kmod::option)[\"']?[ \t]*(?:=>|[:={])?[ \t{]*[\"']?([\w-]+)"
    r"|\b(kernelModuleConfig)\b"
)
_OPTION = regex(r"(?<![\w.=-])([a-z][\w-]*)=([^\s\"',\]]+)")
_TUNED = regex(r"(?P<module>[a-z][\w-]*)[ \t]*=[ \t]*\+r[ \t,]+(?=[a-z][\w-]*=)")
_NEAR = 400  # characters between a module's name and its parameters
_DOTTED = regex(r"(?<![\w./-])([a-z]\w+)\.([a-z][\w-]+)(?![\w.(/-])")
_CAPITALS = regex(r"(?<![\w$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-])")


class Mention(NamedTuple):
    """A name of ours at an offset of the text."""

    name: str
    start: int


def read(piece: Span, out: Reading, where: Where) -> None:
    """Read a file of a format without a reader."""
    where = where._replace(scope="", removable=False)
    piece = without_comments(piece)
    _read_named(piece, out, where)
    for line in piece.lines():
        _read_line(line, out, where)


def read_rest(piece: Span, out: Reading, where: Where, *, variables: bool) -> None:
    """Read what the reader of a format has left and has not passed over on purpose. Without `variables` that
    reader alone says what sets one."""
    rest, taken = Reading(), _Ranges(out)
    read(piece, rest, where)
    out.assignments += [
        each
        for each in rest.assignments
        if (variables or each.what is not What.VARIABLE) and not taken.overlap(each.start, each.stop)
    ]


def mentions(piece: Span, out: Reading) -> list[Mention]:
    """Return the names of ours in a file that no setting was read from, at their first place each."""
    taken, text = _Ranges(out), without_comments(piece).text
    first: dict[str, int] = {}
    for match in _DOTTED.finditer(text):
        id = canonical(match.group())
        if id in catalogue.load().parameters and not taken.overlap(*piece.range(*match.span())):
            first.setdefault(id, piece.at(match.start()))
    for match in _CAPITALS.finditer(text):
        name = match.group()
        if names.variable(name) is not None and not taken.overlap(*piece.range(*match.span())):
            first.setdefault(name, piece.at(match.start()))
    read_already = {each.name for each in out.assignments}
    return [Mention(name, start) for name, start in first.items() if name not in read_already]


def without_comments(piece: Span) -> Span:
    """Return the text with blanks in place of its comments, so that each place stays."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match["string"] is not None else re.sub(r"[^\n]", " ", match[0])

    return Span(_COMMENTS.sub(blank, piece.text), piece.runs)


def is_command_line(text: str) -> bool:
    """Say whether a string is a kernel command line: nothing but words as arguments are, one of them a
    parameter of a module of ours or a known argument, with a value."""
    words = [word for word, _ in tokens(text)]
    if not all(_WORD.fullmatch(word.strip("\"'")) for word in words):
        return False
    return any(_is_argument(word.strip("\"'"), alone=len(words) == 1) for word in words)


def _is_argument(word: str, *, alone: bool) -> bool:
    name, equals, value = word.partition("=")
    if names.split_parameter(name):
        return bool(equals and value)
    if names.argument(name) is None or (alone and not ("." in name or "_" in name or name in _ALONE)):
        return False
    return bool(value) or (not equals and name in _ALONE)


def _read_line(line: Span, out: Reading, where: Where) -> None:
    if not line.text.strip():
        return
    before = len(out.assignments)
    where = where._replace(once=line.at(0))
    lines.read_line(line, out, where)
    for pattern in (_PAIR, _CALL):
        for match in pattern.finditer(line.text):
            _pair(line, match, out, where)
    taken = _Ranges(out, before)
    for cut in _strings(line):
        if is_command_line(cut.text):
            inside = Reading()
            kernel.read_arguments(cut, inside, where)
            out.assignments += [
                each for each in inside.assignments if not taken.overlap(each.start, each.stop)
            ]
    tuned = _TUNED.search(line.text)
    if tuned is not None:
        _read_options(line.cut(tuned.end()), canonical(tuned["module"]), out, where)


def _strings(piece: Span) -> Iterator[Span]:
    """Yield what stands in quotes, the innermost of them, and what stands behind a key without any."""
    quoted = [match.span(match.lastindex) for match in _STRING.finditer(piece.text) if match.lastindex]
    for start, stop in quoted:
        cut = piece.cut(start, stop)
        yield from _strings(cut) if any(mark in cut.text for mark in "\"'`") else (cut,)
    key = _KEY.match(piece.text)
    if key and not quoted and not any(mark in piece.text for mark in "\"'`[("):
        yield piece.cut(key.end(), len(piece.text.rstrip().rstrip(",;")))


def _pair(piece: Span, match: re.Match[str], out: Reading, where: Where) -> None:
    value = next(group for group in ("double", "single", "plain") if match[group] is not None)
    environment.add_pair(piece, match.span("name"), match.span(value), out, where, piece.place)


def _read_named(piece: Span, out: Reading, where: Where) -> None:
    """Read what stands in pieces on several lines."""
    for match in _NAMED.finditer(piece.text):
        _pair(piece, match, out, where._replace(once=piece.at(match.start())))
    for match in _NAMED_ARGUMENT.finditer(piece.text):
        if names.split_parameter(match["name"]) or names.argument(match["name"]):
            value = next(group for group in ("double", "single", "plain") if match[group] is not None)
            kernel.add_pair(
                piece,
                match.span("name"),
                match.span(value),
                out,
                where._replace(once=piece.at(match.start())),
            )
    for match in _PARAMETERS.finditer(piece.text):
        module = _module_before(piece.text, match.start())
        if module:
            _read_options(piece.cut(*match.span("list")), module, out, where)


def _module_before(text: str, at: int) -> str:
    """Return the module of ours that was named last before a place; empty where another name comes between,
    or none."""
    named = list(_MODULE.finditer(text, max(0, at - _NEAR), at))
    if not named:
        return ""
    last = named[-1]
    module = names.MODULE_OF_TRAPS if last[2] else canonical(last[1])
    return module if module in names.modules() else ""


def _read_options(piece: Span, module: str, out: Reading, where: Where) -> None:
    if module not in names.modules():
        return
    for match in _OPTION.finditer(piece.text):
        token = piece.cut(*match.span())
        kernel.read_options(token, module, [(token.text, 0)], out, where)


class _Ranges:
    """The ranges of a text that were read, or passed over on purpose, for a quick look."""

    def __init__(self, out: Reading, first: int = 0) -> None:
        spans = [(each.start, each.stop) for each in out.assignments[first:]]
        spans += [(start, stop) for start, stop, _ in out.slips]
        spans = sorted({*spans, *out.passed})
        self._spans: list[tuple[int, int]] = []
        for start, stop in spans:
            if self._spans and start <= self._spans[-1][1]:
                self._spans[-1] = (self._spans[-1][0], max(stop, self._spans[-1][1]))
            else:
                self._spans.append((start, stop))
        self._starts = [start for start, _ in self._spans]

    def overlap(self, start: int, stop: int) -> bool:
        number = bisect_left(self._starts, stop)
        return number > 0 and self._spans[number - 1][1] > start
