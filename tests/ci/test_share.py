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
from tests.support.tools import PACKAGES, require_tool, summary_of_skips

FOLDERS = ("vm", "loaders", "packages", "ansible", "crash", "peers")
TRIAL, LINT = "rocmcfg/change/trial/ends.py", "rocmcfg/advice/lint/wording.py"


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
        for name in ("run", "share.py", "fresh"):
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


def first(said: str) -> list[str]:
    """The parts that come before all others."""
    return re.findall(r"^part '(.*?)'", said, re.M)[:2]


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
        part, path = (
            ("guests with trials", TRIAL) if number % 2 else ("rpm and arch", "packaging/arch/PKGBUILD")
        )
        # of a long one at least a turn
        told = [why for name, why in reasons.items() if name.split(" (")[0] == part]
        assert told == [f"the change touches {path}"]


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
    turns = [turn for part in script.PARTS for turn in script.turns(part)]
    shares = [script.share(number, []) for number in range(len(turns))]
    assert {turn for share in shares for turn in share} == set(turns)
    assert all(0 < sum(turn.minutes for turn in share) <= script.SHARE for share in shares)
    everything = [str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")]
    assert sum(turn.minutes for turn in script.share(0, everything)) <= script.MOST
    always = script.INSTALLING + script.NEWCOMER + script.AS_ROOT
    assert 2 * (always + script.SHARE) <= 45, "minutes on a machine half as fast"


def test_a_newcomers_machine_comes_first_at_every_run(repository: Repository, script: ModuleType) -> None:
    seen = set()
    for _ in range(12):
        repository.commit()
        newcomer, test = first(repository.said())
        assert test == "make test"
        seen.add(newcomer)
    assert seen == {f"newcomer on {suite}" for suite in script.NEWCOMERS}
    said = re.findall(r"^part '(newcomer on .*?)'", repository.said("--all"), re.M)
    assert said == [f"newcomer on {suite}" for suite in ("trixie", "bookworm", "noble")]


def test_turns_take_each_test_once(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(7))\ndef test(n): pass\n"
    )
    taken: list[str] = []
    for number in (1, 2, 3):
        told = pytest_in(tmp_path, "--turn", f"{number}/3", "-v")
        taken += re.findall(r"test\[\d\] PASSED", told)
    assert sorted(taken) == [f"test[{number}] PASSED" for number in range(7)]


def pytest_in(folder: Path, *options: str) -> str:
    """What pytest prints with this project's conftest in a folder of tests."""
    shutil.copy(SOURCE / "tests/conftest.py", folder / "conftest.py")
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={folder}", str(folder)]
    run += options
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(SOURCE)}
    return subprocess.run(run, env=env, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_what_was_skipped_is_told_in_a_line_for_each_kind(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\nfrom tests.support.tools import require_root, require_tool\n"
        "def test_a(): require_tool('no-such-shell', 'zsh')\n"
        "def test_b(): require_tool('no-such-program', 'cpio')\n"
        "def test_c(): require_tool('no-such-program', 'cpio')\n"
        "@pytest.mark.skipif(True, reason='only root can do that')\ndef test_d(): pass\n"
        "def test_e(): pytest.skip('it rains')\n"
    )
    lines = pytest_in(tmp_path).splitlines()[-4:-1]
    assert lines[0].startswith("3 tests were skipped for missing programs; to run them: ")
    assert {"cpio", "zsh"} <= set(lines[0].split())
    assert lines[1:] == [
        "1 test was skipped for want of root; to run them: sudo make fast",
        "1 test was skipped for other reasons, which `pytest -rs` tells",
    ]


@pytest.mark.parametrize(
    ("system", "command"),
    [
        ("ID=debian\n", "sudo apt install grub-common openssh-client"),
        ('NAME=x\nID=linuxmint\nID_LIKE="ubuntu debian"\n', "sudo apt install grub-common openssh-client"),
        ("ID=fedora\n", "sudo dnf install grub2-tools openssh"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "sudo dnf install grub2-tools openssh"),
        ("ID=arch\n", "sudo pacman -S --needed grub openssh"),
        ("ID=nixos\n", "install what Debian calls grub-common openssh-client"),
        ("", "install what Debian calls grub-common openssh-client"),
    ],
)
def test_packages_are_called_as_the_distribution_calls_them(system: str, command: str) -> None:
    reasons = [f"x is missing: apt-get install {name}" for name in ("openssh-client", "grub-common")]
    (line,) = summary_of_skips(reasons, system)
    assert line == f"2 tests were skipped for missing programs; to run them: {command}"


def test_every_package_that_a_test_asks_for_is_installed_by_ci() -> None:
    asked = set()
    for path in (SOURCE / "tests").rglob("*.py"):
        pattern = r"require_(?:tool|library)\(\s*[^()]*?,\s*(?:package=)?\"([\w.-]+)\"\s*\)"
        asked |= set(re.findall(pattern, path.read_text())) if path.name != "test_share.py" else set()
    # by the system, or named in .ci/run
    brought = {"apt", "dpkg", "git", "grep", "util-linux", "dpkg-dev", "mmdebstrap"}
    assert asked - brought <= set(PACKAGES)


def test_there_is_a_file_for_each_path_that_a_part_guards(script: ModuleType) -> None:
    files = [
        str(path.relative_to(SOURCE))
        for top in ("docs", "profiles", "rocmcfg", "packaging", "tests")
        for path in (SOURCE / top).rglob("*")
    ]
    hidden = (path for top in (".ci", ".github") for path in (SOURCE / top).rglob("*"))
    files += [str(path.relative_to(SOURCE)) for path in (*hidden, *SOURCE.glob("*"), *SOURCE.glob(".*"))]
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
    assert re.search(
        r"^trixie is left out: a minimal system takes root and mmdebstrap to make$", done.stdout, re.M
    )
    assert re.search(r"^newcomer on trixie: left out in \d+ s$", done.stdout, re.M)
    assert set(asked) == {"test", "coverage", "slow", *(set(FOLDERS) - {"crash"}), "faults"}
    assert re.search(r"^make test: FAILED in \d+ s$", done.stdout, re.M)
    assert re.search(r"^guests: passed in \d+ s$", done.stdout, re.M)


def test_both_ends_of_each_range_are_named_with_tools_for_every_python() -> None:
    run = [sys.executable, str(SOURCE / ".ci/libraries.py")]
    oldest, newest = (
        subprocess.run([*run, end], capture_output=True, text=True, check=True).stdout.splitlines()
        for end in ("oldest", "newest")
    )
    named = dict(line.split("==") for line in oldest if line.startswith(("typer", "pydantic", "sh=")))
    ranges = (SOURCE / "pyproject.toml").read_text()
    assert set(named) == {"typer", "pydantic", "sh"}
    assert all(f'"{name}>={version},<' in ranges for name, version in named.items())
    assert "distro>=1.9" in newest
    assert any(re.fullmatch(r"hypothesis==\S+ ; python_full_version < '3.11'", line) for line in oldest)
