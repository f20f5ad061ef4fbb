"""Redaction judged on lines as programs really write them: what must go, and what must stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.advice.report.redact import Redactor
from rocmcfg.knowledge import catalogue

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
    assert sum(len(secrets) for _, _, secrets in PLANTED) >= 160
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


LOGS = sorted((DATA.parent.parent).glob("*/data/*.log")) + sorted(
    (DATA.parent.parent / "doctor/logs").glob("*.log")
)


def test_every_signature_still_matches_its_samples() -> None:
    """What a report is for: a maintainer who gets it finds in it what doctor found."""
    redact = Redactor()
    samples = [
        (s.pattern, sample)
        for issue in catalogue.known_issues()
        for s in issue.signatures
        for sample in s.samples
    ]
    for _, sample in samples:
        redact.learn(sample)
    lost = [sample for pattern, sample in samples if not re.search(pattern, redact(sample))]
    assert len(samples) > 100
    assert lost == []


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_of_a_recorded_log_only_who_and_where_goes(log: Path) -> None:
    """Its builder, its file systems and its host are all that these logs tell."""
    redact = Redactor()
    text = log.read_text()
    redact.learn(text)
    changed = [
        line for line, said in zip(text.splitlines(), redact(text).splitlines(), strict=True) if line != said
    ]
    telling = re.compile(r"Linux version|UUID=|^[A-Z][a-z]{2} [ \d]\d [\d:]+ \S+ kernel:")
    assert [line for line in changed if not telling.search(line)] == []
