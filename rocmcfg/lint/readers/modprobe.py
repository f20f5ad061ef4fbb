"""modprobe.d: `options MODULE NAME=VALUE …`, and what kmod makes of lines that look like it."""

from __future__ import annotations

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Reading, Trust, What, Where
from rocmcfg.lint.remark import warning
from rocmcfg.lint.source import Span
from rocmcfg.model.kargs import canonical, tokens

# They are all that modprobe.d(5) names.
DIRECTIVES = frozenset({"alias", "blacklist", "config", "install", "options", "remove", "softdep", "weakdep"})
SOURCE = ("modprobe.d(5)",)


def read(piece: Span, out: Reading, where: Where) -> None:
    # kmod joins continued lines before it looks for a comment (freadline_wrapped in shared/util.c)
    for line in piece.logical_lines():
        if not line.text.lstrip().startswith("#"):
            read_line(line, out, where)


def read_line(line: Span, out: Reading, where: Where) -> None:
    words = tokens(line.text)
    if len(words) < 2:
        return
    directive, at = words[0]
    subject, subject_at = words[1]
    module = canonical(subject)
    if directive == "options" and names.split_parameter(subject.partition("=")[0]):
        dotted = line.range(subject_at, subject_at + len(subject))
        literal = subject.replace(".", " ", 1)
        said = "kmod wants a blank between module and parameter, and skips this line"
        out.slips.append((*dotted, warning("RC7118", said, literal=literal, sources=SOURCE)))
    elif directive not in DIRECTIVES and module in names.modules():
        if near := names.nearest(directive, DIRECTIVES, 1):
            said = f"modprobe.d knows no directive {directive!r}; kmod skips the line"
            literal = near
            place = line.range(at, at + len(directive))
            out.slips.append((*place, warning("RC7118", said, literal=literal, sources=SOURCE)))
            read_options(line, module, words[2:], out, where)
    elif directive == "options" and module in names.modules():
        read_options(line, module, words[2:], out, where)


def read_options(line: Span, module: str, words: list[tuple[str, int]], out: Reading, where: Where) -> None:
    """Parameters as they stand behind a module's name, also behind that of `modprobe` and `insmod`."""
    statement = line.place
    for word, start in words:
        if word.startswith("#"):
            if where.trust is Trust.FILE:
                said = "no comment can stand here: kmod passes its words to the module as parameters"
                place = line.range(start, len(line.text.rstrip()))
                out.slips.append((*place, warning("RC7118", said, literal="", sources=SOURCE)))
            break
        out.add(
            What.PARAMETER,
            line,
            name=canonical(f"{module}." + word.partition("=")[0].strip('"')),
            start=start,
            stop=start + len(word),
            dotted=False,
            where=where,
            statement=statement,
        )
