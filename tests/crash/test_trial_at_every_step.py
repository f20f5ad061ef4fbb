"""Whatever the step at which the process dies, there is no trial afterwards, or a whole one: told by what the
host boots with, in this boot and in the next two."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.change.trial import record as trial
from rocmcfg.model.trial import Stage
from tests.support import usecases
from tests.support.boots import next_boot, reboot
from tests.support.hosts import debian_grub_host
from tests.support.tools import require_tool

from .crashing import (
    CONFIRM,
    RECOVER,
    REJECT,
    Act,
    CrashingHost,
    apply,
    attempt,
    copy,
    killed,
    points,
    recover,
)

OLD = apply(set=("amdgpu.runpm=0",))
TRY = attempt(set=("amdgpu.runpm=0", "amdgpu.cwsr_enable=0", "env.HSA_ENABLE_SDMA=0"))
PLUMBING = (
    "etc/default/grub.d/zzz-rocmcfg-trial.cfg",
    "etc/grub.d/01_rocmcfg_trial",
    "var/lib/rocmcfg/trial.json",
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it had handed to the kernel: fsync would only cost time here."""
    require_tool("grub-editenv", "grub-common")
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A host with something applied, in a boot that has it."""
    root = debian_grub_host(tmp_path)
    OLD.run(CrashingHost(str(root)))
    reboot(root)
    return root


def cut(folder: Path, start: Path, act: Act, stride: int) -> Iterator[tuple[str, Path]]:
    """Copies of the tree, each as it was when the act was killed at another step."""
    counting = CrashingHost(str(copy(start, folder / "count")))
    act.run(counting)
    yield "after the last step", copy(folder / "count", folder / "after")
    for step, moment in points(counting.taken)[::stride]:
        root = copy(start, folder / f"{step}-{moment}")
        assert killed(CrashingHost(str(root), step, moment), act)
        yield f"{moment} {counting.taken[step - 1]} (step {step})", root


def standing(root: Path) -> str:
    """`none`, a stage, or what is neither whole nor gone."""
    host = CrashingHost(str(root))
    there = [(root / path).exists() for path in PLUMBING]
    in_menu = "rocmcfg_trial" in (root / "boot/grub/grub.cfg").read_text()
    if usecases.journals(host)[0].state == "unfinished":
        return "unfinished"
    if not any(there) and not in_menu and not next_boot(root):
        return "none"
    found = trial.load(host)
    if found is None or not all(there) or not in_menu:
        return f"half of a trial: {there}, in the menu: {in_menu}, armed: {next_boot(root)!r}"
    stage = trial.stage(host, found)
    if (stage is Stage.ARMED) != bool(next_boot(root)):
        return f"{stage} and armed: {next_boot(root)!r}"
    return stage.value


def cwsr(line: str) -> bool:
    return "amdgpu.cwsr_enable=0" in line


def test_an_apply_killed_at_any_step_leaves_no_trial_or_a_whole_one(
    tmp_path: Path, start: Path, stride: int
) -> None:
    wrong, seen = [], set()
    for name, root in cut(tmp_path, start, TRY, stride):
        later = copy(root, Path(f"{root}-later"))
        recover(root, CrashingHost)  # in the same boot
        seen.add(here := standing(root))
        lines = [reboot(root), reboot(root)]
        if [cwsr(line) for line in lines] != [here == "armed", False] or here not in ("none", "armed"):
            wrong.append(f"{name}: {here}, then {lines}")
        line = reboot(later)  # a power cut: the boot asks for recover itself
        recover(later, CrashingHost)
        seen.add(there := standing(later))
        if there != ("running" if cwsr(line) else "none"):
            wrong.append(f"{name}, then a boot: {there} in {line}")
        if cwsr(last := reboot(later)):
            wrong.append(f"{name}, then two boots: {last}")
        recover(later, CrashingHost)
        if standing(later) != "none" or "amdgpu.runpm=0" not in reboot(later):
            wrong.append(f"{name}, at last: {standing(later)}")
    assert not wrong, "\n".join(wrong)
    assert seen == {"none", "armed", "running"}


def test_a_confirm_killed_at_any_step_keeps_the_trial_or_has_confirmed_it(
    tmp_path: Path, start: Path, stride: int
) -> None:
    TRY.run(CrashingHost(str(start)))
    reboot(start)
    wrong, seen = [], set()
    for name, root in cut(tmp_path, start, CONFIRM, stride):
        later = copy(root, Path(f"{root}-later"))
        recover(root, CrashingHost)
        seen.add(here := standing(root))
        if here not in ("running", "none") or cwsr(reboot(root)) != (here == "none"):
            wrong.append(f"{name}: {here}")
        reboot(later)
        recover(later, CrashingHost)
        line = reboot(later)
        kept = usecases.journals(CrashingHost(str(later)))[0].state == "committed"
        if standing(later) != "none" or cwsr(line) != kept or "amdgpu.runpm=0" not in line:
            wrong.append(f"{name}, then a boot: {standing(later)}, {line}")
    assert not wrong, "\n".join(wrong)
    assert seen == {"running", "none"}


@pytest.mark.parametrize("boots", [0, 1])
def test_a_reject_killed_at_any_step_keeps_the_trial_or_has_ended_it(
    tmp_path: Path, start: Path, stride: int, boots: int
) -> None:
    TRY.run(CrashingHost(str(start)))
    for _ in range(boots):
        reboot(start)
    wrong, seen = [], set()
    for name, root in cut(tmp_path, start, REJECT, stride):
        recover(root, CrashingHost)
        seen.add(here := standing(root))
        if here not in ("none", ("armed", "running")[boots]):
            wrong.append(f"{name}: {here}")
        if cwsr(line := reboot(root)) != (here == "armed"):
            wrong.append(f"{name}: {here}, then {line}")
    assert not wrong, "\n".join(wrong)
    assert len(seen) == 2


def test_the_end_of_a_trial_at_boot_can_be_killed_at_any_step(
    tmp_path: Path, start: Path, stride: int
) -> None:
    TRY.run(CrashingHost(str(start)))
    reboot(start)
    reboot(start)
    wrong = []
    for name, root in cut(tmp_path, start, RECOVER, stride):
        line = reboot(root)
        recover(root, CrashingHost)
        if standing(root) != "none" or cwsr(line) or cwsr(reboot(root)):
            wrong.append(f"{name}: {standing(root)}, {line}")
    assert not wrong, "\n".join(wrong)
