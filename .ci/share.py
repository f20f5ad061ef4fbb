"""Prints what a run takes, and why, as commands for .ci/run.

First, at every run, a newcomer's machine: the README's two commands in a minimal system; then `make test` as
root with all programs. Then of the tests that need root, mirrors or guests what the change touches, and of
the rest as much as fits, beginning where the commit's hash says: some commits together run everything. All
of it takes about two and a half hours on two cores, and five on slow ones. A part that is longer than a
share has several turns, each with every second (or third) test of it.

* The change is all in which the files here differ from where their branch left the main branch of origin, or,
  on that branch itself, from the commit's first parent: of a merge, all that it brings.
* In a shallow clone that lacks the parent the change is unknown: the run takes its hash's share, and says so.
* Without git there is no hash: the run takes the share that begins at the first part, and says so.
"""

from __future__ import annotations

import argparse
import fnmatch
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
# Minutes on two cores that do nothing else. A slow machine takes twice as long: a SHARE ends there within 45
# with all that comes before it, and MOST, which a change of many parts asks for, within 75.
INSTALLING = 1
# One for the system (68 s measured), one for .venv and the demo (55 s), six for `make test`: which is
# supposed, not measured on idle cores; at a load of 6 to 20 `make test` took 16.
NEWCOMER = 8
AS_ROOT = 6
SHARE = 45 // 2 - INSTALLING - NEWCOMER - AS_ROOT
MOST = 75 // 2 - INSTALLING - NEWCOMER - AS_ROOT
# Debian 13 and 12; the commit's hash chooses. Ubuntu's LTS only with --all, where a mirror can be reached.
NEWCOMERS = ("trixie", "bookworm")
UBUNTU = "noble"


class Part(NamedTuple):
    name: str
    minutes: int  # in a fresh clone, with the systems, images and environments that it makes once
    target: str  # of make
    tests: tuple[str, ...]  # patterns of files; a file belongs to the first part that matches
    guards: tuple[str, ...]  # a change of such a path runs the part, and so does a change of its tests
    program: str = ""  # instead of make and its target


class Turn(NamedTuple):
    """A part, or the `number`th of `of` turns of it."""

    part: Part
    number: int = 1
    of: int = 1

    @property
    def name(self) -> str:
        return self.part.name if self.of == 1 else f"{self.part.name} ({self.number} of {self.of})"

    @property
    def minutes(self) -> int:
        """Each makes what they all need anew."""
        return self.part.minutes if self.of == 1 else -(-self.part.minutes // self.of) + 1

    @property
    def command(self) -> str:
        files = tests_of(self.part)
        words = [self.part.program or f"make {self.part.target}"]
        words += [shlex.quote(f"TESTS={' '.join(files)}")] if files else []
        words += [f"TURN={self.number}/{self.of}"] if self.of > 1 else []
        return " ".join(words)


# Of the libraries that pyproject.toml names: what passes with the locked ones.
_RANGES = ("pyproject.toml", "requirements.lock", ".ci/libraries.py", ".ci/fresh")
# Of the parts of tests/packages, minutes are the processor's time that their files took, measured at a load
# of 8 to 17 with what they make once at hand, and half a minute for each system or environment they make.
PARTS = (
    # Python 3.10 is Ubuntu 22.04's; sid has the newest that is packaged
    Part("oldest libraries", 7, "", (), _RANGES, ".ci/fresh jammy 'make fast LIBRARIES=oldest'"),
    Part("newest libraries", 7, "", (), _RANGES, ".ci/fresh sid 'make fast LIBRARIES=newest'"),
    Part("coverage", 5, "coverage", (), ("pyproject.toml",)),  # what `make test` runs, measured
    Part(
        "slow",
        4,
        "slow",
        (),
        (
            "README.md",
            "docs/*",
            "profiles/*",
            "rocmcfg/cli/*",
            "rocmcfg/files/*",
            "rocmcfg/initramfs/*",
            "rocmcfg/loaders/*",
            "rocmcfg/advice/*",
            "rocmcfg/change/planning/*",
            "rocmcfg/judging/*",
            "rocmcfg/knowledge/*",
            "tests/catalogue/*",
            "tests/cases/*",
            "tests/judging/*",
            "tests/recipes/*",
        ),
    ),
    Part(
        "faults",
        13,  # of which five, of every boot chain, are reckoned from a run at a load of 8
        "faults",
        ("tests/crash/test_*.py", "tests/cases/test_undo_sh.py"),
        (
            "tests/crash/*",
            "rocmcfg/host/*",
            "rocmcfg/records/*",
            "rocmcfg/change/transaction/*",
            "rocmcfg/workflow/*",
        ),
    ),
    Part(
        "rpm and arch",
        3,  # 1.2, a system, and libraries for three Pythons
        "packages",
        ("tests/packages/test_rpm*.py", "tests/packages/test_arch.py"),
        ("packaging/rpm/*", "packaging/arch/*"),
    ),
    Part(
        "manual",
        2,  # 0.5, and an environment with Sphinx
        "packages",
        ("tests/packages/test_manual.py",),
        ("docs/*", "rocmcfg/*/data/*"),
    ),
    Part(
        "release",
        4,  # 2.8 for two builds of everything, and the libraries
        "packages",
        ("tests/packages/test_release.py",),
        ("packaging/*", "pyproject.toml", "requirements*.lock"),
    ),
    Part(
        "installers",
        3,  # 1.1, a system, and three environments
        "packages",
        ("tests/packages/test_without_root.py", "tests/packages/test_workflows.py"),
        (
            ".github/*",
            ".pre-commit-hooks.yaml",
            "docs/how-to/check-a-repository.md",
            "pyproject.toml",
            "requirements.lock",
            "packaging/*.py",
        ),
    ),
    Part(
        "packages",
        10,  # 6.6, and seven systems
        "packages",
        ("tests/packages/test_*.py",),
        (
            "packaging/[!ar]*",
            "pyproject.toml",
            "requirements.lock",
            "rocmcfg/model/shape.py",
            "tests/packages/*",
        ),
    ),
    Part(
        "ansible-core",
        5,
        "ansible",
        ("tests/ansible/test_sanity.py", "tests/ansible/test_integration.py"),
        ("packaging/ansible/*",),
    ),
    Part("fleet", 12, "ansible", ("tests/ansible/test_*.py",), ("packaging/ansible/*", "tests/ansible/*")),
    Part(
        "loaders",
        6,
        "loaders",
        ("tests/loaders/test_*.py",),
        (
            "rocmcfg/loaders/*trial*",
            "rocmcfg/loaders/shared/one_shot.py",
            "rocmcfg/loaders/shared/loader_entries.py",
            "rocmcfg/loaders/uki/*",
            "rocmcfg/loaders/refind/__init__.py",
            "tests/loaders/*",
        ),
    ),
    Part(
        "peers",
        8,
        "peers",
        ("tests/peers/test_*.py",),
        (
            "rocmcfg/files/*",
            "rocmcfg/initramfs/*",
            "rocmcfg/languages/*",
            "rocmcfg/advice/lint/readers/*",
            "rocmcfg/model/kargs.py",
            "rocmcfg/state/values.py",
            "tests/peers/*",
        ),
    ),
    Part(
        "guests whose trial fails",
        15,
        "vm",
        (
            "tests/vm/test_trial_falls_back.py",
            "tests/vm/test_trial_power_cut.py",
            "tests/vm/test_trial_other_loaders.py",
        ),
        ("rocmcfg/*trial*", "rocmcfg/loaders/*", "tests/vm/*"),
    ),
    Part(
        "guests with trials",
        15,
        "vm",
        ("tests/vm/test_trial*.py",),
        ("rocmcfg/*trial*", "packaging/systemd/*", "tests/vm/*"),
    ),
    Part(
        "a guest that crashes",
        15,
        "vm",
        ("tests/vm/test_crashes.py",),
        ("rocmcfg/*crash*", "packaging/systemd/*", "packaging/udev/*", "tests/vm/*"),
    ),
    Part(
        "guests with chains",
        14,
        "vm",
        ("tests/vm/test_chains.py",),
        (
            "rocmcfg/loaders/shared/entry_options.py",
            "rocmcfg/loaders/shared/loader_entries.py",
            "rocmcfg/loaders/grub_bls/__init__.py",
            "rocmcfg/loaders/systemd_boot/__init__.py",
            "tests/vm/*",
        ),
    ),
    Part(
        "guests with entries",
        13,
        "vm",
        ("tests/vm/test_entries.py",),
        (
            "rocmcfg/loaders/shared/entry_options.py",
            "rocmcfg/loaders/shared/loader_entries.py",
            "rocmcfg/loaders/systemd_boot/__init__.py",
            "tests/vm/*",
        ),
    ),
    Part(
        "guests with dracut",
        15,
        "vm",
        ("tests/vm/test_dracut.py",),
        ("rocmcfg/loaders/uki/*", "rocmcfg/initramfs/*", "tests/vm/*"),
    ),
    Part(
        "guests with images",
        11,
        "vm",
        ("tests/vm/test_images.py",),
        ("rocmcfg/loaders/uki/*", "rocmcfg/initramfs/*", "tests/vm/*"),
    ),
    Part(
        "guests with Ansible",
        14,
        "vm",
        ("tests/vm/test_ansible.py",),
        ("packaging/ansible/roles/*", "tests/vm/playbook.py"),
    ),
    Part(
        "guests after a crash",
        12,
        "vm",
        (
            "tests/vm/test_crash_and_rescue.py",
            "tests/vm/test_grub_without_drop_ins.py",
            "tests/vm/test_systemd_boot.py",
        ),
        ("rocmcfg/change/transaction/*", "packaging/systemd/*", "packaging/undo.sh", "tests/vm/*"),
    ),
    Part(
        "guests",
        15,
        "vm",
        ("tests/vm/test_*.py",),
        ("rocmcfg/initramfs/*", "rocmcfg/loaders/*", "packaging/systemd/*", "tests/vm/*"),
    ),
)


def git(*arguments: str) -> str | None:
    """What git says; None where it, or what it was asked for, is not there."""
    try:
        done = subprocess.run(
            # else git does not look at the checkout of another user
            ["git", "-c", f"safe.directory={REPOSITORY}", *arguments],
            cwd=REPOSITORY, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def changed(commit: str) -> tuple[str, list[str]] | None:
    """What the change is compared with, and the paths in which it differs."""
    base = git("merge-base", "HEAD", "origin/HEAD")
    if base is None or base == commit:
        base = git("rev-parse", "--verify", "--quiet", "HEAD^1")
    listed = git("diff", "--name-only", "--no-renames", base) if base else None
    return None if base is None or listed is None else (base[:10], listed.splitlines())


def tests_of(part: Part) -> list[str]:
    files = sorted(str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("tests/*/test_*.py"))
    return [file for file in files if _owner(file) is part]


def _owner(file: str) -> Part | None:
    return next((part for part in PARTS if _matches(file, part.tests)), None)


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def touching(part: Part, paths: list[str]) -> str:
    """The first of these paths that the part guards; empty where it guards none."""
    for path in paths:
        owner = _owner(path)
        if owner is part or (owner is None and _matches(path, part.guards)):
            return path
    return ""


def turns(part: Part) -> list[Turn]:
    """The part as one turn where it fits into a share, else as several that do."""
    of = 1
    while Turn(part, 1, of).minutes > SHARE:
        of += 1
    return [Turn(part, number, of) for number in range(1, of + 1)]


def share(start: int, paths: list[str]) -> dict[Turn, str]:
    """What a run takes besides what every run takes, and why; `start` tells where the rest begins."""
    all_turns = [turn for part in PARTS for turn in turns(part)]
    first = start % len(all_turns)
    taken: dict[Turn, str] = {}
    minutes = 0
    for part in (turn.part for turn in all_turns[first:] + all_turns[:first] if turn.number == 1):
        if path := touching(part, paths):
            for turn in (
                Turn(part),
                turns(part)[start % len(turns(part))],
            ):  # as much of it as there is time for
                if minutes + turn.minutes <= MOST:
                    taken[turn] = f"the change touches {path}"
                    minutes += turn.minutes
                    break
    touched = {turn.part for turn in taken}
    for turn in all_turns[first:] + all_turns[:first]:
        if turn.part not in touched and minutes + turn.minutes <= SHARE:
            taken[turn] = "by the commit's hash"
            minutes += turn.minutes
    return taken


def newcomers(start: int, *, everything: bool) -> tuple[str, ...]:
    """The systems of which a run takes a minimal one."""
    return (*NEWCOMERS, UBUNTU) if everything else (NEWCOMERS[start % len(NEWCOMERS)],)


def main() -> None:
    parser = argparse.ArgumentParser(prog=".ci/run")
    parser.add_argument("--all", action="store_true", help="the whole, whatever the commit")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be run")
    everything = parser.parse_args().all
    commit = git("rev-parse", "HEAD") or ""
    start = int(commit or "0", 16)
    change = changed(commit) if commit else None
    paths = change[1] if change else []
    if everything:
        print("# the whole: --all")
        taken = {Turn(part): "--all" for part in PARTS}
    else:
        told = f"compared with {change[0]}" if change else "whose change is unknown (no parent here)"
        print(f"# the share of {commit[:10] or 'a tree without git'}, {told}")
        taken = share(start, paths)
    for suite in newcomers(start, everything=everything):
        print(f"part 'newcomer on {suite}' .ci/fresh {suite}")
    print("part 'make test' make test")
    for turn in sorted(taken, key=lambda turn: PARTS.index(turn.part)):
        print(f"# {turn.name}, about {turn.minutes} minutes: {taken[turn]}")
        print(f"part {shlex.quote(turn.name)} {turn.command}")
    whole = {turn.part for turn in taken if turn.of == 1}
    left = [
        f"{part.name} (for lack of time, though the change touches it)"
        if touching(part, paths)
        else part.name
        for part in PARTS
        if part not in whole
    ]
    if left:
        print(f"# left out, in part or whole: {', '.join(left)}; `.ci/run --all` runs them too")


if __name__ == "__main__":
    main()
