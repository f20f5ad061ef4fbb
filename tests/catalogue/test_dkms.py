"""Wordings of AMD's DKMS driver, noted from its source, against the patterns of the known issues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.knowledge import catalogue, toml
from tests.catalogue.sources.wordings import Wordings

NOTED = toml.loads((Path(__file__).parent / "sources/dkms.toml").read_text())
DRIVERS = {one["name"]: one for one in NOTED["driver"]}
KNOWN = {issue.id: issue for issue in catalogue.known_issues()}


class Noted(Wordings):
    """A driver that prints one message."""

    def __init__(self, text: str) -> None:
        super().__init__("AMD")
        self.text = text

    def literals(self) -> Iterator[tuple[str, str]]:
        yield self.text, "noted"


@pytest.mark.parametrize("message", NOTED["message"], ids=lambda message: message["text"])
def test_what_amds_driver_prints_is_found_by_the_issues_that_it_belongs_to(message: dict[str, Any]) -> None:
    driver = Noted(message["text"])
    for id, line in message["lines"].items():
        found = [re.search(signature.pattern, line) for signature in KNOWN[id].signatures]
        assert any(one and driver.prints(line, *one.span()) for one in found), id


def test_every_wording_says_where_it_was_read() -> None:
    for driver in DRIVERS.values():
        commits = [one["commit"] for one in (driver, *driver.get("files", ())) if "commit" in one]
        assert commits
        assert all(re.fullmatch("[0-9a-f]{40}", commit) for commit in commits)
    for message in NOTED["message"]:
        for file in message["files"]:
            for driver in (DRIVERS[name] for name in file["drivers"]):
                assert file["path"] in [one["path"] for one in driver.get("files", (file,))], message["text"]


def test_no_text_stands_there_twice() -> None:
    texts = [message["text"] for message in NOTED["message"]]
    assert len(texts) == len({*texts})
