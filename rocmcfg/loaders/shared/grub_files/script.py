"""How GRUB reads a command of its script, which every line of its menus and every entry of blscfg is.

Words and their quotes: grub-core/script/yylex.l (2.02 to 2.14, and Fedora's). What of them `linux` hands to
the kernel: grub_create_loader_cmdline of grub-core/lib/cmdline.c. Variables are not known here: `$name` stays
as it is written, which no kernel will see.
"""

from __future__ import annotations

import re

from rocmcfg.model import kargs
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import Karg
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.regex import regex

_VARIABLE = r"\$(?:[A-Za-z_]\w*|[0-9]+|[?#*@]|\{(?:[A-Za-z_]\w*|[0-9]+|[?#*@])\})"
_PIECE = regex(
    rf"(?P<single>'[^']*')|(?P<double>\$?\"(?:\\.|[^\"\\])*\")|(?P<joined>\\\n)|(?P<escaped>\\.)"
    rf"|(?P<variable>{_VARIABLE})|(?P<plain>[^{{}}|&$;<> \t\n'\"\\]+)",
    re.DOTALL | re.ASCII,
)
_BLANKS = regex(r"(?:[ \t]|\\\n)*")
# inside double quotes a backslash takes the meaning of these away, and stays before all others
_ESCAPED = regex(r"\\([$\"\\])|\\\n")
_WRITTEN_BACK = regex(r"(\\x[0-9A-Fa-f]{2})|([\\'\"])")
_PROBLEMS = {
    "'": "a single quote is not closed",
    '"': "a double quote is not closed",
    "\\": "a backslash stands at the end",
    "#": "a comment begins",
    "\n": "a line break ends the command",
    ";": "a semicolon ends the command",
    "&": "“&” ends the command",
    "$": "“$” begins the name of a variable",
}

_CURES = {
    _PROBLEMS["\n"]: "write the value on one line",
    _PROBLEMS["'"]: "close the quote",
    _PROBLEMS['"']: "close the quote",
    _PROBLEMS["\\"]: "take the backslash out",
}


class Word(NamedTuple):
    """A word without its quotes, and where it stands in the text."""

    text: str
    start: int
    stop: int


class Command(NamedTuple):
    """The words of one command. `problem` says what ends it before the text does, and whether that leaves a
    script that GRUB can read: `at` is where, -1 where the command is all of the text."""

    words: tuple[Word, ...]
    problem: str = ""
    at: int = -1


def command(text: str) -> Command:
    """The first command of a text."""
    words: list[Word] = []
    at = _BLANKS.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        if text[at] == "#":
            return Command(tuple(words), _PROBLEMS["#"], at)
        start, pieces = at, []
        while found := _PIECE.match(text, at):
            pieces.append(_unquoted(found))
            at = found.end()
        if at > start:
            words.append(Word("".join(pieces), start, at))
        end = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if end == at and at < len(text):
            char = text[at + 1] if text[at : at + 2] == '$"' else text[at]
            return Command(tuple(words), _PROBLEMS.get(char, f"“{char}” is a sign of its script"), at)
        at = end
    return Command(tuple(words))


def _unquoted(found: re.Match[str]) -> str:
    text = found[0]
    if found.lastgroup == "single":
        return text[1:-1]
    if found.lastgroup == "double":
        return _ESCAPED.sub(lambda one: one[1] or "", text.removeprefix("$")[1:-1])
    if found.lastgroup in ("joined", "escaped"):
        return text[1:].strip("\n")
    return text


def written(word: str) -> str:
    """A word as `linux` writes it onto the kernel's command line."""
    text = _WRITTEN_BACK.sub(lambda one: one[1] or f"\\{one[2]}", word)
    return f'"{text}"' if " " in text else text


def tokens(text: str) -> list[tuple[str, int]]:
    """The arguments that the kernel gets from a text behind `linux KERNEL`, each with the offset of the word
    it comes from."""
    return [
        (token, word.start) for word in command(text).words for token, _ in kargs.tokens(written(word.text))
    ]


def split(text: str, source: str = "") -> tuple[Karg, ...]:
    return tuple(Karg(token, source) for token, _ in tokens(text))


def problem(text: str) -> str:
    """Why a menu would not hand all of these arguments to the kernel, in words; empty where it would."""
    return command(text).problem


def not_copied(name: str, found: Command, location: str) -> Diagnostic:
    """Of a text called `name` that comes into a script of GRUB as it is, and whose command ends too early."""
    last = f" behind {found.words[-1].text}" if found.words else ""
    return error(
        "RC3172",
        f"{name}: {found.problem}{last}, and the kernel would get nothing of what follows",
        detail="GRUB reads it as a line of its script, and reads no menu at all where a quote stays open",
        location=location,
        hint=_CURES.get(found.problem, "take it out, or put a backslash before it that GRUB sees"),
    )
