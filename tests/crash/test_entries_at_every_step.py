"""The same for a file with many entries, which no journal names: our part is in all of them or in none, and
what others write there between the crash and the `recover` stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.hosts import other_host

from .crashing import REJECT, ROLLBACK, CrashingHost, OfflineHost, apply, attempt, recover
from .test_images_at_every_step import Derived
from .test_kill_at_every_step import holds

CASES = Path(__file__).parents[1] / "cases/limine"
CONF = "boot/limine.conf"
MINE = "/Memory test\n  protocol: efi\n  path: boot():/memtest.efi\n"
MORE = "  //linux-lts\n    protocol: linux\n    path: boot():/vmlinuz-linux-lts\n    cmdline: rw quiet\n"
FIRST = apply(set=("amdgpu.runpm=0", "karg.iommu=pt"))
SECOND = apply(set=("amdgpu.runpm=1", "env.HSA_XNACK=1"))


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in test_edits_at_every_step."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    root = other_host(tmp_path, "limine")
    with (root / CONF).open("a") as stream:
        stream.write(MORE)
    return root


@pytest.fixture
def applied(start: Path) -> Path:
    FIRST.run(CrashingHost(str(start)))
    return start


@pytest.mark.parametrize("kind", [CrashingHost, OfflineHost])
def test_an_apply_killed_at_any_step_is_undone_or_committed(
    tmp_path: Path, start: Path, kind: type[CrashingHost], stride: int
) -> None:
    holds(Derived(tmp_path, start, FIRST, kind), stride)


def test_an_apply_that_replaces_another_is_undone_to_the_older_one(
    tmp_path: Path, applied: Path, stride: int
) -> None:
    holds(Derived(tmp_path, applied, SECOND), stride)


def test_a_rollback_killed_at_any_step_is_finished_by_recover(
    tmp_path: Path, applied: Path, stride: int
) -> None:
    holds(Derived(tmp_path, applied, ROLLBACK), stride)


def test_what_others_write_before_the_recover_stays(tmp_path: Path, applied: Path, stride: int) -> None:
    trial = Derived(tmp_path, applied, SECOND)
    before, after = ((root / CONF).read_text() for root in (trial.start, trial.whole))
    assert before.count("amdgpu.runpm=0") == after.count("amdgpu.runpm=1") == 2
    found = set()
    for name, root in trial.each(stride):
        with (root / CONF).open("a") as stream:
            stream.write(MINE)
        recover(root, trial.kind)
        text = (root / CONF).read_text()
        assert text in (before + MINE, after + MINE), name
        found.add(text)
    assert len(found) == 2


class Armed(CrashingHost):
    """With a bootctl, which the firmware keeps a variable for."""

    tools = CASES / "tools"


@pytest.fixture
def newest(start: Path) -> Path:
    """Started by a Limine that boots something once."""
    shutil.copytree(CASES / "trees/limine-11", start, dirs_exist_ok=True)
    return start


def test_a_trial_killed_at_any_step_is_none_or_a_whole_one(tmp_path: Path, newest: Path, stride: int) -> None:
    holds(Derived(tmp_path, newest, attempt(set=("amdgpu.runpm=0",)), Armed), stride)


def test_a_reject_killed_at_any_step_is_finished_by_recover(
    tmp_path: Path, newest: Path, stride: int
) -> None:
    attempt(set=("amdgpu.runpm=0",)).run(Armed(str(newest)))
    holds(Derived(tmp_path, newest, REJECT, Armed), stride)
