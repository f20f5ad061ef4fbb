"""Scripts that a login shell sources: what they export is for the whole session."""

from __future__ import annotations

from bisect import bisect_left

from rocmcfg.advice.lint.assignment import Reading, Trust, What, Where, is_placeholder
from rocmcfg.advice.lint.readers import shell as scripts
from rocmcfg.advice.lint.readers.words import commands as split_commands
from rocmcfg.advice.lint.remark import warning
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.languages import Effect, Statement, fish, shell
from rocmcfg.model.regex import regex

_QUOTE = ("https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02",)
_BASH = regex(r"#!.*\bbash\b")
_FISH = ("https://fishshell.com/docs/current/cmds/set.html",)
_EXPORT = ("https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#export",)


def read(piece: Span, out: Reading, where: Where) -> None:
    """A script that a login shell sources, so that its variables are those of the session. Where its language
    tells a value, that is the value; the rest is read as any script."""
    before = len(out.assignments)
    scripts.read(piece, out, where, sourced=True)
    if where.trust is not Trust.FILE:
        return
    for command in split_commands(piece):
        words = [piece.text[word.start : word.stop] for word in command.words]
        if command.unclosed and any(names.concerns(word.partition("=")[0]) for word in words):
            start = command.words[0].start
            line = piece.cut(start, piece.text.find("\n", start) + 1 or None)
            summary = "a quote is not closed: a shell fails here, and reads nothing of what follows"
            out.slip(line.cut(0, len(line.text.rstrip())), warning("RC7118", summary, sources=_QUOTE))
    _tell_values(piece, out, where, before, exports=True)


def read_script(piece: Span, out: Reading, where: Where) -> None:
    """Read a script that is a program of its own, with the values that the language of shells tells."""
    before = len(out.assignments)
    scripts.read(piece, out, where)
    if where.trust is Trust.FILE and any(each.opaque for each in out.assignments[before:]):
        _tell_values(piece, out, where, before, exports=False)


def _tell_values(piece: Span, out: Reading, where: Where, before: int, *, exports: bool) -> None:
    """Give the assignments since `before` the values that the language tells if they are reached. `exports`:
    report what is not exported, too."""
    if len(out.assignments) == before:
        return
    session = shell.Environment()
    statements = {
        piece.at(statement.start): statement
        for statement in shell.read(piece.text, session, bash=_BASH.match(piece.text) is not None)
        if statement.stop > statement.start
    }
    passed = {piece.at(start): value for start, value in session.passed.items()}
    for number, assignment in enumerate(out.assignments[before:], before):
        if assignment.what is What.VARIABLE and assignment.start in passed:
            of_program = passed[assignment.start]
            opaque = is_placeholder(of_program, where.trust)
            out.assignments[number] = assignment._replace(value=of_program, opaque=opaque)
        statement = statements.get(assignment.start)
        if assignment.what is not What.VARIABLE or statement is None or statement.name != assignment.name:
            continue
        text = statement.written if statement.value is None else statement.value
        opaque = assignment.opaque if text is None else is_placeholder(text, where.trust)
        value = assignment.value if text is None else text
        out.assignments[number] = assignment._replace(value=value, opaque=opaque or text is None)
        catalogued = names.variable(assignment.name) is not None
        if (
            exports
            and catalogued
            and statement.effect is Effect.NOT_EXPORTED
            and session.is_exported(assignment.name) is False
        ):
            summary = f"{assignment.name} is set for this shell alone: without `export` no program gets it"
            token = piece.cut(statement.start, statement.stop)
            literal = f"export {token.text}"
            out.slip(token, warning("RC7121", summary, literal=literal, sources=_EXPORT))


def read_fish(piece: Span, out: Reading, where: Where) -> None:
    """Read a file that each fish sources: a later statement on a variable replaces or erases an earlier
    one."""
    before = len(out.assignments)
    scripts.read(piece, out, where._replace(scope=""))
    if where.trust is not Trust.FILE:
        return
    by_name: dict[str, list[tuple[int, int]]] = {}
    for number, each in enumerate(out.assignments[before:], before):
        if each.what is What.VARIABLE:
            by_name.setdefault(each.name, []).append((each.start, number))
    gone = dict.fromkeys(by_name, 0)  # how many of them are dropped, or judged without a scope
    exported, alone = set[str](), dict[str, Statement]()
    for statement in fish.read(piece.text):
        if statement.effect is Effect.SETS:
            exported.add(statement.name)
        elif statement.effect is Effect.NOT_EXPORTED:
            alone[statement.name] = statement
        if statement.stop <= statement.start or statement.effect not in (Effect.SETS, Effect.UNSETS):
            continue
        begin, end = piece.range(statement.start, statement.stop)
        places = by_name.get(statement.name, [])
        first, last = bisect_left(places, (begin,)), bisect_left(places, (end,))
        certain = statement.value is not None
        text = statement.value if certain else statement.written
        for _, number in places[first:last]:
            assignment = out.assignments[number]
            out.assignments[number] = assignment._replace(
                value=assignment.value if text is None else text,
                opaque=text is None or is_placeholder(text, where.trust),
                where=assignment.where._replace(scope=where.scope if certain else ""),
            )
        if first == last and first and (statement.effect is Effect.UNSETS or certain):
            earlier = (number for _, number in places[gone[statement.name] : first])
            out.drop((n for n in earlier if out.assignments[n].where.scope), begin)
            gone[statement.name] = first
    for name, statement in alone.items():
        if name not in exported and names.variable(name) is not None:
            summary = f"{name} is set for fish alone: without -x no program gets it"
            token = piece.cut(statement.start, statement.stop)
            literal = token.text.replace("set", "set -x", 1)
            out.slip(token, warning("RC7121", summary, literal=literal, sources=_FISH))
