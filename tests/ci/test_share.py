"""Which of the long tests a run of .ci/run takes: the real scripts, in a repository made for the test."""

from __future__ import annotations

import fnmatch
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.program import SOURCE
from tests.support.tools import require_tool

FOLDERS = ("vm", "loaders", "packages", "ansible", "crash")
TRIAL, LINT = "rocmcfg/trial/ends.py", "rocmcfg/lint/wording.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("share", SOURCE / ".ci/share.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["share"] = module
    spec.loader.exec_module(module)
    return module


class Repository:
    """A project of the same files as this one, as far as shares are concerned."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("run", "share.py"):
            (folder / ".ci").mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / ".ci" / name, folder / ".ci" / name)
        for path in (path for name in FOLDERS for path in (SOURCE / "tests" / name).glob("test_*.py")):
            self.write(str(path.relative_to(SOURCE)))

    def write(self, path: str, text: str = "") -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
        command = [require_tool("git", "git"), *who, *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def commit(self, *paths: str) -> None:
        for path in paths:
            self.write(path, (self.folder / path).read_text() + "x" if (self.folder / path).exists() else "")
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")

    def said(self, *options: str, folder: Path | None = None) -> str:
        run = [str((folder or self.folder) / ".ci/run"), "--dry-run", *options]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout


def why(said: str) -> dict[str, str]:
    return dict(re.findall(r"^# (.*), about \d+ minutes: (.*)$", said, re.M))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project")
    made.git("init", "--quiet")
    made.commit()
    return made


def test_what_the_change_touches_is_always_in_the_share(repository: Repository) -> None:
    for number in range(8):  # whatever the hash
        repository.commit(TRIAL if number % 2 else "packaging/arch/PKGBUILD")
        reasons = why(repository.said())
        wanted = {"guests with trials": TRIAL} if number % 2 else {"rpm and arch": "packaging/arch/PKGBUILD"}
        assert (
            reasons.items() >= {name: f"the change touches {path}" for name, path in wanted.items()}.items()
        )


def test_what_is_not_committed_yet_counts_too(repository: Repository) -> None:
    repository.commit(LINT)
    repository.write("tests/vm/test_harness.py", "x")
    assert why(repository.said())["guests"] == "the change touches tests/vm/test_harness.py"


def test_a_merge_is_all_that_it_brings_and_a_branch_all_that_it_has(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "branch")
    repository.commit(TRIAL)
    repository.commit(LINT)
    assert f"touches {TRIAL}" not in repository.said()
    repository.git("update-ref", "refs/remotes/origin/HEAD", "main")
    assert f"touches {TRIAL}" in repository.said(), "since the branch left origin's main branch"
    repository.git("update-ref", "-d", "refs/remotes/origin/HEAD")
    repository.git("checkout", "--quiet", "main")
    repository.commit("README.md")
    repository.git("merge", "--quiet", "--no-ff", "--message", "x", "branch")
    assert f"touches {TRIAL}" in repository.said(), "since the first parent of the merge"


def test_without_the_parent_or_without_git_the_hash_alone_chooses_and_it_says_so(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit(TRIAL)
    shallow = tmp_path / "shallow"
    repository.git("clone", "--quiet", "--depth", "1", repository.folder.as_uri(), str(shallow))
    said = repository.said(folder=shallow)
    assert "whose change is unknown" in said
    assert set(why(said).values()) == {"by the commit's hash"}
    shutil.rmtree(shallow / ".git")
    said = repository.said(folder=shallow)
    assert "a tree without git" in said
    assert set(why(said).values()) == {"by the commit's hash"}


def test_the_whole_is_every_file_once(repository: Repository, script: ModuleType) -> None:
    said = repository.said("--all")
    assert list(why(said)) == [part.name for part in script.PARTS]
    taken = re.findall(r"tests/\S+\.py", "".join(re.findall(r"^part .*", said, re.M)))
    assert sorted(taken) == sorted(
        str(path.relative_to(SOURCE))
        for name in FOLDERS
        for path in (SOURCE / "tests" / name).glob("test_*.py")
    )
    assert "left out" not in said


def test_every_part_has_its_turn_and_no_share_takes_too_long(script: ModuleType) -> None:
    minutes = {part.name: part.minutes for part in script.PARTS}
    shares = [script.share(number, []) for number in range(len(minutes))]
    assert {name for share in shares for name in share} == set(minutes)
    assert all(sum(minutes[name] for name in share) <= script.SHARE for share in shares)
    everything = [str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")]
    assert sum(minutes[name] for name in script.share(0, everything)) <= script.MOST


def test_there_is_a_file_for_each_path_that_a_part_guards(script: ModuleType) -> None:
    files = [
        str(path.relative_to(SOURCE))
        for top in ("docs", "profiles", "rocmcfg", "packaging", "tests")
        for path in (SOURCE / top).rglob("*")
    ]
    files += ["CONTRIBUTING.md", "README.md", "pyproject.toml", "requirements.lock"]
    for part in script.PARTS:
        for guard in part.guards:
            assert fnmatch.filter(files, guard), guard


def test_a_part_that_fails_does_not_keep_the_others_from_being_run(tmp_path: Path) -> None:
    """With a `make` that notes what it is asked for, and no right to install anything."""
    repository = Repository(tmp_path / "project")
    (tmp_path / "bin").mkdir()
    made = tmp_path / "bin/make"
    made.write_text('#!/bin/sh\necho "$1" >>../asked\n[ "$1" != test ]\n')
    made.chmod(0o755)
    (tmp_path / "bin/id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "bin/id").chmod(0o755)
    done = subprocess.run(
        [repository.folder / ".ci/run", "--all"],
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    asked = (tmp_path / "asked").read_text().split()
    assert asked[0] == "test"
    assert set(asked) == {"test", "coverage", "slow", "faults", "packages", "ansible", "loaders", "vm"}
    assert re.search(r"^make test: FAILED in \d+ s$", done.stdout, re.M)
    assert re.search(r"^guests: passed in \d+ s$", done.stdout, re.M)
