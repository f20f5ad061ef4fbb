"""What sets an environment: /etc/environment, environment.d, --env-file, systemd's units, Dockerfiles, and
YAML (compose files, Kubernetes, workflows, Ansible)."""

from __future__ import annotations

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Reading, Trust, What, Where, paired
from rocmcfg.lint.readers import lines
from rocmcfg.lint.readers.words import Word
from rocmcfg.lint.readers.words import commands as split_commands
from rocmcfg.lint.source import Span
from rocmcfg.model.regex import regex

_LINE = regex(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=")
_DIRECTIVE = regex(r"[ \t]*(Environment|DefaultEnvironment|ManagerEnvironment)[ \t]*=[ \t]*")
_EXEC = regex(r"[ \t]*Exec\w+[ \t]*=[ \t]*[-@:+!]*")
_INSTRUCTION = regex(r"[ \t]*([A-Za-z]+)[ \t]+")
_SEPARATE = regex(r"([A-Za-z_]\w*)[ \t]+(?!=)(.*\S)")
_MAP = regex(r"[ \t]*(?:-[ \t]+)?[\"']?([A-Z][A-Z0-9_]{3,})[\"']?[ \t]*:[ \t]+")
_ITEM = regex(r"[ \t]*-[ \t]+[\"']?(?=[A-Z][A-Z0-9_]{3,}=)")


def read(piece: Span, out: Reading, where: Where, *, verbatim: bool = False) -> None:
    """`verbatim` for `docker run --env-file`, where all behind the `=` is the value, quotes too (docker/cli,
    opts/file.go)."""
    for line in piece.lines():
        found = _LINE.match(line.text)
        if where.once >= 0 and line.text.lstrip().startswith("#"):  # it may name another file
            where = where._replace(once=line.at(0))
        if found and names.concerns(found[1]):
            text, quotes = line.text, "" if verbatim else "\"'"
            if not verbatim:
                # no program knows a comment behind a value; whoever writes an example knows them
                text = (text if where.trust is Trust.FILE else text.partition(" #")[0]).rstrip()
            said = line.cut(found.start(1), len(text))
            out.add(What.VARIABLE, said, where=where, statement=line.place, quotes=quotes)


def read_unit(piece: Span, out: Reading, where: Where) -> None:
    """systemd.syntax(7): words in quotes of either kind, a backslash at the end continues a line."""
    from rocmcfg.lint.readers import shell

    for line in piece.logical_lines(("#", ";")):
        if found := _DIRECTIVE.match(line.text):
            # an example may hold several units
            once = where if where.scope else where._replace(once=line.at(0))
            read_words(line.cut(found.end()), out, once, line.place)
        elif found := _EXEC.match(line.text):
            shell.read(line.cut(found.end()), out, where._replace(scope="", once=-1))
        else:
            lines.read_paths(line, out, where)


def read_words(piece: Span, out: Reading, where: Where, statement: tuple[int, int]) -> None:
    """A list of NAME=VALUE that is split as a shell does, and the statement that holds it."""
    before = len(out.assignments)
    words = [word for command in split_commands(piece) for word in command.words]
    gaps = (
        (there - at) - (here - start)
        for (start, at), (here, there) in zip(piece.runs, piece.runs[1:], strict=False)
    )
    if any(gap > len("\\\r\n") for gap in gaps):  # a comment stands between the continued lines
        where = where._replace(removable=False)
    for word in words:
        name, equals, _ = word.span(piece).text.partition("=")
        if equals and names.concerns(name):
            add_word(piece, word, out, where, statement)
    out.only_if_all(before, len(words))


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
    out.add(What.VARIABLE, span.cut(start), where=where, statement=statement, written_to=written_to)


def read_dockerfile(piece: Span, out: Reading, where: Where) -> None:
    from rocmcfg.lint.readers import shell

    for line in piece.logical_lines(("#",), blanks_behind=True):
        found = _INSTRUCTION.match(line.text)
        if found is None:
            continue
        # another instruction may stand in another stage
        rest, word, where = line.cut(found.end()), found[1].upper(), where._replace(once=line.at(0))
        separate = _SEPARATE.match(rest.text)
        if word in ("RUN", "CMD", "ENTRYPOINT") and rest.text.startswith("["):
            lines.read_line(rest, out, where)
        elif word in ("RUN", "CMD", "ENTRYPOINT"):
            shell.read(rest, out, where._replace(scope="", once=-1))
        elif word == "ENV" and separate and "=" not in separate[1]:
            name = rest.cut(*separate.span(1))
            _pair(rest, name, separate.span(2), out, where, line.place)
        elif word == "ENV":
            read_words(rest, out, where, line.place)


def _pair(
    line: Span,
    name: Span,
    value: tuple[int, int],
    out: Reading,
    where: Where,
    statement: tuple[int, int] | None = None,
) -> None:
    """A name, and a range of the line that is its value; the token ends with the quote behind it."""
    if names.concerns(name.text):
        closed = line.text[value[1] : value[1] + 1] in ("'", '"')
        written_to = line.range(*value)[1] + closed
        opaque = not line.text[slice(*value)]  # of an empty value nobody can tell what it becomes
        out.add(
            What.VARIABLE,
            paired(name, line.cut(*value)),
            where=where,
            statement=statement,
            written_to=written_to,
            quotes="",
            opaque=opaque,
        )


def read_yaml(piece: Span, out: Reading, where: Where) -> None:
    """Line by line: a mapping's or a list's item, anything else as text."""
    for line in piece.lines():
        text = line.text
        if not text or text.lstrip().startswith("#"):
            continue
        # another line may stand in another service, and what a list or a text is without one is not known
        where = where._replace(once=line.at(0), removable=False)
        if (found := _ITEM.match(text)) and names.concerns(text[found.end() :].partition("=")[0]):
            opened = found.end() - (text[found.end() - 1] in "\"'")
            stop = _scalar(text, opened)[1]
            # of a plain scalar, quotes inside are part of the text
            quotes = "" if opened == found.end() else '"'
            item = line.cut(found.end(), stop)
            out.add(What.VARIABLE, item, where=where, statement=line.place, quotes=quotes)
        elif (found := _MAP.match(text)) and names.concerns(found[1]):
            _pair(line, line.cut(*found.span(1)), _scalar(text, found.end()), out, where, line.place)
        else:
            lines.read_line(line, out, where)


def _scalar(text: str, at: int) -> tuple[int, int]:
    """A YAML scalar on one line: inside its quotes, or up to a comment."""
    quote = text[at : at + 1]
    if quote and quote in "\"'" and (end := text.find(quote, at + 1)) >= 0:
        return at + 1, end
    comment = text.find(" #", at)
    plain = text[at : comment if comment >= 0 else len(text)].rstrip()
    return at, at + len(plain)
