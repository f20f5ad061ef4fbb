"""The form of the decisions in docs/decisions: a number, a date, a status."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from tests.support.program import SOURCE

FOLDER = SOURCE / "docs/decisions"
DECISIONS = sorted(FOLDER.iterdir())
# The first three lines of a page.
_HEAD = re.compile(
    r"# (?P<number>\d+)\. \S.*\n\n(?P<date>\d{4}-\d\d-\d\d), "
    r"(?:proposed|accepted|superseded by \[(?P<label>\d+)\]\((?P<later>[^)]+)\))\.\n\n"
)


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
def test_a_decision_has_a_number_a_date_and_a_status(path: Path) -> None:
    head = _HEAD.match(path.read_text())
    assert head, "the page begins '# NUMBER. TITLE', then 'YYYY-MM-DD, accepted.' or another status"
    assert re.fullmatch(r"\d{4}-[a-z0-9.-]+\.md", path.name)
    assert path.name.startswith(f"{int(head['number']):04}-")
    date.fromisoformat(head["date"])
    if head["later"]:
        assert (FOLDER / head["later"]).is_file()
        assert head["later"].startswith(f"{int(head['label']):04}-")
        assert int(head["label"]) > int(head["number"])


def test_decisions_are_numbered_in_the_order_of_their_dates() -> None:
    heads = [head for path in DECISIONS if (head := _HEAD.match(path.read_text()))]
    numbers = [int(head["number"]) for head in heads]
    assert len(set(numbers)) == len(numbers)
    assert [head["date"] for head in heads] == sorted(head["date"] for head in heads)
