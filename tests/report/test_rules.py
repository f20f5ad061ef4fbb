"""The table of rules itself: whoever adds one sees at once what is missing in it."""

from __future__ import annotations

import pytest

from rocmcfg.advice.report.looks import LOOKS, data
from rocmcfg.advice.report.redact import Redactor
from rocmcfg.advice.report.rules import rules, rules_of
from tests.report.test_corpus import PLANTED
from tests.report.test_redact import SECRETS


@pytest.mark.parametrize("entry", data()["rules"], ids=lambda entry: entry["from"])
def test_a_rule_has_a_source_a_hole_and_only_what_is_known(entry: dict[str, object]) -> None:
    assert entry.keys() <= {"from", "near", "find", "like", "but"}
    assert str(entry["from"]).strip()
    assert str(entry["near"]) == str(entry["near"]).lower()
    assert entry.get("like", "") in LOOKS


def test_every_rule_finds_something_that_was_planted() -> None:
    """So that each can be judged by a line of what it is for."""
    lines = [line for _, line, _ in PLANTED] + [line for line, _ in SECRETS.values()]
    assert [r.written for r in rules() if not any(any(r.places(line)) for line in lines)] == []


def test_every_pattern_has_holes_and_every_form_is_used() -> None:
    assert [rule.pattern.pattern for rule in rules() if not rule.holes] == []
    text = str(data())
    unused = [name for name in data()["forms"] if f"{{{name}}}" not in text]
    assert [name for name in unused if name not in ("ACCOUNT", "HOST")] == []  # those of {user} and {host}


def test_a_placeholder_of_any_kind_stays_what_it_is() -> None:
    for kind in sorted({kind for rule in rules() for kind, _ in rule.holes}):
        text = f"password=<{kind}-7> user=<{kind}-7> at /home/<{kind}-7>"
        assert Redactor(users=["secret", kind])(text) == text


def test_a_line_meets_a_rule_only_where_something_speaks_for_it() -> None:
    assert len(rules_of("")) < len(rules_of("password for trudy: Nov 21")) < len(rules())
