"""The page of a fleet in a real browser: what it shows, that it can be used without a mouse, and that nothing
of a host runs in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.fleet import make
from tests.fleet.hosts import document, put, status, verify
from tests.fleet.test_documents import HOSTILE
from tests.support.browser import Browser, browser
from tests.support.program import rocmcfg

# Each text with its colour and that of the ground on which it stands.
COLOURS = """
[...document.querySelectorAll('.dim, .state, .open, .tile, td, th, #status, button:enabled')].map(one => {
  const colour = (of) => getComputedStyle(of).backgroundColor;
  let ground = one;
  while (ground && colour(ground) === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
  return [one.className || one.tagName, getComputedStyle(one).color, ground ? colour(ground) : ''];
})
"""
MOST = 8_000_000 / 10_000  # bytes a host


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


def written(folder: Path, *options: str | Path) -> Path:
    page = folder.parent / f"{folder.name}.html"
    done = rocmcfg("fleet", folder, "--html", page, *options)
    assert done.code == 0, done.err
    return page


def opened(window: Browser, page: Path, width: int = 1400) -> Browser:
    window.messages.clear()
    window.requests.clear()
    window.look(width)
    window.open(page.as_uri())
    return window


def shown(window: Browser) -> list[str]:
    names: list[str] = window.run("[...document.querySelectorAll('#body .open')].map(one => one.textContent)")
    return names


def search(window: Browser, text: str) -> list[str]:
    window.run("document.getElementById('search').focus(); document.getElementById('search').select()")
    window.type(text)
    return shown(window)


def test_hosts_are_found_sorted_and_opened_by_keyboard_alone(tmp_path: Path, window: Browser) -> None:
    for number in (1, 9, 10):
        put(tmp_path / f"all/node{number}.json", status())
    put(tmp_path / "all/node2.verify.json", verify("differences", "1"))
    put(tmp_path / "all/node2.status.json", status(kernel="6.8.0-90-generic"))
    page = opened(window, written(tmp_path / "all"))
    assert shown(page) == ["node2", "node1", "node9", "node10"]  # the worst first, then by name
    page.press("/", text="/")
    page.type("6.8")
    assert shown(page) == ["node2"]
    assert "1 of 4 hosts" in page.run("document.getElementById('status').textContent")
    for _ in range(9):  # the buttons, and the heads of the columns
        page.press("Tab", 9)
    assert page.run("document.activeElement.textContent") == "node2"
    page.press("Enter", 13, "\r")
    assert "amdgpu.cwsr_enable: drift, is 1, not 0" in page.run(
        "document.querySelector('.more-of').textContent"
    )
    page.press("Enter", 13, "\r")
    assert page.run("document.querySelector('.more-of')") is None
    assert page.messages == []


def test_a_screen_reader_gets_a_table_with_names_and_states(tmp_path: Path, window: Browser) -> None:
    put(tmp_path / "all/node1.json", verify("pending", "1"))
    for width in (1400, 360):  # also where the rows are cards
        nodes = opened(window, written(tmp_path / "all"), width).accessible()
        for wanted in (
            ("heading", "Hosts"),
            ("searchbox", "Search /"),
            ("table", "Hosts"),
            ("rowheader", "node1"),
            ("button", "node1"),
        ):
            assert wanted in nodes, nodes
        assert "columnheader" in {role for role, _ in nodes}
        assert any(role == "cell" and "pending" in name for role, name in nodes)
        assert any(role == "status" for role, _ in nodes)


def test_a_figure_shows_only_its_hosts(tmp_path: Path, window: Browser) -> None:
    put(tmp_path / "all/node1.json", verify("pending", "1"))
    put(tmp_path / "all/node2.json", verify())
    put(tmp_path / "all/node3.json", document("doctor"))
    page = opened(window, written(tmp_path / "all"))
    tiles = page.run("[...document.querySelectorAll('.tile')].map(one => one.textContent)")
    assert tiles == ["1unknown", "1pending", "1in effect", "1faults in the logs"]
    page.run("document.querySelectorAll('.tile')[3].click()")
    assert shown(page) == ["node3"]
    assert page.run("document.querySelectorAll('.tile')[3].getAttribute('aria-pressed')") == "true"
    page.run("document.getElementById('reset').click()")
    assert len(shown(page)) == 3


def test_a_value_that_is_chosen_by_keyboard_keeps_the_focus(tmp_path: Path, window: Browser) -> None:
    put(tmp_path / "all/node1.json", verify())
    put(tmp_path / "all/node2.json", verify() | {"profiles": ["other"]})
    page = opened(window, written(tmp_path / "all"))
    page.run("[...document.querySelectorAll('.value')].find(one => one.textContent === 'other1').focus()")
    page.press("Enter", 13, "\r")
    assert shown(page) == ["node2"]
    assert page.run("document.activeElement.textContent") == "other1"
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_an_address_leads_to_the_same_selection_again(tmp_path: Path, window: Browser) -> None:
    put(tmp_path / "all/node1.json", verify("pending", "1"))
    put(tmp_path / "all/node2.json", verify())
    page = opened(window, written(tmp_path / "all"))
    page.run("document.querySelector('.tile').click()")
    address = page.run("location.href")
    page.open("about:blank?")
    page.open(address)
    assert shown(page) == ["node1"]


def test_nothing_of_a_host_runs_and_nothing_is_fetched(tmp_path: Path, window: Browser) -> None:
    for number, text in enumerate(HOSTILE.values()):
        checks = [{**verify()["checks"][0], "name": text, "desired": text, "status": "drift"}]
        fault = {
            **document("doctor")["faults"][0],
            "id": text,
            "title": text,
            "step": f"<img src=x onerror=alert(1)>{text}",
        }
        put(
            tmp_path / f"all/{number}.json",
            verify(host=text) | {"status": "differences", "checks": checks, "profiles": [text]},
            document("doctor", host=text, faults=[fault]),
        )
    (tmp_path / "all/<img src=x onerror=alert(1)>.json").write_text("{")
    page = opened(window, written(tmp_path / "all", "--since", tmp_path / "all"))
    page.run("document.querySelectorAll('#body .open').forEach(one => one.click())")
    assert page.messages == []
    assert [request for request in page.requests if not request.startswith(("file:", "data:"))] == []
    assert page.run("document.querySelectorAll('img, iframe, object, a:not(.skip)').length") == 0
    assert "__proto__" in shown(page)
    assert page.run("({}).polluted") is None
    page.run("document.getElementById('reset')")
    assert search(page, "__proto__") == ["__proto__"]


def test_the_policy_refuses_a_script_that_is_not_the_page_s(tmp_path: Path, window: Browser) -> None:
    put(tmp_path / "all/node1.json", verify())
    path = written(tmp_path / "all")
    path.write_text(path.read_text().replace("<footer>", "<script>document.title='run'</script><footer>"))
    page = opened(window, path)
    assert page.run("document.title") == "Fleet: 1 host"
    assert any("Content Security Policy" in message for message in page.messages)


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_is_cut_off_or_leaves_the_window(tmp_path: Path, window: Browser, width: int) -> None:
    put(
        tmp_path / f"all/{'x' * 200}.json",
        verify("differences", "1"),
        document("doctor"),
        status(newest="6.19.0"),
    )
    put(tmp_path / "all/bad.json")
    page = opened(window, written(tmp_path / "all", "--since", tmp_path / "all"), width)
    page.run("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.run("document.querySelector('.open').click()")
    assert page.run("document.documentElement.scrollWidth") <= width


def test_texts_can_be_read_on_light_and_on_dark_ground(tmp_path: Path, window: Browser) -> None:
    """WCAG's contrast of 4.5 for text."""
    for number, state in enumerate(("in_effect", "pending", "differences")):
        put(tmp_path / f"all/node{number}.json", verify(state, "1"))
    page = opened(window, written(tmp_path / "all"))
    for dark in (False, True):
        page.look(1400, dark=dark)
        pairs = page.run(COLOURS)
        assert pairs
        for what, text, ground in pairs:
            assert _contrast(text, ground) >= 4.5, (what, text, ground, dark)


def _contrast(one: str, other: str) -> float:
    lights = sorted(_light([int(n) for n in re.findall(r"\d+", text)[:3]]) for text in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _light(colour: list[int]) -> float:
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_a_large_fleet_stays_small_and_is_paged(tmp_path: Path, window: Browser) -> None:
    """`make bench` measures 10,000 hosts, and how long a browser takes for them."""
    make(tmp_path / "old", 500, seed=2)
    make(tmp_path / "all", 500)
    path = written(tmp_path / "all", "--since", tmp_path / "old")
    assert path.stat().st_size < 500 * MOST
    page = opened(window, path)
    assert len(shown(page)) == 100
    page.run("document.getElementById('next').click()")
    assert page.run("document.getElementById('place').textContent") == "Page 2 of 5"
    assert len(search(page, "node00321")) == 1


def test_without_a_script_the_figures_are_there(tmp_path: Path) -> None:
    put(tmp_path / "all/node1.json", verify("pending", "1"), document("doctor"))
    html = written(tmp_path / "all").read_text()
    outside = re.sub(r"<script.*?</script>", "", html, flags=re.S)
    assert "<b>1</b>pending" in outside
    assert "AMD-401" in outside
    data: dict[str, Any] = json.loads(re.findall(r'id="data">(.*?)</script>', html)[0])
    assert data["hosts"][0][0] == "node1"
