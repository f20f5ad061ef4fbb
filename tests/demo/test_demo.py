"""The guided tour is the first thing that a newcomer runs: it must hold, and say what it simulates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import too_wide
from tests.support.tools import HANG

REPOSITORY = Path(__file__).resolve().parents[2]
DEMO = REPOSITORY / "docs" / "demo"


def run(script: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script)],
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=HANG,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """It leaves nothing behind, neither in the checkout nor in its directory for temporary files."""
    temporary = tmp_path_factory.mktemp("tour")
    before = sorted(DEMO.rglob("*"))
    done = run(DEMO / "demo.py", TMPDIR=str(temporary), PYTHONDONTWRITEBYTECODE="1")
    assert list(temporary.iterdir()) == []
    assert sorted(DEMO.rglob("*")) == before
    return done


def test_the_demo_succeeds_and_shows_every_step(tour: subprocess.CompletedProcess[str]) -> None:
    assert tour.returncode == 0, tour.stdout + tour.stderr
    assert tour.stderr == ""
    expected = [
        "A SIMULATION",
        "$ rocmcfg status",
        "$ rocmcfg plan --profile gfx1201",
        "[checked: the plan left every file as it was]",
        "SIMULATED",
        "The next boot is a trial",
        "[checked: the argument is gone from this boot]",
        "Applied as transaction 2.",
        "Pending: 1 of 4 settings.",
        "[exit code 6:",
        "In effect: all 4 settings.",
        "[exit code 0:",
        "Rolled back: transaction 2.",
        "nothing is applied on this host",
        "[checked: all else is byte-identical]",
        "$ rocmcfg lint",
        "$ rocmcfg doctor",
        "Now your own host.",
        "sudo rocmcfg apply --profile auto --trial",
    ]
    at = 0
    for line in expected:
        assert line in tour.stdout[at:], line
        at = tour.stdout.index(line, at)


def test_no_step_is_longer_than_a_screen_or_two(tour: subprocess.CompletedProcess[str]) -> None:
    for step in tour.stdout.split("\n== "):
        assert step.count("\n") <= 60, step[:80]


def test_nothing_that_depends_on_where_the_checkout_is_gets_shown(
    tour: subprocess.CompletedProcess[str],
) -> None:
    assert str(REPOSITORY) not in tour.stdout
    assert "--root" not in tour.stdout


def test_the_demo_prints_no_colour_into_a_pipe_and_keeps_to_80_columns(
    tour: subprocess.CompletedProcess[str],
) -> None:
    assert "\x1b" not in tour.stdout
    assert too_wide(tour.stdout) == []


def test_the_demo_works_where_the_output_is_ascii() -> None:
    assert run(DEMO / "demo.py", PYTHONIOENCODING="ascii").returncode == 0


def test_the_demo_fails_when_a_step_does(tmp_path: Path) -> None:
    copy = tmp_path / "demo"
    shutil.copytree(DEMO, copy, symlinks=True)
    grub = copy / "sample-host/etc/default/grub"
    grub.write_text(grub.read_text() + "GRUB_CMDLINE_LINUX_DEFAULT+=' amdgpu.cwsr_enable=0'\n")
    done = run(copy / "demo.py")
    assert done.returncode == 1
    assert "demo: FAILED" in done.stderr


def test_a_terminal_that_knows_no_arrow_still_gets_the_plan() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rocmcfg",
            "plan",
            "--profile",
            "gfx1201",
            "--root",
            str(DEMO / "sample-host"),
        ],
        capture_output=True,
        encoding="latin-1",
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "amdgpu.cwsr_enable = 0  -> kernel command line" in done.stdout
