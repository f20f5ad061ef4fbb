"""dotenv of Ruby: what its parser makes of an .env file."""

from __future__ import annotations

import re
from pathlib import Path

from tests.peers import literals, reading
from tests.peers.judgement import Case
from tests.peers.suites.suite import Suite

_STRING = rf"(?:{literals.ONE}|'((?:[^'\\]|\\.)*)')"


def _cases(sources: Path) -> list[Case]:
    source = (sources / "spec/dotenv/parser_spec.rb").read_text()
    found = []
    for double, single, said in re.findall(
        rf"expect\(env\({_STRING}\)\)\s*\.to eql\((.*?)\)\n", source, re.DOTALL
    ):
        text = literals.unescaped(double) or re.sub(r"\\(['\\])", r"\1", single)
        values = {}
        for row in re.findall(rf"{_STRING} => {_STRING}", said):
            values[row[0] or row[1]] = literals.unescaped(row[2]) or re.sub(r"\\(['\\])", r"\1", row[3])
        id = f"parse {text!r}"
        if not values or not all(name.isidentifier() for name in values) or "$(" in text:
            found.append(Case(id, text, None, None))  # what a command prints is dotenv's own
        else:
            found.append(Case(id, text, values, reading.written(".env", text, values)))
    return found


SUITE = Suite("ruby-dotenv", ("*/spec/*",), _cases)
