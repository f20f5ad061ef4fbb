"""The same for a take-over: the owner's words are in the files, or in the profile, and never in neither."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocmcfg.change.transaction import undo_script
from tests.support.hosts import other_host
from tests.transaction.test_taking_over import undo_sh

from .crashing import ROLLBACK, TAKE_OVER, CrashingHost, OfflineHost, recover
from .scenarios import owned, with_menu
from .test_kill_at_every_step import Trial, holds

DEFAULTS, OPTIONS = "etc/default/grub", "etc/modprobe.d/amdgpu.conf"
MINE = "# mine\n"


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it had handed to the kernel: fsync would only cost time here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    return owned(tmp_path)


@pytest.fixture
def without_drop_ins(tmp_path: Path) -> Path:
    """The file out of which words are moved is the one that gets rocmcfg's lines."""
    root = other_host(tmp_path, "arch-grub")
    text = (root / DEFAULTS).read_text().replace('_DEFAULT="', '_DEFAULT="amdgpu.runpm=0 ')
    (root / DEFAULTS).write_text(text.rstrip("\n"))
    return with_menu(root, "grub-mkconfig", "-o", "/boot/grub/grub.cfg")


@pytest.mark.parametrize("kind", [CrashingHost, OfflineHost])
def test_a_take_over_killed_at_any_step_is_undone_or_committed(
    tmp_path: Path, start: Path, kind: type[CrashingHost], stride: int
) -> None:
    trial = Trial(tmp_path, start, TAKE_OVER, kind)
    # where it is whole, a second one finds the name of the profile taken
    trial.usable = lambda root: not (root / "etc/rocmcfg/profiles/own.toml").exists()
    holds(trial, stride)


def test_words_of_a_file_with_rocmcfgs_own_lines_are_in_one_place(
    tmp_path: Path, without_drop_ins: Path, stride: int
) -> None:
    trial = Trial(tmp_path, without_drop_ins, TAKE_OVER)
    trial.usable = lambda root: not (root / "etc/rocmcfg/profiles/own.toml").exists()
    holds(trial, stride)


@pytest.mark.parametrize("host", ["start", "without_drop_ins"])
def test_a_rollback_killed_at_any_step_is_finished_by_recover(
    tmp_path: Path, host: str, stride: int, request: pytest.FixtureRequest
) -> None:
    root = request.getfixturevalue(host)
    TAKE_OVER.run(CrashingHost(str(root)))
    trial = Trial(tmp_path, root, ROLLBACK)
    wrong = []
    for name, left in trial.each(stride):
        recover(left, trial.kind)
        if trial.verdict(left) not in ("before", "after"):
            wrong.append(f"{name}: {trial.verdict(left)}")
    assert not wrong, "\n".join(wrong)


def test_what_others_write_before_the_recover_stays(tmp_path: Path, start: Path, stride: int) -> None:
    trial = Trial(tmp_path, start, TAKE_OVER)
    for name, root in trial.each(stride):
        for path in (DEFAULTS, OPTIONS):
            with (root / path).open("a") as stream:
                stream.write(MINE)
        recover(root, trial.kind)
        for path, word in ((DEFAULTS, "amdgpu.runpm=0"), (OPTIONS, "options amdgpu cwsr_enable=0\n")):
            text = (root / path).read_text()
            assert text.endswith(MINE), name
            whole = (root / "etc/rocmcfg/profiles/own.toml").exists()
            assert (word in text) is not whole, f"{name}: {path} has {text}"


def test_the_script_alone_puts_the_words_back_after_a_crash_at_any_step(
    tmp_path: Path, start: Path, stride: int
) -> None:
    trial = Trial(tmp_path, start, TAKE_OVER)
    before = {path: (start / path).read_text() for path in (DEFAULTS, OPTIONS)}
    ran = 0
    for name, root in trial.each(stride):
        if (root / undo_script.PATH.lstrip("/")).exists():
            undo_sh(root)
            ran += 1
        assert {path: (root / path).read_text() for path in before} == before, name
    assert ran
