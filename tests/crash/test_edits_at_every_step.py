"""The same for a file that somebody else owns: our part of it comes and goes as a whole, and what others
write between the crash and the `recover` stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.hosts import other_host

from .crashing import ROLLBACK, CrashingHost, OfflineHost, apply, recover
from .test_kill_at_every_step import Trial, holds

DEFAULTS = "etc/default/grub"
MINE = "# mine\n"
FIRST = apply(set=("amdgpu.runpm=0", "karg.iommu=pt"))
SECOND = apply(set=("amdgpu.runpm=1", "env.HSA_XNACK=1"))


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it had handed to the kernel: fsync would only cost time here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A host whose file has no line break at its end: the edit begins with one."""
    root = other_host(tmp_path, "arch-grub")
    (root / DEFAULTS).write_text((root / DEFAULTS).read_text().rstrip("\n"))
    return root


@pytest.fixture
def applied(start: Path) -> Path:
    FIRST.run(CrashingHost(str(start)))
    return start


@pytest.mark.parametrize("kind", [CrashingHost, OfflineHost])
def test_an_apply_killed_at_any_step_is_undone_or_committed(
    tmp_path: Path, start: Path, kind: type[CrashingHost], stride: int
) -> None:
    holds(Trial(tmp_path, start, FIRST, kind), stride)


def test_an_apply_that_replaces_another_is_undone_to_the_older_one(
    tmp_path: Path, applied: Path, stride: int
) -> None:
    holds(Trial(tmp_path, applied, SECOND), stride)


def test_what_others_write_before_the_recover_stays(tmp_path: Path, applied: Path, stride: int) -> None:
    trial = Trial(tmp_path, applied, SECOND)
    before, after = ((root / DEFAULTS).read_text() for root in (trial.start, trial.whole))
    found = set()
    for name, root in trial.each(stride):
        with (root / DEFAULTS).open("a") as stream:
            stream.write(MINE)
        recover(root, trial.kind)
        text = (root / DEFAULTS).read_text()
        assert text in (before + MINE, after + MINE), name
        found.add(text)
    assert len(found) == 2


def test_a_rollback_around_what_others_wrote_is_finished_by_recover(
    tmp_path: Path, start: Path, stride: int
) -> None:
    before = (start / DEFAULTS).read_text()
    FIRST.run(CrashingHost(str(start)))
    with (start / DEFAULTS).open("a") as stream:
        stream.write(MINE)
    trial = Trial(tmp_path, start, ROLLBACK)
    assert (trial.whole / DEFAULTS).read_text() == f"{before}\n{MINE}"
    wrong = []
    for name, root in trial.each(stride):
        recover(root, trial.kind)
        if trial.verdict(root) not in ("before", "after"):
            wrong.append(f"{name}: {trial.verdict(root)}")
    assert not wrong, "\n".join(wrong)
