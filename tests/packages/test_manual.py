"""The manual as a site: built without a warning, whole without a network, searched and read."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.browser import Browser, browser
from tests.support.program import SOURCE
from tests.support.shared import cache, fetched, made_once

SITE = SOURCE / "docs/site"
WIDTHS = (390, 768, 1280)
TEXT = 14  # pixels, in the pictures as they are
PAGES = ("index", "tutorial/from-a-crash-to-a-fix", "how-to/rescue-shell", "reference/profiles", "design")


@pytest.fixture(scope="module")
def builder() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SITE)
        yield importlib.import_module("manual")


@pytest.fixture(scope="module")
def python(builder: ModuleType) -> Path:
    """Return the Python of an environment with Sphinx and the theme."""

    def make(work: Path) -> None:
        fetched([sys.executable, SITE / "manual.py", "--environment", work], "Sphinx")

    return made_once(cache("packages") / builder.key(), make) / "bin/python"


@pytest.fixture(scope="module")
def manual(builder: ModuleType, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual") / "site"
    assert builder.build(python, SITE.parent, folder) == 0
    return folder


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("how-to/fleet.md", "\nSee [this](no-such-page.md).\n"),
        ("how-to/fleet.md", "\nSee [this](gate.md#no-such-heading).\n"),
        ("how-to/forgotten.md", "# A page without a link in the index\n"),
    ],
    ids=["page", "heading", "index"],
)
def test_a_link_that_leads_nowhere_fails_the_build(
    python: Path, page: str, text: str, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(SITE.parent, docs, ignore=shutil.ignore_patterns("reference", "demo", "decisions"))
    shutil.copy(SOURCE / "pyproject.toml", tmp_path)
    (docs / "reference").mkdir()
    before = _warnings(python, docs, tmp_path)
    with (docs / page).open("a") as file:
        file.write(text)
    assert _warnings(python, docs, tmp_path) - before


def _warnings(python: Path, docs: Path, folder: Path) -> set[str]:
    command: list[str | Path] = [
        python,
        "-m",
        "sphinx",
        "-nq",
        "-c",
        docs / "site",
        "-d",
        folder / "trees",
        "-E",
        docs,
        folder / "out",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {re.sub(r":\d+:", ":", line) for line in done.stderr.splitlines()}


def test_every_page_is_there_and_nothing_comes_from_a_network(manual: Path) -> None:
    pages = {path.relative_to(SITE.parent).with_suffix("") for path in SITE.parent.rglob("*.md")}
    pages -= {page for page in pages if page.parts[0] in ("demo", "generators", "pictures", "site")}
    assert pages <= {path.relative_to(manual).with_suffix("") for path in manual.rglob("*.html")}
    for path in manual.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="([^"]*)"', path.read_text())
        assert loaded
        assert not [address for address in loaded if re.match(r"(?:https?:)?//", address)], path.name


def test_it_is_searched_from_a_disk(manual: Path, window: Browser) -> None:
    window.look(1280)
    window.open(f"file://{manual}/index.html")
    window.run("document.querySelector('input[name=q]').focus()")
    window.type("ppfeaturemask")
    window.load(lambda: window.press("Enter", 13, "\r"))
    results = window.run(
        """new Promise(done => {
            const look = () => {
                const items = [...document.querySelectorAll('#search-results li a')].map(a => a.textContent);
                items.length > 3 ? done(items) : setTimeout(look, 50);
            };
            look();
        })"""
    )
    assert any("ppfeaturemask" in text for text in results)
    assert not window.messages
    assert not [address for address in window.requests if address.startswith("http")]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_no_page_scrolls_sideways(manual: Path, window: Browser, page: str, width: int) -> None:
    window.look(width)
    window.open(f"file://{manual}/{page}.html")
    assert window.run("document.documentElement.scrollWidth <= innerWidth")
    assert window.run("[...document.images].every(image => image.naturalWidth > 0)")


def test_the_text_of_a_picture_can_be_read_on_a_phone(manual: Path, window: Browser) -> None:
    window.look(min(WIDTHS))
    window.open(f"file://{manual}/index.html")
    scales = window.run("[...document.images].map(image => image.width / image.naturalWidth)")
    assert len(scales) == 2
    assert min(scales) * TEXT >= 10
