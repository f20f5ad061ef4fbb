"""Read documents: examples in fences and inline code by their own kind, prose only for certain settings.

A name that its sentence calls wrong is not reported, a log sets nothing, and a name without a value is only a
mention.
"""

from __future__ import annotations

import re

from rocmcfg.advice.lint.assignment import Reading, Trust, What, Where
from rocmcfg.advice.lint.readers import console, lines
from rocmcfg.advice.lint.readers.called_wrong import Judgement, MarkedLines
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.judging import names
from rocmcfg.model.regex import regex

# An example up to its closing fence, or a comment; one that is never closed goes to the end.
_BLOCK = regex(
    r"""^[ ]{0,3}<!-- .*? (?:-->|\Z)
    | ^(?P<lead>[ \t>]*) (?P<mark>`{3,}|~{3,}) [ \t]* (?P<info>[^`\n]*) (?:\n|\Z)
    (?P<body>.*?) (?:^[ \t>]*(?P=mark)[`~]*[ \t\r]*$|\Z)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_INLINE = regex(r"(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)")
_STRUCK = regex(r"(?<!~)~~(?![~\s])[^~\n]+~~(?!~)")  # struck out
# Languages that go by another name than the ending of their files.
_LANGUAGES = {
    **{"shell": "sh", "shellsession": "console", "shell-session": "console", "terminal": "console"},
    **{"python": "py", "python3": "py", "docker": "dockerfile", "dotenv": "env", "ini": "service"},
    **{"bash": "sh", "zsh": "sh", "systemd": "service", "modprobe": "/modprobe.d/x.conf"},
}
_CODE_OF_OTHERS = frozenset(["c", "cpp", "c++", "html", "css", "sql", "log", "dmesg"])


def read(piece: Span, out: Reading, where: Where) -> None:
    doc = where._replace(scope="", removable=False, editable=False)  # a sentence needs its words
    judgement, at = Judgement(piece), 0
    for block in _BLOCK.finditer(piece.text):
        _prose(piece.cut(at, block.start()), out, doc, judgement)
        at = block.end()
        if block["mark"] is not None:
            body = piece.cut(*block.span("body")).lines(ends=True)
            code = joined(line.cut(_lead(line.text, block["lead"])) for line in body)
            _block(code, block["info"], out, doc)
    _prose(piece.cut(at), out, doc, judgement)


def examples(piece: Span) -> list[Span]:
    """Return the examples of a document, without what the document calls wrong."""
    blocks = (block for block in _BLOCK.finditer(piece.text) if block["mark"] is not None)
    return [_advised(piece.cut(*block.span("body"))) for block in blocks]


def _advised(block: Span) -> Span:
    marked = MarkedLines()
    return joined(
        line
        for line in block.lines(ends=True)
        if not marked.wrong(line.text) and not lines.LOG_LINE.match(line.text)
    )


def _lead(text: str, lead: str) -> int:
    """Return how many characters of a line belong to the list or quotation around the fence."""
    at = 0
    while at < len(lead) and at < len(text) and (text[at] == lead[at] or text[at] in " \t"):
        at += 1
    return at


def _block(block: Span, info: str, out: Reading, where: Where) -> None:
    from rocmcfg.advice.lint import readers

    language = info.strip().split()[0].strip("{}.,:").lower() if info.strip() else ""
    kept = _advised(block)
    if language in _CODE_OF_OTHERS or not kept.text:
        return
    builds = readers.builds(kept.text)
    inner = where.inside(trust=Trust.CODE, removable=True, editable=True, builds=builds, once=kept.place[1])
    path = f"x.{_LANGUAGES.get(language, language)}"
    if path == "x.diff":
        for line in kept.lines():
            if line.text.startswith("+"):  # what the patch adds
                lines.read_line(line.cut(1), out, inner)
    elif path == "x.console" or (path == "x.sh" and console.has_prompts(kept.text)):
        console.read(kept, out, inner)
    else:
        readers.read_block(path, kept, out, inner)


def _prose(piece: Span, out: Reading, where: Where, judgement: Judgement) -> None:
    for whole in piece.lines():
        if lines.LOG_LINE.match(whole.text) or ("=" not in whole.text and "/parameters/" not in whole.text):
            continue
        at, line = 0, whole
        if "~~" in whole.text:
            line = whole.sub(_STRUCK, lambda match: " " * len(match[0]))
        for match in _INLINE.finditer(line.text):
            _sentence(line.cut(at, match.start()), out, where, judgement)
            if not judgement.against(*line.range(match.start(), match.end())):
                _inline(line.cut(match.start(2), match.end(2)), out, where._replace(trust=Trust.CODE))
            at = match.end()
        _sentence(line.cut(at), out, where, judgement)


def _sentence(words: Span, out: Reading, where: Where, judgement: Judgement) -> None:
    before, slips = len(out.assignments), len(out.slips)
    lines.read_line(words, out, where._replace(trust=Trust.PROSE))
    assignments, slipped = out.assignments[before:], out.slips[slips:]
    out.assignments[before:] = [each for each in assignments if not judgement.against(each.start, each.stop)]
    out.slips[slips:] = [each for each in slipped if not judgement.against(*each[:2])]


def _inline(code: Span, out: Reading, where: Where) -> None:
    before = len(out.assignments)
    lines.read_line(code, out, where)
    if len(out.assignments) == before and (module := names.bare_parameter(code.text)):
        name = f"{module}.{code.text.partition('=')[0]}"
        out.add(What.PARAMETER, code, name=name, dotted=False, where=where)
