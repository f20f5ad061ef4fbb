"""Files of variables: /etc/environment, environment.d, --env-file; and `Environment=` of systemd's units."""

from __future__ import annotations

import re
from dataclasses import replace

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Reading, Trust, What, Where
from rocmcfg.lint.readers import lines
from rocmcfg.lint.readers.words import Word
from rocmcfg.lint.readers.words import commands as split_commands
from rocmcfg.lint.source import Span, joined

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=")
_DIRECTIVE = re.compile(r"[ \t]*(Environment|DefaultEnvironment|ManagerEnvironment)[ \t]*=[ \t]*")
_EXEC = re.compile(r"[ \t]*Exec\w+[ \t]*=[ \t]*[-@:+!]*")


def read(piece: Span, out: Reading, where: Where) -> None:
    for start, stop in piece.lines():
        found = _LINE.match(piece.text, start, stop)
        if found and names.concerns(found[1]):
            at = found.start(1)
            end = start + len(_without_comment(piece.text[start:stop], where).rstrip())
            whole_line = piece.range(start, stop)
            lines.add_variable(piece, out, where, at, end, statement=whole_line)


def read_verbatim(piece: Span, out: Reading, where: Where) -> None:
    """`docker run --env-file`: all behind the `=` is the value, quotes too (docker/cli, opts/file.go)."""
    for start, stop in piece.lines():
        found = _LINE.match(piece.text, start, stop)
        if found and names.concerns(found[1]):
            out.add(
                What.VARIABLE,
                piece,
                start=found.start(1),
                stop=stop,
                where=where,
                statement=piece.range(start, stop),
                verbatim=True,
            )


def _without_comment(line: str, where: Where) -> str:
    """No reader of such a file knows a comment behind a value; whoever writes an example knows them."""
    comment = -1 if where.trust is Trust.FILE else line.find(" #")
    return line if comment < 0 else line[:comment]


def read_unit(piece: Span, out: Reading, where: Where) -> None:
    """systemd.syntax(7): words in quotes of either kind, a backslash at the end continues a line."""
    parts: list[Span] = []
    for start, stop in piece.lines():
        text = piece.text[start:stop]
        if not parts and text.lstrip().startswith(("#", ";")):
            continue
        continues = text.endswith("\\")
        parts.append(piece.cut(start, stop - continues))
        if not continues:
            _unit_line(joined(parts), out, where)
            parts = []
    if parts:
        _unit_line(joined(parts), out, where)


def _unit_line(line: Span, out: Reading, where: Where) -> None:
    if found := _DIRECTIVE.match(line.text):
        rest = line.cut(found.end(), len(line.text))
        for command in split_commands(rest):
            for word in command.words:
                read_word(rest, word, out, where)
    elif found := _EXEC.match(line.text):
        from rocmcfg.lint.readers import shell

        shell.read(line.cut(found.end(), len(line.text)), out, replace(where, scope=""))
    else:
        lines.read_paths(line, out, where)


def read_word(piece: Span, word: Word, out: Reading, where: Where) -> None:
    """One word of a shell-like list, NAME=VALUE; the token keeps a quote that closes its value."""
    span = word.span(piece)
    name, equals, _ = span.text.partition("=")
    if not equals or not names.concerns(name):
        return
    enclosed = piece.text[word.start] in "'\""
    out.add(
        What.VARIABLE,
        span,
        where=where,
        written_to=0 if enclosed else piece.at(word.stop - 1) + 1,
    )
