"""What GitHub and pre-commit run: read by the linter of workflows, and pre-commit's hook as it is used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import shared
from tests.support.tools import HANG, require_tool

REPOSITORY = Path(__file__).parents[2]
WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
REQUIREMENTS = Path(__file__).parent / "workflows/requirements.txt"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """actionlint and pre-commit, by the versions and hashes of the requirements."""
    folder = tmp_path_factory.mktemp("programs")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = "--quiet --disable-pip-version-check install --no-deps --require-hashes -r"
    shared.fetched([folder / "bin/pip", *install.split(), REQUIREMENTS], "actionlint and pre-commit")
    return folder / "bin"


def test_actionlint_has_nothing_to_say(programs: Path) -> None:
    shellcheck = require_tool("shellcheck", "shellcheck")
    command = [str(programs / "actionlint"), "-shellcheck", shellcheck, *map(str, WORKFLOWS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_would_see_a_wrong_workflow(programs: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    text = next(path for path in WORKFLOWS if path.name == "release.yml").read_text()
    wrong.write_text(text.replace("needs: build\n", "needs: built\n").replace("mkdir upload", "cd $HOME/$X"))
    done = subprocess.run(
        [str(programs / "actionlint"), str(wrong)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert '"built"' in done.stdout
    assert "SC2086" in done.stdout


def test_every_action_of_others_is_pinned_by_its_commit() -> None:
    used = [line for path in WORKFLOWS for line in re.findall(r"uses: *(.*)", path.read_text())]
    assert used
    assert [line for line in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}  # v[\d.]+", line)] == []


def test_pre_commit_runs_lint_on_the_files_of_a_commit(programs: Path, tmp_path: Path) -> None:
    """As somebody uses it who names this repository in .pre-commit-config.yaml."""
    git = require_tool("git", "git")
    site, copy = tmp_path / "site", tmp_path / "rocmcfg"
    subprocess.run([git, "clone", "--quiet", str(REPOSITORY), str(copy)], check=True)
    site.mkdir()
    (site / "good.sh").write_text("export HIP_VISIBLE_DEVICES=0\n")
    (site / "bad.sh").write_text('grubby --update-kernel=ALL --args="amdgpu.gfxoff=0"\n')
    (site / "notes.txt").write_text("nothing about GPUs\n")
    command = [str(programs / "pre-commit"), "try-repo", str(copy), "rocmcfg-lint", "--verbose", "--files"]
    own = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    own = {name: value for name, value in own.items() if name != "PYTHONPATH"}
    subprocess.run([git, "init", "--quiet"], cwd=site, check=True)
    subprocess.run([git, "add", "."], cwd=site, check=True)

    def ran(*files: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *files], cwd=site, env=own, capture_output=True, text=True, timeout=HANG, check=False
        )

    fine = ran("good.sh", "notes.txt")
    assert fine.returncode == 0, fine.stdout + fine.stderr
    checked = ran("good.sh", "bad.sh", "notes.txt")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "bad.sh:1:36: warning: unknown" in checked.stdout
