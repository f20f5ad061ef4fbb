"""Every case, played. `UPDATE_GOLDEN=1` writes what came of it in place of what was expected."""

from __future__ import annotations

import difflib
import os

import pytest

from rocmcfg.backends.boot import registry
from tests.golden import diagnostics

from .by_script import TakenBack, taken_back
from .case import CASES, EXPECTATIONS, STATES, Case, cases, play, read

pytestmark = pytest.mark.bulk
FOLDERS = cases()


@pytest.mark.parametrize("name", FOLDERS)
def test_case(name: str) -> None:
    case = read(FOLDERS[name])
    by_script: list[TakenBack] = []
    with diagnostics.seen() as made:
        played = play(case, lambda host: by_script.append(taken_back(case, host)))
    assert played.loader == case.folder.parent.name, "the folder is called as the loader of its hosts"
    assert played.stayed.keys() == case.stays.keys(), f"after the rollback: {played.stayed}"
    for undone in by_script:
        left = undone.differs(played.pristine)
        assert not undone.code, f"by undo.sh: {undone.said}"
        assert left.keys() <= case.stays.keys(), f"after undo.sh: {left}\n{undone.said}"
    if os.environ.get("UPDATE_GOLDEN"):
        _write(case, played.expectations)
        diagnostics.add(diagnostics.TABLE, made)
        return
    changed = _differences(case, played.expectations)
    assert not changed, "\n".join(["UPDATE_GOLDEN=1 takes this over:", *changed])
    new = made - diagnostics.recorded()
    assert not new, f"{diagnostics.TABLE.name} does not have these yet; UPDATE_GOLDEN=1 adds them"


def _differences(case: Case, found: dict[str, str]) -> list[str]:
    """What is missing, and what is left over of an older case, differs from nothing."""
    shown: list[str] = []
    for name in EXPECTATIONS:
        place = case.folder / name
        expected = place.read_text().splitlines() if place.exists() else []
        lines = found.get(name, "").splitlines()
        shown += difflib.unified_diff(expected, lines, f"{name}, expected", f"{name}, found", lineterm="")
        if place.exists() and name not in found:
            shown.append(f"{name} is left over")
    return shown


def _write(case: Case, found: dict[str, str]) -> None:
    for name in EXPECTATIONS:
        place = case.folder / name
        place.unlink(missing_ok=True)
        if name in found:
            place.write_text(found[name])


def test_every_loader_that_is_configured_has_cases() -> None:
    assert {backend.NAME for backend in registry.backends()} <= {name.partition("/")[0] for name in FOLDERS}


def test_every_backend_is_shown_in_every_state_and_each_of_its_ways() -> None:
    found: dict[tuple[str, str], set[str]] = {}
    for name, folder in FOLDERS.items():
        case = read(folder)
        assert case.state in ("", *STATES), name
        if case.state or case.way:
            found.setdefault((name.partition("/")[0], case.way), set()).add(case.state)
    assert {backend.NAME for backend in registry.backends()} == {loader for loader, _ in found}
    missing = {key: {*STATES} - shown for key, shown in found.items() if shown != {*STATES}}
    assert not missing


def test_a_folder_of_cases_holds_nothing_else() -> None:
    # byte code is Python's own, wherever it is written
    found = {path.name for path in CASES.glob("*/*") if path.parent.name != "__pycache__"}
    assert found - {path.name for path in FOLDERS.values()} <= {"trees", "tools", "__pycache__"}
