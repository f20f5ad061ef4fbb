"""Whatever the step at which the process dies, `recover` leads to exactly *before* or *committed after*."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.model.file_state import FileState
from tests.support.hosts import debian_grub_host
from tests.support.trees import Tree
from tests.support.usecases import journals

from .crashing import (
    RECOVER,
    ROLLBACK,
    Act,
    CrashingHost,
    Moment,
    OfflineHost,
    apply,
    child,
    copy,
    killed,
    points,
    recover,
    seen,
)

FIRST = apply(profiles=("rdna4",), set=("amdgpu.runpm=0", "karg.iommu=pt"))
# another channel, other variables, one file less and one more: files are made, changed and removed
SECOND = apply(
    profiles=("rdna4",), set=("amdgpu.noretry=0",), without=("env.DISABLE_ADDMM_CUDA_LT",), via="modprobe"
)


class Trial:
    """One act on one tree, and what the tree may be afterwards."""

    def __init__(self, folder: Path, start: Path, act: Act, kind: type[CrashingHost] = CrashingHost) -> None:
        self.folder, self.start, self.act, self.kind = folder, start, act, kind
        self.count = 0
        # beside a trial nothing is applied
        self.usable: Callable[[Path], bool] = lambda root: not (root / "var/lib/rocmcfg/trial.json").exists()
        self.before = seen(start)
        self.whole = copy(start, folder / "whole")
        host = kind(str(self.whole))
        assert child(lambda: act.run(host)) == 0
        act.run(kind(str(copy(start, folder / "warm"))))  # imports, so that no child pays for them
        self.after = seen(self.whole, times=False)
        counting = kind(str(copy(start, folder / "count")))
        act.run(counting)
        self.steps = counting.steps
        self.taken = counting.taken

    def killed_at(self, step: int, moment: Moment) -> Path:
        self.count += 1
        root = copy(self.start, self.folder / f"{self.count}")
        assert killed(self.kind(str(root), step, moment), self.act), f"step {step} was never reached"
        return root

    def each(self, stride: int) -> Iterator[tuple[str, Path]]:
        for step, moment in points(self.taken)[::stride]:
            yield f"{moment} {self.taken[step - 1]} (step {step})", self.killed_at(step, moment)
        yield "after the last step", copy(self.whole, self.folder / "after")

    def verdict(self, root: Path) -> str:
        """`before`, `after`, or what is neither."""
        if seen(root) == self.before:
            return "before"
        if seen(root, times=False) == self.after:
            return "after"
        return (
            _difference(self.before, seen(root))
            + "\nand not after either:\n"
            + _difference(self.after, seen(root, times=False))
        )


def _difference(wanted: Tree, found: Tree) -> str:
    paths = sorted(p for p in {*wanted, *found} if wanted.get(p) != found.get(p))
    return "\n".join(f"{p}: {wanted.get(p)} -> {found.get(p)}" for p in paths)


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it had handed to the kernel: fsync would only cost time here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A host whose initramfs carries amdgpu: both tools have work to do."""
    return debian_grub_host(tmp_path, amdgpu_in_initramfs=True, modprobe_d={"blacklist.conf": "# none\n"})


@pytest.fixture
def applied(start: Path) -> Path:
    FIRST.run(CrashingHost(str(start)))
    return start


def _transactions(root: Path) -> list[str]:
    return [journal.state for journal in journals(LocalHost(str(root)))]


def holds(trial: Trial, stride: int) -> None:
    wrong = []
    verdicts = set()
    for number, (name, root) in enumerate(trial.each(stride)):
        recover(root, trial.kind)
        verdict = trial.verdict(root)
        verdicts.add(verdict)
        if verdict not in ("before", "after"):
            wrong.append(f"{name}: {verdict}")
        again = seen(root)
        recover(root, trial.kind)
        if seen(root) != again:
            wrong.append(f"{name}: a second recover changed something")
        if "unfinished" in _transactions(root):
            wrong.append(f"{name}: still unfinished")
        if number % 5 == 0 and trial.usable(root):
            trial.act.run(trial.kind(str(root)))  # and the host is as usable as ever
    assert not wrong, "\n".join(wrong)
    assert verdicts == {"before", "after"}, verdicts


def test_an_apply_killed_at_any_step_is_undone_or_committed(tmp_path: Path, start: Path, stride: int) -> None:
    holds(Trial(tmp_path, start, FIRST), stride)


def test_an_apply_that_replaces_another_is_undone_to_the_older_one(
    tmp_path: Path, applied: Path, stride: int
) -> None:
    holds(Trial(tmp_path, applied, SECOND), stride)


def test_an_apply_on_a_tree_whose_tools_cannot_run_is_undone_as_well(
    tmp_path: Path, start: Path, stride: int
) -> None:
    holds(Trial(tmp_path, start, FIRST, OfflineHost), stride)


def test_a_rollback_killed_at_any_step_is_finished_by_recover(
    tmp_path: Path, applied: Path, stride: int
) -> None:
    SECOND.run(CrashingHost(str(applied)))
    trial = Trial(tmp_path, applied, ROLLBACK)
    wrong = []
    for name, root in trial.each(stride):
        # before its first line is durable nothing has begun, and the apply stays; from then on it is undone
        begun = _transactions(root)[0] != "committed"
        recover(root, trial.kind)
        verdict = trial.verdict(root)
        if verdict != ("after" if begun else "before"):
            wrong.append(f"{name}: {verdict}")
    assert not wrong, "\n".join(wrong)


def test_a_recover_that_is_killed_itself_can_be_run_again(tmp_path: Path, applied: Path, stride: int) -> None:
    trial = Trial(tmp_path, applied, SECOND)
    wrong = []
    for step in range(6, trial.steps, 9):
        interrupted = trial.killed_at(step, "half")
        counting = CrashingHost(str(copy(interrupted, tmp_path / f"counting-{step}")))
        RECOVER.run(counting)
        for inner, moment in points(counting.taken)[::stride]:
            root = copy(interrupted, tmp_path / f"again-{step}-{inner}-{moment}")
            assert killed(CrashingHost(str(root), inner, moment), RECOVER)
            recover(root, CrashingHost)
            verdict = trial.verdict(root)
            if verdict != "before":
                wrong.append(f"{step}, then {moment} {counting.taken[inner - 1]}: {verdict}")
            if "unfinished" in _transactions(root):
                wrong.append(f"{step}, then {moment} {counting.taken[inner - 1]}: still unfinished")
    assert not wrong, "\n".join(wrong)


@pytest.mark.faults
def test_a_real_kill_at_a_random_moment_is_survived(tmp_path: Path, applied: Path) -> None:
    """SIGKILL from outside, at no step in particular."""
    trial = Trial(tmp_path, applied, SECOND)
    began = time.monotonic()
    SECOND.run(CrashingHost(str(copy(applied, tmp_path / "timed"))))
    duration = time.monotonic() - began
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    for number in range(12):
        root = copy(applied, tmp_path / f"random-{number}")
        host = CrashingHost(str(root))
        pid = os.fork()
        if pid == 0:
            try:
                SECOND.run(host)
            finally:
                os._exit(0)
        time.sleep(moments.uniform(0, duration))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        recover(root, CrashingHost)
        assert trial.verdict(root) in ("before", "after"), f"seed {seed}, number {number}"


# -- the test itself has teeth -------------------------------------------------------------------------


class LateIntent(CrashingHost):
    """A transaction that writes first and notes it down afterwards, as a careless one would."""

    def __init__(self, root: str, at: int = 0, moment: Moment = "before") -> None:
        super().__init__(root, at, moment)
        self.late: list[tuple[str, bytes]] = []

    def append(self, path: str, line: bytes) -> None:
        if b'"kind":"file"' in line:
            self.late.append((path, line))
            return
        super().append(path, line)

    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        super().write(path, state, keep_mtime=keep_mtime)
        self._flush()

    def remove(self, path: str) -> None:
        super().remove(path)
        self._flush()

    def _flush(self) -> None:
        for path, line in self.late:
            super().append(path, line)
        self.late = []


class NoBackup(CrashingHost):
    """A transaction that keeps the before-image only after the change."""

    def __init__(self, root: str, at: int = 0, moment: Moment = "before") -> None:
        super().__init__(root, at, moment)
        self.late: list[Callable[[], None]] = []

    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        if "/backups/" in path:
            self.late.append(lambda: CrashingHost.write(self, path, state, keep_mtime=keep_mtime))
            return
        super().write(path, state, keep_mtime=keep_mtime)
        for write in self.late:
            write()
        self.late = []


@pytest.mark.parametrize("careless", [LateIntent, NoBackup])
def test_these_tests_notice_a_change_that_precedes_its_safety(
    tmp_path: Path,
    applied: Path,
    stride: int,
    careless: type[CrashingHost],
    capfd: pytest.CaptureFixture[str],
) -> None:
    trial = Trial(tmp_path, applied, SECOND, careless)
    for _, root in trial.each(stride):
        status = child(partial(RECOVER.run, CrashingHost(str(root))))
        if status or trial.verdict(root) not in ("before", "after"):
            return
    pytest.fail("no step showed the bug that was planted")
