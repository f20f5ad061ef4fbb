"""Every transcript, played again. `UPDATE_GOLDEN=1` writes what came of it in place of what was expected."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

import pytest

from tests.support.hosts import OTHER_HOSTS

from . import diagnostics
from .transcript import cases, play

CASES = cases(Path(__file__).parent / "cases")
# What a text ends in where what was to follow it is empty.
_UNFILLED = re.compile(r"((?<!last\)):|[(,;]| because| by| and)$")


@pytest.mark.bulk
@pytest.mark.parametrize("name", CASES)
def test_transcript(name: str) -> None:
    expected = CASES[name].read_text()
    with diagnostics.seen() as made:
        found = play(expected)
    if os.environ.get("UPDATE_GOLDEN"):
        CASES[name].write_text(found)
        diagnostics.add(diagnostics.TABLE, made)
        return
    changed = list(
        difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")
    )
    assert not changed, "\n".join(["UPDATE_GOLDEN=1 takes this over:", *changed])
    new = made - diagnostics.recorded()
    assert not new, f"{diagnostics.TABLE.name} does not have these yet; UPDATE_GOLDEN=1 adds them"


def test_every_recorded_host_has_a_transcript() -> None:
    assert {f"hosts/{name}" for name in OTHER_HOSTS} <= CASES.keys()


@pytest.mark.parametrize("text", sorted(diagnostics.recorded()), ids=lambda text: text.id)
def test_no_part_of_a_diagnostic_is_blank_or_ends_in_the_air(text: diagnostics.Text) -> None:
    for part in (text.summary, text.detail, text.hint):
        assert part == part.strip()
        assert not _UNFILLED.search(part)


def test_the_table_holds_only_what_the_code_still_says() -> None:
    gone = sorted(text for text in diagnostics.recorded() if not diagnostics.is_said(text))
    shown = "\n".join(f"{text.id}: {text.summary} | {text.hint}" for text in gone)
    assert not gone, f"--diagnostics-seen {diagnostics.TABLE.name} takes these out:\n{shown}"


def test_a_text_with_a_summary_or_a_hint_of_old_is_not_said() -> None:
    text = next(text for text in sorted(diagnostics.recorded()) if text.id == "RC1011")
    assert diagnostics.is_said(text)
    assert not diagnostics.is_said(text._replace(hint="take one `extends` away"))
    assert not diagnostics.is_said(text._replace(summary="the profiles go round in a circle"))
