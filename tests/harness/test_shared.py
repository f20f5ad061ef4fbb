"""What tests share is made by one of many processes; what fetches tries again, and says why it fails."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import shared
from tests.support.tools import HANG

TESTS = Path(__file__).parents[1]
# FOLDER, LOG, NUMBER, ALL: the maker goes on when all of them are about to ask, so that they do it at once.
MAKER = """
import sys, time
from pathlib import Path
from tests.support import shared

folder, log, number, all = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def make(work):
    with log.open("a") as file:
        file.write(number + chr(10))
    (work / "one").write_text(number)
    while len(list(log.parent.glob("asks-*"))) < all:
        time.sleep(0.01)
    (work / "two").write_text(number)

(log.parent / f"asks-{number}").touch()
made = shared.made_once(folder, make)
assert (made / "one").read_text() == (made / "two").read_text()
"""
# FOLDER: fills half of it, says so, and never ends.
HALF = """
import sys
from pathlib import Path
from tests.support import shared

def make(work):
    (work / "half").touch()
    print("half", flush=True)
    sys.stdin.read()

shared.made_once(Path(sys.argv[1]), make)
"""
# FOLDER: uses it until it is told to end.
USER = """
import sys
from pathlib import Path
from tests.support import shared

shared.made_once(Path(sys.argv[1]), lambda _: None)
print("in use", flush=True)
sys.stdin.read()
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=TESTS.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_of_processes_that_want_the_same_at_once_one_makes_it(tmp_path: Path) -> None:
    folder, log = tmp_path / "cache/made", tmp_path / "log"
    started = [start(MAKER, folder, log, number, 6) for number in range(6)]
    ended = [(one.communicate(timeout=HANG), one.returncode) for one in started]
    assert [(said, code) for said, code in ended if code] == []
    assert len(log.read_text().split()) == 1
    assert sorted(path.name for path in folder.parent.iterdir()) == ["made", "made.lock"]


def test_a_maker_that_is_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with start(HALF, folder) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "half\n"
        killed.kill()
    assert not folder.exists()
    shared.made_once(folder, lambda work: (work / "whole").touch())
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["made", "made.lock", "whole"]


def test_a_maker_that_fails_leaves_nothing_and_the_next_one_tries(tmp_path: Path) -> None:
    folder = tmp_path / "made"

    def fails(work: Path) -> None:
        (work / "half").touch()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        shared.made_once(folder, fails)
    assert [path.name for path in tmp_path.iterdir()] == ["made.lock"]
    assert not (shared.made_once(folder, lambda _: None) / "half").exists()


def test_what_another_run_uses_is_not_cleared_away(tmp_path: Path) -> None:
    old, new = tmp_path / "it-old", tmp_path / "it-new"
    with start(USER, old) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "in use\n"
        shared.made_once(new, lambda _: None)
        shared.forget_older_than(new, "it-*", keep=1)
        assert old.is_dir()
        user.communicate(timeout=HANG)
    shared.forget_older_than(new, "it-*", keep=1)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["it-new"]


def test_a_fetch_that_fails_says_with_what_and_why(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    script = f"echo x >>{tries}; echo the reason; echo another >&2; exit 7"
    with pytest.raises(shared.NotFetched) as stop:
        shared.fetched(["sh", "-c", script], "taplo", pauses=(0, 0))
    assert str(stop.value) == (
        f"taplo could not be fetched, in 3 tries\nsh -c {script}\n"
        "exit status 7\nstderr: another\nstdout: the reason"
    )
    assert tries.read_text() == "x\n" * 3
    with pytest.raises(shared.NotFetched, match="exit status 3, and said nothing"):
        shared.fetched(["sh", "-c", "exit 3"], "taplo", pauses=())


def test_a_fetch_that_succeeds_at_last_has_succeeded(tmp_path: Path) -> None:
    tries, cleared = tmp_path / "tries", []
    script = f"echo x >>{tries}; test $(wc -l <{tries}) = 3 || exit 1; echo $TOLD"
    said = shared.fetched(
        ["sh", "-c", script], "it", pauses=(0, 0), env={"TOLD": "it"}, again=lambda: cleared.append(1)
    )
    assert (said, cleared) == ("it\n", [1, 1])


def test_what_a_newcomer_runs_fetches_nothing() -> None:
    """`make fast` needs the package index once, for .venv; what fetches more is in targets of its own."""
    fetching = r"import (\(.*)?fetched|shared\.fetched|vm import .*(tools|wheelhouse|package)\b"
    found = {
        path.relative_to(TESTS).parts[0]
        for path in TESTS.rglob("*.py")
        if path != Path(__file__) and re.search(fetching, path.read_text())
    }
    assert found == {"ansible", "loaders", "packages", "peers", "vm"}
    locks = {path for path in TESTS.rglob("*.py") if re.search(r"\.(flock|lockf)\(", path.read_text())}
    others = {
        "golden/diagnostics.py",  # a table that is written where somebody asks for it
        "host/test_package_manager.py",  # holds the locks of package managers, as they do
    }
    shared_by = {TESTS / name for name in ("support/shared.py", *others)}
    assert locks == shared_by, "what is shared is made by tests/support/shared.py"
