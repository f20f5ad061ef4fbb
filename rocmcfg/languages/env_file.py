"""Read environment.d(5) and the files of EnvironmentFile= in the same way as systemd (src/basic/env-file.c,
`parse_env_file_internal`; src/basic/env-util.c, `replace_env_full`; of release 252 to 257)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocmcfg.languages import Effect, Statement, is_damaged, without_values
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_NEWLINE = "\n\r"
_BLANKS = " \t\n\r"
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPORT = regex(r"export[ \t]+(?=[A-Za-z_][A-Za-z0-9_]*$)")
_COMMENT = regex(r"(?:[^\\\n\r]|\\[^\n\r])*(\\?)")
_EXPANSION = regex(
    r"\$(?:(?P<dollar>\$)|(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<test>[-+])(?P<word>[^${}]*))?\}|(?P<other>(?![{0-9])))"
)


def read_environment_d(text: str, before: Mapping[str, str | None]) -> Iterator[Statement]:
    """Yield the variables. `before` holds those of earlier files, with None for unknown values. Any other
    variable that is expanded comes from the manager's own environment, which is in no file, so such a value
    is unknown. An empty value sets nothing."""
    values = dict(before)
    for statement in _assignments(text):
        made = statement
        if statement.effect is Effect.SETS and statement.value == "":
            made = statement._replace(effect=Effect.IGNORED)
        elif statement.effect is Effect.SETS:
            value = None if statement.value is None else _expanded(statement.value, values)
            made = statement._replace(value=value)
            values[statement.name] = value
        yield made


def read_environment_file(text: str) -> Iterator[Statement]:
    """Yield the variables. Nothing is expanded (systemd.exec(5), EnvironmentFile=)."""
    return _assignments(text)


def _expanded(value: str, values: Mapping[str, str | None]) -> str | None:
    out, at = [], 0
    while (dollar := value.find("$", at)) >= 0:
        match = _EXPANSION.match(value, dollar)
        if match is None:
            return None
        name = match["bare"] or match["braced"]
        if name and values.get(name) is None:
            return None
        replaced = "$"
        if name:
            replaced = values[name] or ""
            replaced = (match["word"] or "") if match["test"] == "+" else replaced
        out += [value[at:dollar], replaced]
        at = match.end()
    return "".join((*out, value[at:]))


class _Piece(NamedTuple):
    key: str
    value: str
    line: int
    start: int
    stop: int


def _assignments(text: str) -> Iterator[Statement]:
    statements = _statements(text)
    return without_values(statements) if is_damaged(text) else statements


def _statements(text: str) -> Iterator[Statement]:
    # until release 254 a backslash at the end of a comment continued it on the next line
    doubtful_to = -1
    for piece in _pieces(text):
        if isinstance(piece, int):
            doubtful_to = max(doubtful_to, piece)
            continue
        exported = _EXPORT.match(piece.key)
        name = piece.key[exported.end() :] if exported else piece.key
        if not _NAME.fullmatch(name):
            continue
        value = None if piece.start < doubtful_to else piece.value
        if piece.start < doubtful_to < piece.stop:
            doubtful_to = len(text)
        start = piece.start + (exported.end() if exported else 0)
        effect = Effect.IGNORED if exported else Effect.SETS
        yield Statement(name, value, piece.line, start, piece.stop, effect)


def _pieces(text: str) -> Iterator[_Piece | int]:
    """Yield the assignments, and the ends of lines that older releases treat as part of a comment."""
    at, line = 0, 1
    while at < len(text):
        if text[at] in _BLANKS:
            line += text[at] == "\n"
            at += 1
        elif text[at] in "#;":
            comment = _COMMENT.match(text, at)
            at = comment.end() if comment else len(text)
            if comment and comment[1]:
                yield _comment_end(text, at + 1)
        else:
            start, end = at, _end_of_key(text, at + 1)
            if end == len(text) or text[end] != "=":
                at = end
                continue
            key = text[start:end].rstrip(_BLANKS)
            value, at, stop = _value(text, end + 1)
            yield _Piece(key, value, line, start, stop)
            line += text.count("\n", start, at)


def _comment_end(text: str, start: int) -> int:
    while (match := _COMMENT.match(text, start)) is not None and match[1] and match.end() < len(text):
        start = match.end() + 1
    return match.end() if match else len(text)


def _end_of_key(text: str, at: int) -> int:
    while at < len(text) and text[at] not in "=\n\r":
        at += 1
    return at


def _value(text: str, at: int) -> tuple[str, int, int]:
    """Return the value, the offset at which reading continues, and the offset of the end of the written
    value."""
    out: list[str] = []
    bare, kept, stop = False, 0, at  # `kept`: the length of `out` without blanks at the end
    while at < len(text) and text[at] not in _NEWLINE:
        character = text[at]
        if character == "\\":
            bare, at = True, at + 2
            if text[at - 1 : at] not in ("", "\n", "\r"):
                out.append(text[at - 1])
            stop, kept = min(at, len(text)), len(out)
        elif not bare and character in "'\"":
            at = _quoted(text, at, out)
            stop, kept = at, len(out)
        else:
            at += 1
            if character in _BLANKS and not bare:
                continue
            bare = True
            out.append(character)
            if character not in _BLANKS:
                stop, kept = at, len(out)
    return "".join(out[:kept]), at, stop


def _quoted(text: str, at: int, out: list[str]) -> int:
    quote, at = text[at], at + 1
    while at < len(text) and text[at] != quote:
        if quote == '"' and text[at] == "\\" and at + 1 < len(text):
            at += 1
            if text[at] not in '"\\`$':
                out += [] if text[at] == "\n" else ["\\", text[at]]
            else:
                out.append(text[at])
        elif not (quote == '"' and text[at] == "\\"):
            out.append(text[at])
        at += 1
    return min(at + 1, len(text))
