"""godotenv, in which docker compose's reader of .env began: what its parser makes of a line."""

from __future__ import annotations

import re
from pathlib import Path

from tests.peers import literals, reading
from tests.peers.judgement import Case
from tests.peers.suites.suite import Suite

_STRING = rf"(?:{literals.ONE}|`([^`]*)`)"


def _cases(sources: Path) -> list[Case]:
    source = (sources / "godotenv_test.go").read_text()
    found = []
    for row in re.findall(rf"^\tparseAndCompare\(t, {_STRING}, {_STRING}, {_STRING}\)", source, re.MULTILINE):
        text, name, value = (literals.unescaped(row[n]) or row[n + 1] for n in (0, 2, 4))
        id = f"parse {text!r}"
        if not name.isidentifier():
            found.append(Case(id, text, None, None))
        else:
            found.append(Case(id, text, {name: value}, reading.written(".env", text, [name])))
    for file in sorted((sources / "fixtures").glob("*.env")):
        expected = re.search(
            rf'"fixtures/{file.name}"\s+expectedValues := map\[string\]string\{{(.*?)\n\t\}}', source, re.S
        )
        if not expected:
            continue
        values = {n: literals.unescaped(v) for n, v in re.findall(rf'"(\w+)":\s*{literals.ONE}', expected[1])}
        text = file.read_text()
        answer = reading.written(".env", text, values)
        for name, value in values.items():
            found.append(Case(f"{file.name} {name}", text, {name: value}, reading.only(answer, [name])))
    return found


SUITE = Suite("golang-github-joho-godotenv", ("*/godotenv_test.go", "*/fixtures/*"), _cases)
