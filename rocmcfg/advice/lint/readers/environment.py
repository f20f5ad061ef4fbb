"""What sets an environment: /etc/environment, environment.d, --env-file, systemd's units, Dockerfiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from rocmcfg.advice.lint.assignment import Reading, Trust, What, Where
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.readers import lines, pairs, shell, spaced
from rocmcfg.advice.lint.readers.words import Word, add_word, list_words
from rocmcfg.advice.lint.remark import warning
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.languages import Effect, Statement, dotenv, env_file, pam_env, unit
from rocmcfg.model.regex import regex

# Files of NAME=VALUE.
KINDS = (FileKind.ENVIRONMENT, FileKind.ENVIRONMENT_D, FileKind.PAM_ENVIRONMENT, FileKind.DOCKER_ENV)
_UNITS = ("systemd.exec(5)", "systemd.syntax(7)")
_SYSTEMD = ("https://www.freedesktop.org/software/systemd/man/latest/environment.d.html",)
_PAM = ("linux-pam modules/pam_env/pam_env.c (_parse_env_file)",)
_KEYS = ("docker/cli pkg/kvfile/kvfile.go",)
_PARSE_ENV = ("BuildKit frontend/dockerfile/parser/line_parsers.go (parseNameVal)",)
_LINE = regex(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=")
_RUNS = regex(r"[ \t]*(?:Exec\w*|PodmanArgs)[ \t]*=[ \t]*[-@:+!]*(?P<runs>)")
_OF_UNIT = regex(r"[ \t]*(?:Default|Manager|Unset)?Environment[ \t]*=")
_ASSIGNED = regex(r"([A-Za-z_]\w*)=")
# The sections in which a key sets variables (systemd.exec(5), systemd-system.conf(5), podman-systemd.unit(5))
_SECTIONS = {
    "Environment": ("Service", "Socket", "Mount", "Swap", "Container", "Build"),
    "DefaultEnvironment": ("Manager",),
    "ManagerEnvironment": ("Manager",),
}
_INSTRUCTION = regex(r"[ \t]*(?:ENV[ \t]+(?P<sets>)|(?:RUN|CMD|ENTRYPOINT)[ \t]+(?P<runs>))", re.IGNORECASE)
_HERE_DOCUMENT = regex(
    r"^[ \t]*(?P<instruction>RUN|COPY|ADD)[ \t]+(?P<before>(?:[^\n]*\\\n){0,50}[^\n]*?)"
    r"<<-?(?P<quote>[\"']?)(?P<end>\w+)(?P=quote)(?P<behind>[^\n]*)\n"
    r"(?P<body>(?:[^\n]*\n){0,500}?)[ \t]*(?P=end)[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
_SPACED = regex(r"[A-Za-z_]\w*[ \t]+=")
_SEPARATE = regex(r"([A-Za-z_]\w*)[ \t]+(?!=)(.*\S)")


def read(piece: Span, out: Reading, where: Where) -> None:
    _read(dotenv.read, piece, out, where)


def read_environment_d(piece: Span, out: Reading, where: Where) -> None:
    _read(lambda text: env_file.read_environment_d(text, {}), piece, out, where)


def read_pam(piece: Span, out: Reading, where: Where) -> None:
    _read(pam_env.read, piece, out, where)
    if where.trust is Trust.FILE:
        spaced.read_lines(piece, "pam_env ignores the line.", _PAM, out)


def read_env_file(piece: Span, out: Reading, where: Where) -> None:
    """Read a file for `docker run --env-file`, such as /etc/rocmcfg/env."""
    _read(dotenv.read_env_file, piece, out, where, quotes="")
    if where.trust is Trust.FILE:
        spaced.read_lines(piece, "docker refuses the file.", _KEYS, out)


def _read(
    language: Callable[[str], Iterable[Statement]],
    piece: Span,
    out: Reading,
    where: Where,
    quotes: str = "\"'",
) -> None:
    if where.trust is not Trust.FILE:
        _read_example(piece, out, where, quotes)
        return
    for statement in language(piece.text):
        if statement.stop <= statement.start or not names.concerns(statement.name):
            continue
        if statement.effect is Effect.UNSETS:
            out.drop_variables(piece.at(statement.start), statement.name)
            continue
        token = piece.cut(statement.start, statement.stop)
        line = token.text if statement.effect is Effect.SETS else ""
        if not line:
            _ignored(piece, statement, out)
        elif "=" in line:
            out.add(What.VARIABLE, token, where=where, statement=_line_of(piece, statement), quotes=quotes)
            out.told(statement.value)


def _ignored(piece: Span, statement: Statement, out: Reading) -> None:
    start = piece.text.rfind("\n", 0, statement.start) + 1
    before = piece.text[start : statement.start]
    if before.strip() == "export":
        summary = f"systemd ignores this line, so {statement.name} is not set: environment.d has no `export`"
        whole = piece.cut(start + len(before) - len(before.lstrip()), statement.stop)
        literal = piece.text[statement.start : statement.stop]
        out.slip(whole, warning("RC7118", summary, literal=literal, sources=_SYSTEMD))
    else:
        summary = f"systemd ignores this line: an empty value leaves {statement.name} unchanged"
        token = piece.cut(statement.start, statement.stop)
        out.slip(token, warning("RC7118", summary, literal="", sources=_SYSTEMD))


def _line_of(piece: Span, statement: Statement) -> tuple[int, int]:
    end = piece.text.find("\n", statement.stop)
    line = piece.cut(piece.text.rfind("\n", 0, statement.start) + 1, len(piece.text) if end < 0 else end)
    return line.place


def _read_example(piece: Span, out: Reading, where: Where, quotes: str) -> None:
    """Read an example in a document. Its author may put a comment after a value, although no program allows
    that in a file."""
    for line in piece.lines():
        match = _LINE.match(line.text)
        if where.once >= 0 and line.text.lstrip().startswith("#"):  # it may name another file
            where = where._replace(once=line.at(0))
        if match and names.concerns(match[1]):
            text = line.text.partition(" #")[0].rstrip() if quotes else line.text
            token = line.cut(match.start(1), len(text))
            out.add(What.VARIABLE, token, where=where, statement=line.place, quotes=quotes)


def read_unit(piece: Span, out: Reading, where: Where) -> None:
    """Read a unit as systemd does. An example in a document may leave its section out."""
    first, unset = len(out.assignments), list[tuple[str, int]]()
    for directive in unit.directives(piece.text):
        here = where if where.scope else where._replace(once=piece.at(directive.start))
        line = piece.cut(directive.start, directive.stop)
        if directive.key in _SECTIONS:
            known = directive.section in _SECTIONS[directive.key] or where.trust is not Trust.FILE
            if known and not directive.value:
                out.drop_variables(line.place[0], since=first)
            _read_directive(piece, directive, out, here) if known else _misplaced(directive, line, out)
        elif directive.key == "UnsetEnvironment":
            out.passed.append(line.place)
            gone = [word.value for word in directive.split()[0] if "=" not in word.value]
            unset = [*unset, *((name, line.place[0]) for name in gone)] if directive.value else []
    for name, at in unset if where.trust is Trust.FILE else ():  # at the end, wherever it stands
        out.drop_variables(at, name, since=first)
    others = (line for line in piece.logical_lines(("#", ";")) if not _OF_UNIT.match(line.text))
    _read_directives(_RUNS, others, out, where)


def _read_directive(piece: Span, directive: unit.Directive, out: Reading, where: Where) -> None:
    before, (words, open_quote) = len(out.assignments), directive.split()
    line = piece.cut(directive.start, directive.stop)
    if any(each.text.lstrip().startswith(("#", ";")) for each in line.lines()):
        where = where._replace(removable=False)  # a comment stands between the continued lines
    for word in words:
        name, equals, value = word.value.partition("=")
        if equals and names.concerns(name):
            add_word(piece, Word(word.start, word.stop, word.parts), out, where, line.place)
            out.told(unit.without_specifiers(value))
    raw = [piece.cut(word.start, word.stop) for word in words]
    spaced.read_words(raw, "systemd ignores these words.", _UNITS, out)
    if open_quote >= 0 and where.trust is Trust.FILE:
        rest = piece.cut(open_quote, directive.stop)
        if any(names.concerns(name) for name in _ASSIGNED.findall(rest.text)):
            summary = "a quote is not closed: systemd ignores the rest of this line"
            out.slip(rest, warning("RC7118", summary, sources=_UNITS))
    out.only_if_all(before, len(words))


def _misplaced(directive: unit.Directive, line: Span, out: Reading) -> None:
    """Report variables in a section in which systemd does not read them."""
    if any(names.concerns(word.value.partition("=")[0]) for word in directive.split()[0]):
        section = f"in [{directive.section}]" if directive.section else "above the first section"
        summary = f"systemd ignores {directive.key}= {section}"
        why = f"It belongs to [{_SECTIONS[directive.key][0]}]."
        out.slip(line, warning("RC7118", summary, why, sources=_UNITS))


def read_dockerfile(piece: Span, out: Reading, where: Where) -> None:
    at = 0
    for document in _HERE_DOCUMENT.finditer(piece.text):
        _read_instructions(piece.cut(at, document.start()), out, where)
        _read_document(piece, document, out, where._replace(scope="", once=-1))
        at = document.end()
    _read_instructions(piece.cut(at), out, where)


def _read_instructions(piece: Span, out: Reading, where: Where) -> None:
    _read_directives(_INSTRUCTION, piece.logical_lines(("#",), blanks_behind=True), out, where)


def _read_document(piece: Span, document: re.Match[str], out: Reading, where: Where) -> None:
    """Read an instruction with a here-document: commands, what a command is fed, or a file that is copied."""
    from rocmcfg.advice.lint import readers

    body, runs = piece.cut(*document.span("body")), document["instruction"].upper() == "RUN"
    if runs and document["before"].strip():
        shell.read(piece.cut(document.start("before"), document.end()), out, where)
    elif runs:
        shell.read(body, out, where.inside())
    else:
        target = (document["behind"].split() or ["-"])[-1]
        readers.read_as(target, body, out, where.inside(once=body.at(0)))


def _read_directives(
    directive: re.Pattern[str], found_lines: Iterable[Span], out: Reading, where: Where
) -> None:
    """Read the lines of a file whose directives set variables or run shell commands."""
    for line in found_lines:
        match = directive.match(line.text)
        rest = line.cut(match.end()) if match else line
        # an example may hold several units; another instruction may stand in another stage
        here = where if where.scope else where._replace(once=line.at(0))
        separate = _SEPARATE.match(rest.text)
        if match is None:
            lines.read_paths(line, out, where)
        elif match["runs"] is not None and rest.text.startswith("["):  # a list in JSON
            lines.read_line(rest, out, where)
        elif match["runs"] is not None:
            shell.read(rest, out, where._replace(scope="", once=-1))
        elif _SPACED.match(rest.text) and where.trust is Trust.FILE:
            spaced.read_lines(rest, "All that follows the first blank is the value.", _PARSE_ENV, out)
        elif separate and "=" not in separate[1]:  # `ENV NAME VALUE`
            _pair(rest, separate, out, here, line.place)
        else:
            read_words(rest, out, here, line.place)


def read_words(piece: Span, out: Reading, where: Where, statement: tuple[int, int]) -> None:
    """Read a list of NAME=VALUE, split at blanks. `statement` is the statement that holds it."""
    before = len(out.assignments)
    words = list_words(piece)
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


def _pair(line: Span, match: re.Match[str], out: Reading, where: Where, statement: tuple[int, int]) -> None:
    """Add a name, and the last group as its value."""
    pairs.add_variable(line, match.span(1), match.span(match.lastindex or 0), out, where, statement)
