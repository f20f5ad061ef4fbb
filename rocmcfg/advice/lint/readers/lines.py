"""Read a text of unknown kind line by line: the look of each line decides how it is read.

This is for examples in documents, for texts that a script prints into a file, and for files of unknown kind.
"""

from __future__ import annotations

import functools
import re

from rocmcfg.advice.lint.assignment import Reading, Trust, What, Where
from rocmcfg.advice.lint.readers import kernel
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue
from rocmcfg.model.kargs import canonical, tokens
from rocmcfg.model.regex import regex

# A comma ends a value where the next name begins: --export=ALL,A=1,B=2. An escape may stand before a name.
_ASSIGNED = regex(
    r"""(?:(?<![\w$./{:\\-])|(?<=\\[nrt]))([A-Za-z][\w.-]*)="""
    r"""("[^"\n]*"|'[^'\n]*'|(?:[\w.:;@%+/$*<>{}?…-]|,(?![A-Z][A-Z0-9_]+=))*)"""
)
_PATTERN = regex(r"(?<!\\)[\[(]|\\[^\n\w\s]|\.[*+]|\|")  # behind what stands for any value
_CONCATENATED = regex(r"[\"'][ \t]*(?:[+~%]|\.\.)")
# tmpfiles.d(5) and sysfs.conf: what is written there
_WRITTEN = regex(r"[ \t]+(?:\S+[ \t]+){4}(\S+)[ \t\r]*$|[ \t]*=[ \t]*(\S+)[ \t\r]*$")
_GLUED = regex(r"\d[.,;:](?=[A-Z][A-Z0-9]+_[A-Z_0-9]+=)")
_PARAMETER_FILE = regex(r"/sys/module/([\w-]+)/parameters/([\w-]+)(?![\w*{$-])")
_COMMAND_END = regex(r"[;&|]+")
_URL = regex(r"\b[a-z]+://[^\s)>\]]+")
# The beginning of a line by the kernel, journald or syslog: such a line reports, and sets nothing.
LOG_LINE = regex(
    r"^\s*(?:[<\[]\s*\d+(?:\.\d+)?[>\]]|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |\d{4}-\d\d-\d\dT\S+ \S+ kernel"
    r"|amdgpu [0-9a-f]{4}:|amdgpu: |\[drm|kernel:)"
)


@functools.cache
def _options() -> re.Pattern[str]:
    return re.compile(
        rf"(?:\b|(?<=\\[nrt]))options[ \t]+(?:{'|'.join(sorted(names.modules()))})[ \t]+(?=[\w-]+=)"
    )


def read(piece: Span, out: Reading, where: Where) -> None:
    for line in piece.lines():
        read_line(line, out, where)


def read_line(line: Span, out: Reading, where: Where) -> None:
    if LOG_LINE.match(line.text) and where.trust is not Trust.FILE:
        return
    read_paths(line, out, where)
    if options := [match.start() for match in _options().finditer(line.text)]:
        end = 0
        for start in options:
            if start >= end:
                end = quote_end(line.text, start)
                kernel.read_options_line(line.cut(start, end), out, where)
    elif where.trust is Trust.CODE and _is_command_line(line.text):
        kernel.read_arguments(line, out, where._replace(once=-1))
    else:
        read_tokens(line, out, where)


def quote_end(text: str, start: int) -> int:
    """Return where the innermost quotation ends in which text[start] stands, or the line that it breaks with
    an escape, else the line's end."""
    ends = [text.find(quote, start) for quote in "\"'`" if text.count(quote, 0, start) % 2]
    ends += [text.find("\\n", start)] if ends else []
    return min((end for end in ends if end >= 0), default=len(text))


def _is_command_line(text: str) -> bool:
    """Return whether a line consists of bare words, at least one of them a known argument."""
    words = [word.partition("=")[0].strip("\"'") for word, _ in tokens(text)]
    arguments = catalogue.load().arguments
    ours = [w for w in words if names.split_parameter(w) or w in arguments]
    return bool(ours) and "=" in text and all(re.fullmatch(r"[\w.-]+", word) for word in words)


def read_tokens(line: Span, out: Reading, where: Where) -> None:
    """Read every NAME=VALUE with a known name, anywhere in the line; the rest of the line is running text."""
    if "=" not in line.text:
        return
    if where.trust is Trust.PROSE:  # the end of a sentence without a blank after it
        start = 0
        for glued in _GLUED.finditer(line.text):
            _read_tokens(line.cut(start, glued.start() + 1), out, where)
            start = glued.end()
        line = line.cut(start)
    _read_tokens(line, out, where)


def _read_tokens(line: Span, out: Reading, where: Where) -> None:
    urls = [match.span() for match in _URL.finditer(line.text)][::-1]
    ends = [match.end() for match in _COMMAND_END.finditer(line.text)][::-1]
    # arguments belong together up to the end of a command, and something may need an argument that is removed
    where = where._replace(once=line.at(0), removable=False)
    at = 0
    while match := _ASSIGNED.search(line.text, at):
        at = max(match.end(), match.start() + 1)
        while urls and urls[-1][1] <= match.start():
            urls.pop()
        if urls and urls[-1][0] <= match.start():
            continue
        while ends and ends[-1] <= match.start():
            where = where._replace(once=line.at(ends.pop()))
        name = match[1]
        parameter = names.split_parameter(name)
        start, stop = match.start(), _end(match, prose=where.trust is Trust.PROSE)
        # a quote that opens before the name is closed by what looks like the value's own
        closed = match[2][:1] in ("'", '"') and line.text[max(0, start - 1) : start] == match[2][0]
        opaque = closed and _CONCATENATED.match(line.text, match.start(2)) is not None
        stop = match.start(2) if closed else stop
        if where.trust is Trust.FILE and _looked_for(line.text, match):
            continue
        if parameter is not None:
            out.add(
                What.PARAMETER,
                line.cut(start, stop),
                name=".".join(parameter),
                where=where,
                opaque=opaque,
            )
        elif names.concerns(name):
            # it is unknown whether two variables are for the same program
            alone = where._replace(once=line.at(start))
            out.add(What.VARIABLE, line.cut(start, stop), where=alone, quotes="\"'", opaque=opaque)
        elif names.misspelt_parameter(name) or (
            name in catalogue.load().arguments and where.trust is not Trust.FILE
        ):
            out.add(What.ARGUMENT, line.cut(start, stop), where=where)
        else:  # somebody's variable, perhaps with ours inside
            at = match.start(2)


def _looked_for(text: str, match: re.Match[str]) -> bool:
    """Say whether an assignment is part of a pattern, of a shell or a regular expression."""
    before = text[max(0, match.start() - 1) : match.start()]
    return before == "*" or match[2].endswith("*") or _PATTERN.match(text, match.end()) is not None


def _end(match: re.Match[str], *, prose: bool) -> int:
    """Return the end of a token, without the punctuation of the sentence, and without a word that follows the
    value without a blank."""
    text = match.group()
    glued = re.search(r"=\d+(?=(?!x[0-9a-f]+$)[a-z]{3,}$)", text) if prose else None
    if glued is not None:
        return match.start() + glued.end()
    return match.start() + len(text if text[-1] in "\"'" else text.rstrip(".,;:?…"))


def read_paths(line: Span, out: Reading, where: Where) -> None:
    if "/parameters/" not in line.text:
        return
    for match in _PARAMETER_FILE.finditer(line.text):
        if match[1] in names.modules():
            name = canonical(f"{match[1]}.{match[2]}")
            out.add(What.PATH, line.cut(*match.span()), name=name, where=where)
            if written := _WRITTEN.match(line.text, match.end()):
                value_at = line.range(*written.span(written.lastindex or 0))
                out.written(written[written.lastindex or 0], value_at)
