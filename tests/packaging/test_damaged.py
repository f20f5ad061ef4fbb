"""An installation that lost a file is told to be renewed, in one error and without a traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("cli/apply.py", ("plan",)),
        ("change/planning/plan.py", ("plan",)),
        ("workflow/verifying.py", ("verify",)),
        ("state/verify.py", ("verify",)),
        ("change/transaction/transaction.py", ("apply", "--yes")),
    ],
)
@pytest.mark.parametrize("harm", ["missing", "empty", "half"])
def test_a_damaged_file_of_the_program(
    tmp_path: Path, file: str, command: tuple[str, ...], harm: str
) -> None:
    shutil.copytree(SOURCE / "rocmcfg", tmp_path / "rocmcfg", ignore=shutil.ignore_patterns("__pycache__"))
    place = tmp_path / "rocmcfg" / file
    text = place.read_text()
    place.unlink()
    if harm != "missing":
        place.write_text("" if harm == "empty" else text[: text.index("def ") + 5])
    settings = () if command == ("verify",) else ("--set", "amdgpu.runpm=0")
    root = debian_grub_host(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "rocmcfg", *command, *settings, "--root", str(root), "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (said,) = json.loads(done.stdout)["diagnostics"]
    assert "reinstall rocmcfg" in said["hint"]
    assert [d["id"] for d in json.loads(done.stdout)["diagnostics"]] == ["RC9000"], done.stdout
