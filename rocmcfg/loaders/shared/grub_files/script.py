"""Read a command of GRUB's script language. Every line of its menus and every entry of blscfg is such a
command.

Words and their quotes: grub-core/script/yylex.l (2.02 to 2.14, and Fedora's). Arguments that `linux` passes
to the kernel: grub_create_loader_cmdline of grub-core/lib/cmdline.c. The values of variables are not known
here: `$name` stays as written and is marked, since the kernel will see another text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.loaders.shared.grub_files import TRIAL_TOKEN
from rocmcfg.model import kargs
from rocmcfg.model.diagnostic import Diagnostic, error, info
from rocmcfg.model.kargs import Karg
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

VARIABLE = r"\$(?:[A-Za-z_]\w*|[0-9]+|[?#*@]|\{(?:[A-Za-z_]\w*|[0-9]+|[?#*@])\})"
_PIECE = regex(
    rf"(?P<single>'[^']*')|(?P<double>\$?\"(?:\\.|[^\"\\])*\")|(?P<joined>\\\n)|(?P<escaped>\\.)"
    rf"|(?P<variable>{VARIABLE})|(?P<plain>[^{{}}|&$;<> \t\n'\"\\]+)",
    re.DOTALL | re.ASCII,
)
_BLANKS = regex(r"(?:[ \t]|\\\n)*")
# inside double quotes a backslash escapes these, and is kept before all other characters
_ESCAPED = regex(r"\\([$\"\\])|\\\n")
_EXPANDED = regex(rf"\\.|({VARIABLE})", re.DOTALL | re.ASCII)
_WRITTEN_BACK = regex(r"(\\x[0-9A-Fa-f]{2})|([\\'\"])")
_PROBLEMS = {
    "'": "a single quote is not closed",
    '"': "a double quote is not closed",
    "\\": "a backslash is at the end",
    "#": "a comment begins",
    "\n": "a line break ends the command",
    ";": "a semicolon ends the command",
    "&": "“&” ends the command",
    "$": "“$” begins the name of a variable",
}
_HARMLESS = (_PROBLEMS["#"], _PROBLEMS["\n"], _PROBLEMS[";"])
_CURES = {
    _PROBLEMS["\n"]: "write the value on one line",
    _PROBLEMS["'"]: "close the quote",
    _PROBLEMS['"']: "close the quote",
    _PROBLEMS["\\"]: "remove the backslash",
}


class Word(NamedTuple):
    """A word without its quotes, and its place in the text. `variable` is a variable in it, as written, that
    GRUB replaces with its value; empty where there is none."""

    text: str
    start: int
    stop: int
    variable: str = ""


class Command(NamedTuple):
    """The words of one command. `problem` is what ends the command before the end of the text, `at` is the
    place, -1 where the command is the whole text."""

    words: tuple[Word, ...]
    problem: str = ""
    at: int = -1

    @property
    def is_refused(self) -> bool:
        """Return whether GRUB reads nothing at all of a script with this command (grub-script-check)."""
        return bool(self.problem) and self.problem not in _HARMLESS


def command(text: str, start: int = 0) -> Command:
    """Return the first command of a text from the offset `start` on."""
    words: list[Word] = []
    at = _BLANKS.match(text, start).end()  # type: ignore[union-attr]
    while at < len(text):
        if text[at] == "#":
            return Command(tuple(words), _PROBLEMS["#"], at)
        start, pieces, variable = at, [], ""
        while piece := _PIECE.match(text, at):
            pieces.append(_unquoted(piece))
            variable = variable or _variable(piece)
            at = piece.end()
        if at > start:
            words.append(Word("".join(pieces), start, at, variable))
        end = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if end == at and at < len(text):
            char = text[at + 1] if text[at : at + 2] == '$"' else text[at]
            return Command(
                tuple(words), _PROBLEMS.get(char, f"“{char}” is a special character of its script"), at
            )
        at = end
    return Command(tuple(words))


def _variable(piece: re.Match[str]) -> str:
    """Return the first variable in a piece of a word; empty where there is none."""
    if piece.lastgroup == "variable":
        return piece[0]
    if piece.lastgroup != "double":
        return ""
    return next((name[1] for name in _EXPANDED.finditer(piece[0].removeprefix("$")) if name[1]), "")


def _unquoted(piece: re.Match[str]) -> str:
    text = piece[0]
    if piece.lastgroup == "single":
        return text[1:-1]
    if piece.lastgroup == "double":
        return _ESCAPED.sub(lambda match: match[1] or "", text.removeprefix("$")[1:-1])
    if piece.lastgroup in ("joined", "escaped"):
        return text[1:].strip("\n")
    return text


def written(word: str) -> str:
    """Return a word as `linux` writes it to the kernel command line."""
    text = _WRITTEN_BACK.sub(lambda match: match[1] or f"\\{match[2]}", word)
    return f'"{text}"' if " " in text else text


def handed_on(words: Iterable[Word]) -> Iterator[tuple[str, Word]]:
    """Return the arguments that the kernel gets from the words after `linux KERNEL`, each with its word."""
    return ((token, word) for word in words for token, _ in kargs.tokens(written(word.text)))


def kargs_of(words: Iterable[Word], source: str) -> tuple[Karg, ...]:
    return tuple(Karg(token, source, bool(word.variable)) for token, word in handed_on(words))


def split(text: str, source: str = "") -> tuple[Karg, ...]:
    return kargs_of(command(text).words, source)


def traced(text: str, sources: Sequence[str]) -> tuple[Karg, ...]:
    """Return the arguments of a text; `sources` holds the source of each of its characters."""
    words = handed_on(command(text).words)
    return tuple(Karg(token, sources[word.start], bool(word.variable)) for token, word in words)


def expanded_at_boot(kargs: Iterable[Karg]) -> Iterator[Diagnostic]:
    """Yield a remark for each foreign argument in which GRUB replaces a variable at boot."""
    for karg in kargs:
        if karg.untold and karg.text != TRIAL_TOKEN:
            summary = f"cannot determine the kernel's value of {karg.text}: GRUB replaces a variable at boot"
            detail = "$ begins the name of a variable in GRUB's script; an unset variable is empty"
            hint = "write the value itself there, or put a backslash before the $ so that GRUB sees it"
            yield info("RC3186", summary, detail=detail, location=karg.source, hint=hint)


def problem(text: str) -> str:
    """Return why a menu would not pass all of these arguments to the kernel; empty where it would."""
    return command(text).problem


def not_copied(name: str, broken: Command, location: str) -> Diagnostic:
    """Return the error for a text named `name` that is copied unchanged into a script of GRUB, and whose
    command ends too early."""
    last = f" after {broken.words[-1].text}" if broken.words else ""
    return error(
        "RC3172",
        f"{name}: {broken.problem}{last}, so the kernel would get nothing after that",
        detail="GRUB reads it as a line of its script, and reads no menu at all if a quote is not closed",
        location=location,
        hint=_CURES.get(broken.problem, "remove it, or put a backslash before it so that GRUB sees it"),
    )
