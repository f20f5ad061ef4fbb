"""Find assignments with a blank before their `=`, which many programs do not read as assignments."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.advice.lint.assignment import Reading
from rocmcfg.advice.lint.remark import warning
from rocmcfg.advice.lint.source import Span
from rocmcfg.judging import names
from rocmcfg.model.regex import regex

_SIGN = regex(r"=(?!=)")
_LINE = regex(r"(?m:^)[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)([ \t]+=)[ \t]*([^\s#]*)")
_SHELL = ("https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_09_01",)
_PLAIN = regex(r"[\w.,:/+-]*")


def read_command(words: Sequence[Span], out: Reading, *, declares: bool) -> None:
    """Report what a command of a shell does not assign; `declares`: it is `export` or the like."""
    first = words[0].text if words else ""
    if declares:
        read_words(words[1:], f"`{first}` takes each word for a name of its own.", _SHELL, out)
    elif names.concerns(first):
        read_words(words[:3], f"A shell looks for a command {first}.", _SHELL, out)


def read_words(words: Sequence[Span], why: str, sources: tuple[str, ...], out: Reading) -> None:
    """Report `NAME = VALUE` and `NAME =VALUE` in a list of words."""
    for number in range(len(words) - 1):
        name, sign = words[number : number + 2]
        if _SIGN.match(sign.text) and "=" not in name.text:
            value = words[number + 2] if sign.text == "=" and number + 2 < len(words) else sign.cut(1)
            _report(name, value, why, sources, out)


def read_lines(piece: Span, why: str, sources: tuple[str, ...], out: Reading) -> None:
    """Report the lines that begin with `NAME =`."""
    for match in _LINE.finditer(piece.text):
        name, value = piece.cut(*match.span(1)), piece.cut(*match.span(3))
        _report(name, value, why, sources, out)


def _report(name: Span, value: Span, why: str, sources: tuple[str, ...], out: Reading) -> None:
    if not names.concerns(name.text):
        return
    summary = f"there must be no blank between {name.text} and ="
    literal = f"{name.text}={value.text}" if _PLAIN.fullmatch(value.text) else None
    remark = warning("RC7118", summary, why, literal=literal, sources=sources)
    out.slips.append((name.place[0], value.place[1], remark))
