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
        '$ rocmcfg status --root "$ROOT"',
        "Next: rocmcfg plan --profile gfx1201",
        '$ rocmcfg plan --profile gfx1201 --root "$ROOT"',
        "[checked: the plan left every file as it was]",
        "Applied as transaction 1.",
        "Pending: 1 of 4 settings.",
        "[exit code 6:",
        "THIS IS A SIMULATION",
        "In effect: all 4 settings.",
        "[exit code 0:",
        "Undone: transaction 1.",
        "nothing is applied on this host",
        "[checked: all else is byte-identical]",
    ]
    at = 0
    for line in expected:
        assert line in tour.stdout[at:], line
        at = tour.stdout.index(line, at)


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
    assert "amdgpu.cwsr_enable = 0  ? kernel command line" in done.stdout
