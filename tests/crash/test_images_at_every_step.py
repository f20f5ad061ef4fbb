"""The same for addons beside unified kernel images, which no journal names: what a kill leaves of them, half
of one or an empty directory, the undo finds by itself."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.hosts import other_host

from .crashing import ROLLBACK, CrashingHost, OfflineHost, apply, seen
from .test_kill_at_every_step import Trial, holds

LINUX = "efi/EFI/Linux"
FIRST = apply(set=("amdgpu.runpm=0", "karg.iommu=pt"))
SECOND = apply(set=("amdgpu.runpm=1", "env.HSA_XNACK=1"))


class Derived(Trial):
    """An addon that is made again has the bytes that it had, and another time."""

    def verdict(self, root: Path) -> str:
        before = {path: entry[:4] for path, entry in self.before.items()}
        return "before" if seen(root, times=False) == before else super().verdict(root)


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in test_edits_at_every_step."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """Two images, one of them with an addon of its owner's."""
    root = other_host(tmp_path, "uki-mkinitcpio")
    shutil.copy(root / f"{LINUX}/arch-linux.efi", root / f"{LINUX}/arch-zen.efi")
    (root / f"{LINUX}/arch-zen.efi.extra.d").mkdir()
    (root / f"{LINUX}/arch-zen.efi.extra.d/mine.cred").write_text("not ours\n")
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
    holds(Derived(tmp_path, applied, SECOND), stride)


def test_a_rollback_killed_at_any_step_is_finished_by_recover(
    tmp_path: Path, applied: Path, stride: int
) -> None:
    holds(Trial(tmp_path, applied, ROLLBACK), stride)
