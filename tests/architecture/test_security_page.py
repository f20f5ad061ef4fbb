"""The page on security claims nothing that no test holds."""

from __future__ import annotations

import re

import pytest

from tests.support.program import SOURCE

PAGE = (SOURCE / "docs/explanation/security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert re.search(rf"^def {name}\(", (SOURCE / file).read_text(), re.M)


def test_each_line_of_what_may_not_be_names_its_test() -> None:
    tables = [part for part in re.split(r"^## ", PAGE, flags=re.M) if "may not" in part.partition("\n")[0]]
    rows = [line for part in tables for line in part.splitlines() if line.startswith("| ")]
    claims = [row for row in rows if not row.endswith("| tests |")]
    assert len(claims) > 15
    assert [row for row in claims if "::test_" not in row] == []
    assert "docs/explanation/security.md" in (SOURCE / "SECURITY.md").read_text()
