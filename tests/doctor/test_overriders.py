"""What others set after rocmcfg's files: `doctor` names the place, and does not propose again what is
applied; and what is in force and undoes the cure of a known issue is said by doctor and verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import Result, rocmcfg, unfolded
from tests.support.tool_host import QuickHost
from tests.support.usecases import apply

ISSUE = "rdna4-hipblaslt-gltr-overread"
LOG = Path(__file__).parent / "logs" / "rdna4-gemm-overread.log"
MINE = "/etc/profile.d/zzz-mine.sh"
KERNELS = ("6.14.0-37-generic",)
SETS = "# mine\nexport TORCH_BLAS_PREFER_HIPBLASLT=1\n"


def host(tmp_path: Path, **options: Any) -> Path:
    return debian_grub_host(tmp_path, gfx=("gfx1201",), rocm="7.1.1", **options)


def cure(root: Path, issue: str = ISSUE, log: Path = LOG) -> tuple[dict[str, Any], Result]:
    document = rocmcfg("doctor", "--log", log, "--root", root, "--json").document
    (found,) = [match for match in document["matches"] if match["issue"] == issue]
    return found["workaround"], rocmcfg("doctor", "--log", log, "--root", root)


def test_before_an_apply_the_place_comes_first_and_the_command_stays(tmp_path: Path) -> None:
    root = host(tmp_path, extra={MINE.lstrip("/"): SETS})
    workaround, shown = cure(root)
    (lost,) = workaround["overridden"]
    assert (lost["value"], lost["place"], lost["applied"]) == ("1", f"{MINE}:2", False)
    assert "rocmcfg apply" in workaround["command"]
    said = unfolded(shown.out)
    assert f"First: delete the line at {MINE}:2, which sets TORCH_BLAS_PREFER_HIPBLASLT to 1" in said
    (root / MINE.lstrip("/")).unlink()
    assert cure(root)[0]["overridden"] == []


def test_what_is_applied_and_overridden_is_not_proposed_again(tmp_path: Path) -> None:
    root = host(tmp_path, extra={MINE.lstrip("/"): SETS})
    apply(QuickHost(str(root)), profiles=("gfx1201",))
    workaround, shown = cure(root)
    assert [lost["applied"] for lost in workaround["overridden"]] == [True]
    assert workaround["command"] == ""
    said = unfolded(shown.out)
    assert f"Fix: delete the line at {MINE}:2, which sets TORCH_BLAS_PREFER_HIPBLASLT to 1" in said
    assert "Permanent fix" not in said
    assert "rocmcfg run -p gfx1201" in said, "one program gets it from there"


@pytest.mark.parametrize("applied", [False, True])
def test_an_argument_of_a_later_drop_in_overrides_too(tmp_path: Path, applied: bool) -> None:
    own = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.cwsr_enable=1"\n'
    root = host(tmp_path, grub_d={"zzz-mine.cfg": own})
    log = tmp_path / "fault.log"
    log.write_text("Memory access fault by GPU node-1 (Agent handle: 0x5de9) on address 0x799bfc063000\n")
    if applied:
        apply(QuickHost(str(root)), profiles=("gfx1201",))
    document = rocmcfg("doctor", "--log", log, "--root", root, "--json").document
    found = {match["issue"]: match["workaround"] for match in document["matches"]}
    lost = found["rdna4-expert-sched-cwsr"]["overridden"]
    place = "/etc/default/grub.d/zzz-mine.cfg:1"
    assert [(one["value"], one["place"], one["applied"]) for one in lost] == [("1", place, applied)]
    assert bool(found["rdna4-expert-sched-cwsr"]["command"]) is not applied


def test_what_undoes_a_cure_is_said_of_what_is_in_force(tmp_path: Path) -> None:
    root = host(tmp_path, extra={MINE.lstrip("/"): SETS}, cmdline="quiet amdgpu.runpm=1", kernels=KERNELS)
    told = rocmcfg("doctor", "--root", root, "--json").document["diagnostics"]
    undoing = {(one["summary"], one["location"]) for one in told if one["id"] == "RC8112"}
    assert (f"TORCH_BLAS_PREFER_HIPBLASLT=1 undoes the cure of {ISSUE}", f"{MINE}:2") in undoing
    assert ("amdgpu.runpm=1 undoes the cure of rdna4-headless-runpm", "/etc/default/grub:7") in undoing
    right = host(tmp_path / "right", extra={MINE.lstrip("/"): SETS.replace("=1", "=0")})
    told = rocmcfg("doctor", "--root", right, "--json").document["diagnostics"]
    assert "RC8112" not in [one["id"] for one in told], "defaults and cures undo nothing"


def test_verify_says_it_in_the_row(tmp_path: Path) -> None:
    root = host(tmp_path, extra={MINE.lstrip("/"): SETS}, kernels=KERNELS)
    apply(QuickHost(str(root)), profiles=("gfx1201",), set=("amdgpu.runpm=1",))
    rows = {row["name"]: row for row in rocmcfg("verify", "--root", root, "--json").document["checks"]}
    assert rows["env.TORCH_BLAS_PREFER_HIPBLASLT"]["undoes"] == ISSUE
    assert rows["env.TORCH_BLAS_PREFER_HIPBLASLT"]["configured"] == "1", "which is what new logins get"
    assert rows["amdgpu.runpm"]["undoes"] == "rdna4-headless-runpm"
    assert rows["amdgpu.cwsr_enable"]["undoes"] == ""
    said = unfolded(rocmcfg("verify", "--root", root).out)
    assert f"env.TORCH_BLAS_PREFER_HIPBLASLT=1 undoes the cure of {ISSUE}" in said
    assert "amdgpu.runpm=1 undoes the cure of rdna4-headless-runpm" in said
