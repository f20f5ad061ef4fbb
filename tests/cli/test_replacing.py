"""An apply replaces what was applied before: it says so first, and `--add` does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

RUNPM = "amdgpu.runpm=0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    assert rocmcfg("apply", "--profile", "rdna4", "--root", root, "--yes").code == 0
    return root


def plan(root: Path, *options: str) -> Any:
    return rocmcfg("plan", *options, "--root", root, "--json").document


def settings(document: Any) -> set[str]:
    return {one["setting"] for one in document["settings"]}


def test_a_plan_begins_with_what_goes_and_how_to_keep_it(root: Path) -> None:
    said = rocmcfg("plan", "--set", RUNPM, "--root", root).out
    assert said.index("Removed (4)") < said.index("Settings")
    command = next(line.split() for line in said.splitlines() if "sudo rocmcfg apply" in line)
    assert command[2:] == ["apply", "--profile", "rdna4", "--set", RUNPM, "--root", str(root)]
    document = plan(root, "--set", RUNPM)
    assert "amdgpu.cwsr_enable=0" in document["removed"]
    kept = plan(root, *command[3:-2])
    assert kept["removed"] == []
    assert settings(kept) == settings(plan(root, "--profile", "rdna4")) | {"amdgpu.runpm"}


def test_what_is_not_needed_any_more_is_removed_without_advice_to_keep_it(root: Path) -> None:
    said = rocmcfg("plan", "--profile", "rdna4", "--without", "amdgpu.cwsr_enable", "--root", root).out
    assert "Removed (1)" in said
    (root / "opt/rocm/.info/version").write_text("7.0.0\n")
    said = rocmcfg("plan", "--profile", "rdna4", "--root", root).out
    assert "Removed (3)" in said
    assert "To keep it" not in said


def test_add_is_on_top_of_what_is_applied(root: Path) -> None:
    before = settings(plan(root, "--profile", "rdna4"))
    assert rocmcfg("apply", "--add", RUNPM, "--root", root, "--yes").code == 0
    added = plan(root, "--add", "karg.iommu=pt", "--add", "amdgpu.runpm=-1")
    assert settings(added) == before | {"amdgpu.runpm", "karg.iommu"}
    assert {one["setting"]: one["value"] for one in added["settings"]}["amdgpu.runpm"] == "-1"
    assert added["removed"] == []


def test_add_where_nothing_is_applied_is_set(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    assert settings(plan(root, "--add", RUNPM)) == {"amdgpu.runpm"}


def test_the_header_of_a_rollback_says_what_goes_what_comes_and_what_stays(root: Path) -> None:
    assert (
        rocmcfg("apply", "--set", RUNPM, "--set", "amdgpu.cwsr_enable=0", "--root", root, "--yes").code == 0
    )
    found = rocmcfg("rollback", "--dry-run", "--root", root, "--json").document
    assert found["takes_back"] == [RUNPM]
    assert found["keeps"] == ["amdgpu.cwsr_enable=0"]
    assert len(found["brings_back"]) == 3
    said = rocmcfg("rollback", "--dry-run", "--root", root).out
    assert said.startswith("Undo of transaction 2\n  rolls back  amdgpu.runpm=0\n  restores    env.")
