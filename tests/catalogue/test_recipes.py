"""CONTRIBUTING's recipes for data, followed to the letter in a copy: does a newcomer's test run pass?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ISSUE, PARAMETER = re.findall(r"```toml\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)
PROFILE = """schema = 1
summary = "Radeon RX 6800 and 6900: everything of the rdna2 profile"
gfx = ["gfx1030"]
extends = "rdna2"
"""


def run(copy: Path, *arguments: str) -> str:
    told = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=told, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_an_issue_a_parameter_and_a_profile_are_added_as_the_recipes_say(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for name in ("rocmcfg", "profiles", "docs", "packaging", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "vm", "ansible", "packages")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml"):
        shutil.copy(ROOT / name, copy / name)
    data = copy / "rocmcfg/knowledge/data"
    (data / "issues/a-new-one.toml").write_text(ISSUE)
    (copy / "profiles/gfx1030.toml").write_text(PROFILE)
    parameters = data / "parameters.toml"
    text = parameters.read_text()
    after = next(name for name in re.findall(r"^\[(amdgpu\.\w+)\]$", text, re.M) if name > "amdgpu.new_name")
    parameters.write_text(text.replace(f"[{after}]", f"{PARAMETER}\n[{after}]"))

    run(copy, "docs/generate.py", "docs/profiles.md", "docs/parameters.md", "docs/issues.md")
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not bulk", "tests/catalogue",
        "--deselect", "tests/catalogue/test_recipes.py")  # fmt: skip
    assert "RX 6800 and 6900" in (copy / "docs/profiles.md").read_text()

    def explained(kernel: str) -> str:
        return run(copy, "-m", "rocmcfg", "explain", "amdgpu.new_name", "--kernel", kernel)

    assert "7.3.4  does not exist" in explained("7.3.4")
    assert "7.4.1  int; default -1" in explained("7.4.1")
    known = run(copy, "-m", "rocmcfg", "explain", "amdgpu.runpm", "--kernel", "7.4.1")
    assert "7.4.1  int; default -1" in known, "a kernel read for one parameter says nothing of the others"
    valid = run(copy, "-m", "rocmcfg", "profile", "validate", "profiles/gfx1030.toml")
    assert valid.startswith("Valid:")
