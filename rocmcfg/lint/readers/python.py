"""Python: what a line of a program puts into os.environ. A dictionary that becomes an environment elsewhere
is not followed."""

from __future__ import annotations

import re

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Assignment, Reading, What, Where
from rocmcfg.lint.readers import lines
from rocmcfg.lint.source import Span
from rocmcfg.model.regex import regex

_SET = regex(
    r"""(?:os\.)?(?:environ(?:\.setdefault\(|\[)|putenv\(|setenv\()[ \t]*(['"])([A-Z]\w*)\1[ \t]*"""
    r"""(?:\][ \t]*=(?!=)|,)[ \t]*(?:(['"])([^'"\n]*)\3[ \t]*(?:\)|(?=$|[#;\r])))?""",
    re.MULTILINE,
)


def read(piece: Span, out: Reading, where: Where) -> None:
    for line in piece.lines():
        if line.text.lstrip().startswith("#"):
            continue
        lines.read_paths(line, out, where)
        for found in _SET.finditer(line.text):
            if names.concerns(found[2]):
                around = line.text[: found.start()] + line.text[found.end() :].partition("#")[0]
                whole = not around.strip()
                statement = line.range(*found.span()) if whole else None
                assigned = Assignment(
                    What.VARIABLE,
                    found[2],
                    found[4],
                    *line.range(found.start(), found.start() + len(found.group().rstrip())),
                    line.range(*found.span(2)),
                    line.range(*found.span(4)) if found[4] else None,
                    where._replace(removable=whole),
                    opaque=found[4] is None,
                    statement=statement,
                )
                out.assignments.append(assigned)
