"""What somebody reads of a plan before agreeing to it."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg, unfolded


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), rocm="7.1.0")


def test_cost_and_confidence_stand_beside_each_setting(root: Path) -> None:
    planned = rocmcfg("plan", "-p", "gfx1201", "--root", root)
    settings = rocmcfg("plan", "-p", "gfx1201", "--root", root, "--json").document["settings"]
    said = unfolded(planned.out)
    assert settings
    for one in settings:
        of_it = said[said.index(one["setting"]) :]
        assert unfolded(f"cost: {one['cost']} helps: {one['confidence']}") in of_it
    assert len(planned.out.splitlines()) < 85


def test_files_are_named_and_shown_as_diffs_where_asked(root: Path) -> None:
    drop_in = "/etc/default/grub.d/zz-rocmcfg.cfg"
    ask = ("-p", "gfx1201", "--root", root)
    listed = rocmcfg("plan", *ask).out
    assert f"  + {drop_in}\n" in listed
    assert f"+++ {drop_in}" not in listed
    for words in (("plan", "--diff"), ("plan", "-v"), ("apply", "--dry-run")):
        assert f"+++ {drop_in}" in rocmcfg(*words, *ask).out, words


def test_the_end_says_how_to_undo_to_survive_and_to_go_on(root: Path) -> None:
    said = unfolded(rocmcfg("plan", "-p", "gfx1201", "--root", root).out)
    again = f"sudo rocmcfg apply --profile gfx1201 --root {root}"
    assert "4 settings (1 kernel argument, 3 variables): 5 files to change, 1 program to run" in said
    assert f"Undo: sudo rocmcfg rollback --root {root}" in said
    assert "--trial" not in said, "whether the loader can do it there is not seen from here"
    assert "in the boot menu press e, delete amdgpu.cwsr_enable=0, and boot that" in said
    assert said.endswith(f"Next: {again}")
    next_one = shlex.split(again.removeprefix("sudo rocmcfg "))
    assert rocmcfg(*next_one, "--yes").code == 0
    left = unfolded(rocmcfg("plan", "-p", "gfx1201", "--root", root).out)
    assert "update-grub still to be run; a reboot puts it into effect" in left
    assert left.endswith("--chroot"), "without it the apply would come to nothing"


def test_variables_alone_need_no_way_back_from_a_black_screen(root: Path) -> None:
    ask = ("--set", "env.HSA_ENABLE_SDMA=0", "--root", root)
    said = rocmcfg("plan", *ask).out
    assert "Undo: " in said
    assert "Next: " in said
    assert "black" not in said
    assert "--trial" not in said
    assert rocmcfg("apply", *ask, "--yes").code == 0
    assert rocmcfg("plan", *ask).out.endswith("In sync: nothing to change.\n")


def test_without_a_boot_loader_that_is_known_the_rest_is_done(root: Path) -> None:
    for name in ("boot/grub", "etc/default/grub.d", "sys/firmware"):
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("etc/default/grub", "usr/sbin/update-grub"):
        (root / name).unlink(missing_ok=True)
    ask = ("-p", "gfx1201", "--root", root)
    planned = rocmcfg("plan", *ask, "--json").document
    assert [one["id"] for one in planned["diagnostics"] if one["severity"] == "warning"] == ["RC3030"]
    assert "add these kernel arguments yourself: amdgpu.cwsr_enable=0" in planned["diagnostics"][0]["summary"]
    assert "amdgpu.cwsr_enable" not in [one["setting"] for one in planned["settings"]]
    assert rocmcfg("apply", *ask, "--yes").code == 0
    assert "DISABLE_ADDMM_CUDA_LT=1" in (root / "etc/rocmcfg/env").read_text()
    whole = {one["name"]: one["status"] for one in rocmcfg("verify", *ask, "--json").document["checks"]}
    assert whole.pop("amdgpu.cwsr_enable") not in ("in_effect", "rewritten_by_driver")
    assert set(whole.values()) == {"in_effect"}
    applied = {
        one["name"]: one["status"] for one in rocmcfg("verify", "--root", root, "--json").document["checks"]
    }
    assert applied.pop("amdgpu.cwsr_enable") == "left_to_you"
    assert set(applied.values()) == {"in_effect"}
    alone = rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", root, "--json")
    assert (alone.code, alone.ids[0]) == (1, "RC3014"), "nothing of it could be done"


def test_names_that_gpus_are_sold_under_serve_wherever_one_is_asked_for(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("nothing\n")
    told = rocmcfg("doctor", log, "--gfx", "RX 9070 XT", "--json", "--root", root).document
    assert told["facts"]["gfx"] == ["gfx1201"]
    assert rocmcfg("doctor", log, "--gfx", "1201x", "--root", root).code == 2
    named = rocmcfg("verify", "--profile", "9070xt", "--json", "--root", root).document
    assert named["profiles"] == ["gfx1201"]


def test_where_no_gpu_is_seen_a_profile_that_is_named_gives_its_variables(root: Path) -> None:
    shutil.rmtree(root / "sys")
    assert "DISABLE_ADDMM_CUDA_LT=1" in rocmcfg("env", "--profile", "gfx1201", "--root", root).out
    assert rocmcfg("render", "-p", "gfx1201", "--format", "cloud-init", "--root", root).code == 0
    assert rocmcfg("env", "--root", root).code == 1, "auto has nothing to go by"


def test_who_has_agreed_already_reads_what_is_set_and_no_more(root: Path) -> None:
    ask = ("-p", "gfx1201", "--root", root)
    applied = rocmcfg("apply", *ask, "--yes").out
    assert "amdgpu.cwsr_enable = 0  → kernel command line" in applied
    assert "4 settings (1 kernel argument, 3 variables): 5 files to change" in applied
    assert "If the screen stays black:" in unfolded(applied)
    for left_to_plan in ("cost:", "helps:", "System", "Files", "Left out"):
        assert left_to_plan not in applied
    assert applied.count("Undo:") == 1
    rocmcfg("rollback", "--root", root, "--yes")
    assert "cost:" in rocmcfg("apply", *ask, "--yes", "-v").out


def test_a_plan_keeps_why_it_applies_here_and_its_notes_for_verbose(root: Path) -> None:
    ask = ("plan", "-p", "gfx1201", "--root", root)
    brief, verbose = (unfolded(rocmcfg(*ask, *more).out) for more in ((), ("-v",)))
    for said in ("needed: ROCm 7.1.0 is >7.0.2", "Note: With two or more of these cards"):
        assert (said in brief, said in verbose) == (False, True)
