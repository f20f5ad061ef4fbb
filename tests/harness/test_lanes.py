"""How scenarios in guests are dealt out to workers (tests/vm/lanes.py): with real workers, without guests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.tools import HANG
from tests.vm.lanes import balanced

REPOSITORY = Path(__file__).parents[2]


def test_the_longest_go_first_to_who_has_least() -> None:
    assert balanced({"a": 1, "long": 5, "b": 2, "c": 2}, 2) == {"long": 0, "b": 1, "c": 1, "a": 1}


CONFTEST = """
from pathlib import Path
from tests.vm import lanes

def pytest_xdist_make_scheduler(config, log):
    return lanes.Lanes(config, log)

def pytest_testnodedown(node, error):
    Path("a-worker-is-done").touch()
"""
TESTS = """
import time
from pathlib import Path

def test_first_of_lane_0(): pass

def test_only_one_of_lane_1():
    while not Path("a-worker-is-done").exists():
        time.sleep(0.02)

def test_second_of_lane_0(): pass
"""


def test_a_lane_goes_on_after_another_worker_is_done(tmp_path: Path) -> None:
    """A worker that is done leaves; the tests of the others must stay theirs (they had a KeyError)."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_three.py").write_text(TESTS)
    places = ("--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "its"), str(tmp_path))
    options = ("-n", "2", "-p", "no:cacheprovider", *places)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=HANG,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert "3 passed" in run.stdout
