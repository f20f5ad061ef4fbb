"""What GitHub and pre-commit run, here and as the manual shows it: read by the linter of workflows,
and run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import rocmcfg
from tests.support import shared
from tests.support.tools import HANG, require_tool

REPOSITORY = Path(__file__).parents[2]
WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
REQUIREMENTS = Path(__file__).parent / "workflows/requirements.txt"
PAGE = REPOSITORY / "docs/how-to/check-a-repository.md"


def of_the_manual(key: str) -> dict[Any, Any]:
    """Return the configuration with this key that the page shows."""
    texts = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    (configuration,) = (loaded for loaded in map(yaml.safe_load, texts) if key in loaded)
    assert isinstance(configuration, dict)
    return configuration


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


def test_the_hook_of_the_manual_stops_a_commit_with_a_mistake(programs: Path, tmp_path: Path) -> None:
    """The configuration of the page, in somebody's repository; only the address is that of this checkout."""
    git = require_tool("git", "git")
    site, copy = tmp_path / "site", tmp_path / "rocmcfg"
    subprocess.run([git, "clone", "--quiet", str(REPOSITORY), str(copy)], check=True)
    subprocess.run([git, "-C", str(copy), "tag", f"v{rocmcfg.__version__}"], check=True)
    site.mkdir()
    (site / ".pre-commit-config.yaml").write_text(
        yaml.safe_dump(of_the_manual("repos")).replace(rocmcfg.__url__, str(copy))
    )
    (site / "good.sh").write_text("export HIP_VISIBLE_DEVICES=0\n")
    (site / "bad.sh").write_text('grubby --update-kernel=ALL --args="amdgpu.gfxoff=0"\n')
    (site / "notes.txt").write_text("nothing about GPUs\n")
    own = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    own = {name: value for name, value in own.items() if name != "PYTHONPATH"}
    subprocess.run([git, "init", "--quiet"], cwd=site, check=True)
    subprocess.run([git, "add", "."], cwd=site, check=True)

    def ran(*files: str) -> subprocess.CompletedProcess[str]:
        command = [str(programs / "pre-commit"), "run", "rocmcfg-lint", "--verbose", *files]
        return subprocess.run(
            command, cwd=site, env=own, capture_output=True, text=True, timeout=HANG, check=False
        )

    fine = ran("--files", "good.sh", "notes.txt")
    assert fine.returncode == 0, fine.stdout + fine.stderr
    checked = ran("--all-files")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "bad.sh:1:36: warning: unknown" in checked.stdout


def test_the_workflow_of_the_manual_is_sound(programs: Path, tmp_path: Path) -> None:
    shellcheck = require_tool("shellcheck", "shellcheck")
    workflow = tmp_path / "workflow.yml"
    workflow.write_text(yaml.safe_dump(of_the_manual("jobs"), sort_keys=False).replace("true:\n", "on:\n", 1))
    command = [str(programs / "actionlint"), "-shellcheck", shellcheck, str(workflow)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("line", "code", "count"),
    [("export HIP_VISIBLE_DEVICES=0", 0, 0), ("options amdgpu gfxoff=0", 0, 1), (None, 1, None)],
    ids=["clean", "mistake", "missing"],
)
def test_the_step_of_the_manual_goes_on_with_findings_and_stops_with_an_error(
    line: str | None, code: int, count: int | None, tmp_path: Path
) -> None:
    """As GitHub runs it, by `bash -e`; pipx is a stub here, test_without_root has the real one."""
    steps = of_the_manual("jobs")["jobs"]["lint"]["steps"]
    (script,) = (step["run"] for step in steps if "run" in step)
    programs, site = tmp_path / "bin", tmp_path / "site"
    programs.mkdir()
    (site / "scripts").mkdir(parents=True)
    (site / "Dockerfile").write_text("FROM rocm/pytorch\n")
    if line is not None:
        (site / "scripts/host.sh").write_text(f"{line}\n")
    for name, body in (
        ("pipx", f'echo "$*" >{tmp_path}/installed'),
        ("rocmcfg", f'exec {sys.executable} -m rocmcfg "$@"'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    own = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=site, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    installed = (tmp_path / "installed").read_text()
    assert installed == f"install git+{rocmcfg.__url__}@v{rocmcfg.__version__}\n"
    if count is not None:
        log = json.loads((site / "rocmcfg.sarif").read_text())
        assert len(log["runs"][0]["results"]) == count
    upload = next(step for step in steps if "upload-sarif" in step.get("uses", ""))
    assert upload["with"]["sarif_file"] == "rocmcfg.sarif"
