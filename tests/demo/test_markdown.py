"""Every page in Markdown, rendered as CommonMark with tables, means what it looks like in its source."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

REPOSITORY = Path(__file__).parents[2]
_LIST_ITEM = re.compile(r"\s*(?:\d{1,3}[.)]|[-*+])\s+\S")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
OF_OTHERS = "tests/lint/data/"  # files as people write them


def pages() -> list[str]:
    listed = subprocess.run(
        [
            "git",
            "-C",
            str(REPOSITORY),
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "*.md",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    names = (name for name in listed.stdout.split("\0") if name and not name.startswith(OF_OTHERS))
    return sorted(name for name in names if (REPOSITORY / name).exists())


def rendered(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def faults(text: str) -> Iterator[str]:
    """Yield what GitHub would show otherwise than the source means."""
    lines = text.splitlines()
    for token in rendered(text):
        first = (token.map or [0])[0] + 1
        if token.type == "ordered_list_open":
            begins = token.attrGet("start") or 1
            if begins != 1:
                yield f"line {first}: a list that begins with {begins}"
        if token.type == "inline":
            yield from _run_on(token, lines, first)


def _run_on(token: Token, lines: Sequence[str], first: int) -> Iterator[str]:
    """Yield the lines of a paragraph that look like an item, a row or a heading of their own."""
    start, end = token.map or (0, 0)
    for number, line in enumerate(lines[start + 1 : end], start + 2):
        if _LIST_ITEM.match(line) or _TABLE_ROW.match(line) or re.match(r"#{1,6} ", line):
            yield f"line {number}: runs on in the paragraph that begins at line {first}: {line.strip()[:60]}"
    if token.level == 1 and _TABLE_ROW.match(lines[start]):
        yield f"line {first}: a row outside of a table"


@pytest.mark.parametrize("name", pages())
def test_a_page_is_rendered_as_it_is_written(name: str) -> None:
    assert list(faults((REPOSITORY / name).read_text())) == []


def test_a_comment_that_ends_a_list_is_a_fault() -> None:
    broken = "1. One\n2. Two:\n<!-- generated -->\n   `a`\n<!-- end -->\n   More.\n3. Three\n4. Four\n"
    assert list(faults(broken)) != []
    whole = (
        "1. One\n2. Two:\n\n   <!-- generated -->\n   `a`\n   <!-- end -->\n\n   More.\n3. Three\n4. Four\n"
    )
    assert list(faults(whole)) == []


def test_the_rescue_list_of_the_readme_is_one_list() -> None:
    text = (
        (REPOSITORY / "README.md")
        .read_text()
        .partition("## The screen stays black\n")[2]
        .partition("\n## ")[0]
    )
    tokens = rendered(text)
    assert [token.type for token in tokens if token.level == 0] == ["ordered_list_open", "ordered_list_close"]
    assert sum(token.type == "list_item_open" for token in tokens) == 5
