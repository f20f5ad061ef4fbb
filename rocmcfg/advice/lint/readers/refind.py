"""Read refind.conf and refind_linux.conf: words and their quotes are those of rEFInd, in which two double
quotes in a row stand for one."""

from __future__ import annotations

from rocmcfg.advice.lint.assignment import Reading, Where
from rocmcfg.advice.lint.readers import kernel
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.loaders.refind.stanzas import word_lines
from rocmcfg.model.regex import regex

_DOUBLED = regex('""')
_STANZAS = ("menuentry", "submenuentry", "}")


def read(piece: Span, out: Reading, where: Where) -> None:
    """Read the arguments of stanzas and rows. In a stanza the last `options` line counts, and `loader`
    discards those above it."""
    title, number, held = "", 0, range(0)
    for words, _ in word_lines(piece.text):
        key, line = words[0].text.lower(), piece.at(words[0].start)
        if key in _STANZAS:
            title, number, held = words[1].text if len(words) > 1 else title, number + 1, range(0)
        elif key in ("options", "loader") and where.scope:
            out.drop(held, line)
            held = range(0)
        if len(words) != 2 or not words[1].quoted:
            continue
        row = key not in ("options", "add_options")
        number += row
        entry = where._replace(
            scope=where.scope and f"{where.scope} entry {number}",
            once=-1,
            title=words[0].text if row else title,
        )
        before = len(out.assignments)
        raw = piece.cut(words[1].start, words[1].end)
        marks = [match.start() for match in _DOUBLED.finditer(raw.text)]
        bounds = zip((0, *(at + 1 for at in marks)), (*marks, None), strict=True)
        arguments = joined(raw.cut(start, stop) for start, stop in bounds)
        entry = entry._replace(editable=entry.editable and not marks)  # a proposal might part such a pair
        kernel.read_arguments(arguments, out, entry, whole=True)
        held = range(before, len(out.assignments)) if key == "options" else held
