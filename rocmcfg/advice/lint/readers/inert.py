"""What names settings and sets none, in a text of any language: comments, what is printed for somebody to
read, what is taken away. Blanks stand in its place, so that each other place stays."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from rocmcfg.advice.lint.readers import kernel
from rocmcfg.advice.lint.source import Span
from rocmcfg.model.regex import regex

_QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'"
# Of a shell, YAML, Python, Nix, Puppet, HCL (#), C, JSON5, HCL (//), XML and cmd.exe; what stands in quotes
# before it is no comment.
_COMMENT = rf"""(?P<string>{_QUOTED})
    |(?:(?:^|(?<=\s))\#|^[ \t]*//|(?<=\s)//(?!\S*[./]\S)|^[ \t]*@?(?i:rem[ \t]|::)MORE)[^\n]*
    |/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)"""
# A comment in a string that holds lines of a program: of a notebook, of a file that is written.
_IN_STRING = regex(r"(?:\A\"|\\n)[ \t]*(?P<comment>#(?!!|SBATCH|PBS|BSUB|cloud-config)(?:[^\"\\]|\\[^n])*)")
# Marks that are something else in most languages, where no line begins with one.
_DASHES, _SEMICOLON = r"(?:^|(?<=\s))--(?=\s|\[\[)", r"(?:^|(?<=\s));+"
_DASHED, _SEMICOLONED = regex(r"^[ \t]*--[ \t]", re.M), regex(r"^[ \t]*;", re.M)
# A call that shows its strings to somebody, or stops with them.
_PRINTED = regex(
    rf"""(?<![\w-])(?:
    (?:console\.\w+|(?:log(?:ger|ging)?|tracing|slog)[.:]+\w+|[ef]?print[lf]?n?|printk|pr_\w+|puts|writeline
    |log|warn(?:ing)?|info|debug|error|notice|fail|panic|die|assert\w*|expect|help|whatis|message|status
    |raise[ ]\w+|throw[ ]new[ ]\w+|new[ ]\w*Error)!?[ \t]*\(
    |(?:print|puts|say|die|warn|assert(?:[ \t]+not)?|write-(?:host|output|warning|error|verbose)
    |module-whatis)[ \t]+
    )[^\"'`;\n\[]*(?P<strings>(?:(?:{_QUOTED}|`[^`\n]*`|\[\[.*?\]\])[^\"'`;\n]*)+)""",
    re.IGNORECASE | re.VERBOSE,
)
# A key whose value is words for people, unless all of them are arguments.
_PROSE_KEY = regex(
    r"^[ \t]*(?:-[ \t]+)?[\"']?(?:name|description|summary|comment|title|message|msg|help|note)[\"']?"
    r"[ \t]*[:=][ \t]*(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'][^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_BARE = regex(r"quiet|splash|rhgb|ro|rw|no\w+")  # arguments that are no words of a sentence
_AWAY = r"(?:should_?not_?exist|remove|delete|unset|absent|unload)[\w-]*"
# A setting as the key of a table, with words about the setting behind it.
_NAMED = regex(
    r"""(?:^|(?<=[{,]))[ \t]*(?P<key>"[\w.]+=[^"\\\n]*"|'[\w.]+=[^'\n]*')[ \t]*(?::(?!=)|=>)"""
    r"""[ \t]*["'][^"'\n]* """,
    re.MULTILINE,
)
_SHOWN = regex(
    r"(?<![\w-])(?:placeholder|tooltip|hint)[ \t]*=[ \t]*(?P<words>\"[^\"]*\"|'[^']*')", re.IGNORECASE
)
_TAKEN_AWAY = regex(
    rf"\b{_AWAY}[\"']?[ \t]*(?:=>|[:=])[ \t]*"
    r"(?P<list>\[[^\]]*\]|\"[^\"\n]*\"|'[^'\n]*'"
    r"|(?:\r?\n(?P<in>[ \t]*))+-[ \t][^\n]*(?:\n(?:[ \t\r]*\n)*(?P=in)-[ \t][^\n]*)*)",
    re.IGNORECASE,
)
_UNSET = regex(r"^[ \t]*@?set[ \t]+\"?[A-Z_]\w*=\"?[ \t\r]*$", re.IGNORECASE | re.MULTILINE)  # of cmd.exe
_ABSENT = r"\b(?:state|ensure)[\"']?[ \t]*(?:=>|[:=])[ \t]*[\"']?absent\b"
_ABSENT_IN_BRACES = regex(rf"\{{[^{{}}]*{_ABSENT}[^{{}}]*\}}")
_ABSENT_LINE = regex(rf"^(?P<indent>[ \t]*(?:-[ \t]+)?){_ABSENT}[\"']?[ \t\r]*$", re.MULTILINE)
_KEY_AT = regex(r"[ \t]*(?P<dash>-[ \t]+)?(?=\S)")
_BLOCK = 100  # lines of one item, before and behind


def without_inert(piece: Span) -> Span:
    """Return the text with blanks in place of all that sets nothing."""
    text = without_comments(piece).text
    for pattern, group in (
        (_PRINTED, "strings"),
        (_TAKEN_AWAY, "list"),
        (_NAMED, "key"),
        (_SHOWN, "words"),
        (_ABSENT_IN_BRACES, 0),
        (_UNSET, 0),
    ):
        text = _blanked(text, (match.span(group) for match in pattern.finditer(text)))
    text = _blanked(text, _prose(text))
    return Span(_blanked(text, _absent_items(text)), piece.runs)


def without_comments(piece: Span) -> Span:
    text = piece.text
    pattern = _comments(bool(_DASHED.search(text)), bool(_SEMICOLONED.search(text)))
    comments = (span for match in pattern.finditer(text) for span in _comments_in(match))
    return Span(_blanked(text, comments), piece.runs)


def _comments_in(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    string = match["string"]
    if string is None:
        yield match.span()
    elif string[0] == '"' and "#" in string:
        at = match.start()
        yield from ((at + c.start("comment"), at + c.end("comment")) for c in _IN_STRING.finditer(string))


@functools.cache
def _comments(dashes: bool, semicolons: bool) -> re.Pattern[str]:
    more = f"|{_DASHES}" * dashes + f"|{_SEMICOLON}" * semicolons
    return re.compile(_COMMENT.replace("MORE", more), re.MULTILINE | re.DOTALL | re.VERBOSE)


def _blanked(text: str, ranges: Iterator[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, stop in ranges:
        if start >= at:
            parts += [text[at:start], re.sub(r"[^\n]", " ", text[start:stop])]
            at = stop
    return "".join([*parts, text[at:]]) if parts else text


def _prose(text: str) -> Iterator[tuple[int, int]]:
    for match in _PROSE_KEY.finditer(text):
        words = match["value"].strip(" \t\r\"',").split()
        arguments = all("=" in word or _BARE.fullmatch(word) for word in words)
        if "=" in match["value"] and not (arguments and kernel.is_command_line(" ".join(words))):
            yield match.span("value")


def _absent_items(text: str) -> Iterator[tuple[int, int]]:
    """Yield the mappings in YAML that are to be absent, from their first line to their last."""
    behind = 0
    for match in _ABSENT_LINE.finditer(text):
        if match.start() < behind:
            continue
        column, start, stop = len(match["indent"]), match.start(), match.end()
        for _ in range(0 if "-" in match["indent"] else _BLOCK):
            above = text.rfind("\n", 0, max(0, start - 1)) + 1
            key = _KEY_AT.match(text, above, max(above, start - 1))
            if start == 0 or key is None or key.end() - above < column:
                break
            start = above
            if key["dash"] and key.end() - above == column:
                break
        for _ in range(_BLOCK):
            line = stop + 1
            end = text.find("\n", line)
            end = len(text) if end < 0 else end
            key = _KEY_AT.match(text, line, end) if line < len(text) else None
            if key is None or key["dash"] or key.end() - line < column:
                break
            stop = end
        behind = stop
        yield start, stop
