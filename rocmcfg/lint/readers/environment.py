"""Files of variables: /etc/environment, environment.d, --env-file; and `Environment=` of systemd's units."""

from __future__ import annotations

import re
from dataclasses import replace

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Reading, Trust, What, Where
from rocmcfg.lint.readers import lines
from rocmcfg.lint.readers.words import Word
from rocmcfg.lint.readers.words import commands as split_commands
from rocmcfg.lint.source import Span

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=")
_DIRECTIVE = re.compile(r"[ \t]*(Environment|DefaultEnvironment|ManagerEnvironment)[ \t]*=[ \t]*")
_EXEC = re.compile(r"[ \t]*Exec\w+[ \t]*=[ \t]*[-@:+!]*")


def read(piece: Span, out: Reading, where: Where, *, verbatim: bool = False) -> None:
    """`verbatim` for `docker run --env-file`, where all behind the `=` is the value, quotes too (docker/cli,
    opts/file.go)."""
    for line in piece.lines():
        found = _LINE.match(line.text)
        if found and names.concerns(found[1]):
            stop = None if verbatim else len(_without_comment(line.text, where).rstrip())
            quotes, said = "" if verbatim else "\"'", line.cut(found.start(1), stop)
            out.add(What.VARIABLE, said, where=where, statement=line.place, quotes=quotes)


def _without_comment(line: str, where: Where) -> str:
    """No reader of such a file knows a comment behind a value; whoever writes an example knows them."""
    comment = -1 if where.trust is Trust.FILE else line.find(" #")
    return line if comment < 0 else line[:comment]


def read_unit(piece: Span, out: Reading, where: Where) -> None:
    """systemd.syntax(7): words in quotes of either kind, a backslash at the end continues a line."""
    from rocmcfg.lint.readers import shell

    for line in piece.logical_lines(("#", ";")):
        if found := _DIRECTIVE.match(line.text):
            read_words(line.cut(found.end()), out, where)
        elif found := _EXEC.match(line.text):
            shell.read(line.cut(found.end()), out, replace(where, scope=""))
        else:
            lines.read_paths(line, out, where)


def read_words(piece: Span, out: Reading, where: Where) -> None:
    """A list of NAME=VALUE that is split as a shell does."""
    for command in split_commands(piece):
        for word in command.words:
            name, equals, _ = word.span(piece).text.partition("=")
            if equals and names.concerns(name):
                add_word(piece, word, out, where)


def add_word(
    piece: Span,
    word: Word,
    out: Reading,
    where: Where,
    statement: tuple[int, int] | None = None,
    start: int = 0,
) -> None:
    """A word that holds NAME=VALUE from `start` on; the token keeps a quote that closes its value."""
    enclosed = piece.text[word.start] in "'\""
    written_to = 0 if enclosed else piece.at(word.stop - 1) + 1
    span = word.span(piece)
    out.add(What.VARIABLE, span, start=start, where=where, statement=statement, written_to=written_to)
