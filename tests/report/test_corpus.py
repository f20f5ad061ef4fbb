"""Redaction judged on lines as programs really write them: what must go, and what must stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.report.redact import Redactor

DATA = Path(__file__).parent / "data"


def planted() -> Iterator[tuple[str, str, list[str]]]:
    program = ""
    for line in (DATA / "planted.txt").read_text().splitlines()[1:]:
        if line.startswith("== "):
            program = line[3:]
            continue
        marked = line.replace("¦", "")
        yield program, re.sub("[«»]", "", marked), re.findall("«([^»]*)»", marked)


PLANTED = list(planted())
ORDINARY = (DATA / "ordinary.txt").read_text().splitlines()


def test_the_corpus_is_wide() -> None:
    assert len({program for program, _, _ in PLANTED}) >= 12
    assert sum(len(secrets) for _, _, secrets in PLANTED) >= 150
    assert len(ORDINARY) >= 100


@pytest.mark.parametrize(("line", "secrets"), [row[1:] for row in PLANTED])
def test_nothing_planted_survives(line: str, secrets: list[str]) -> None:
    """Each line alone, by a redactor that knows nothing of the host."""
    said = Redactor()(line).lower()
    assert [secret for secret in secrets if secret.lower() in said] == [], said


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_lines_stay_as_they_are(line: str) -> None:
    assert Redactor()(line) == line


def test_nothing_that_one_line_teaches_takes_an_ordinary_one_away() -> None:
    redact = Redactor()
    for line in ORDINARY:
        redact.learn(line)
    assert redact("\n".join(ORDINARY)) == "\n".join(ORDINARY)
