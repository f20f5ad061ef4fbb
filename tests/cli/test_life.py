"""The whole life of a setting on the sample host, through the commands that a user types."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.case import CASES, lay_out, read
from tests.support.hosts import debian_grub_host, kernel_modules, make_root
from tests.support.program import DEMO, Result, rocmcfg, unfolded
from tests.support.trees import tree

DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    shutil.copytree(DEMO / "sample-host", tmp_path / "sample", symlinks=True)
    return tmp_path / "sample"


def simulate(root: Path, *options: str) -> None:
    """update-grub and a boot, as docs/demo/reboot.py plays them."""
    subprocess.run(
        [sys.executable, DEMO / "reboot.py", *options, str(root)], check=True, stdout=subprocess.DEVNULL
    )


def statuses(result: Result) -> dict[str, str]:
    return {c["name"]: c["status"] for c in result.document["checks"]}


def test_plan_apply_verify_reboot_verify_replace_and_back_again(sample: Path) -> None:
    pristine = tree(sample)

    planned = rocmcfg("plan", "--profile", "auto", "--root", sample, "--detailed-exitcode")
    assert planned.code == 3
    assert "[+amdgpu.cwsr_enable=0+]" in planned.out
    assert tree(sample) == pristine, "plan changed something"

    applied = rocmcfg("apply", "--profile", "auto", "--root", sample, "--yes")
    assert applied.code == 0, applied.err
    assert "Applied as transaction 1." in applied.out
    assert "Left to you, inside that host:\n  update-grub\n" in applied.out
    first = tree(sample, state=False)

    found = rocmcfg("verify", "--root", sample, "--json")
    assert found.code == 6
    assert statuses(found)["amdgpu.cwsr_enable"] == "pending_activation"

    simulate(sample, "--update-grub")
    found = rocmcfg("verify", "--root", sample, "--json")
    assert found.code == 6
    assert statuses(found)["amdgpu.cwsr_enable"] == "pending_reboot"
    assert found.document["status"] == "pending"

    simulate(sample)
    found = rocmcfg("verify", "--root", sample, "--json")
    assert found.code == 0, found.out
    assert set(statuses(found).values()) == {"in_effect"}
    assert found.document["status"] == "in_effect"

    menu = tree(sample)
    again = rocmcfg("apply", "--profile", "auto", "--root", sample, "--yes")
    assert again.code == 0
    assert "Already applied: nothing was changed." in again.out
    tried = rocmcfg("apply", "--profile", "auto", "--trial", "--root", sample, "--yes")
    assert "nothing was changed, and no trial is armed." in tried.out
    assert f"To try it: run `sudo rocmcfg rollback --root {sample}`, reboot" in unfolded(tried.out)
    assert tree(sample) == menu
    assert rocmcfg("plan", "--profile", "auto", "--root", sample, "--detailed-exitcode").code == 0

    other = rocmcfg("apply", "--set", "karg.iommu=pt", "--root", sample, "--yes", "--json")
    assert other.code == 0
    assert other.document["transaction"] == 2
    removed = {c["path"] for c in other.document["changes"] if c["kind"] == "remove"}
    assert "/etc/environment.d/90-rocmcfg.conf" in removed
    assert "cwsr" not in (sample / DROP_IN).read_text()

    back = rocmcfg("rollback", "--root", sample, "--yes")
    assert back.code == 0, back.err
    assert "Rolled back: transaction 2." in back.out
    now = {p: e for p, e in tree(sample, state=False).items() if not p.startswith(("boot/", "proc/", "sys/"))}
    then = {p: e for p, e in first.items() if not p.startswith(("boot/", "proc/", "sys/"))}
    assert now == then, "a rollback brings back content, mode and mtime of what the older apply wrote"

    simulate(sample)
    assert rocmcfg("verify", "--root", sample).code == 0

    gone = rocmcfg("rollback", "--pristine", "--root", sample, "--yes")
    assert gone.code == 0
    assert "then reboot that host." in gone.out
    simulate(sample)
    left = {
        p: e for p, e in tree(sample, state=False).items() if not p.startswith(("boot/", "proc/", "sys/"))
    }
    assert left == {p: e for p, e in pristine.items() if not p.startswith(("boot/", "proc/", "sys/", "var"))}
    assert (sample / "boot/grub/grub.cfg").read_bytes() == (
        DEMO / "sample-host/boot/grub/grub.cfg"
    ).read_bytes()
    nothing = rocmcfg("verify", "--root", sample)
    assert nothing.code == 0
    assert "nothing is applied" in nothing.err


def test_rollback_to_a_transaction_leaves_the_host_as_that_one_left_it(sample: Path) -> None:
    trees = []
    for value in ("0", "1", "2"):
        assert rocmcfg("apply", "--set", f"amdgpu.runpm={value}", "--root", sample, "--yes").code == 0
        trees.append(tree(sample, state=False))
    assert rocmcfg("rollback", "--to", "1", "--root", sample, "--yes").code == 0
    assert tree(sample, state=False) == trees[0]
    missing = rocmcfg("rollback", "--to", "3", "--root", sample, "--yes", "--json")
    assert missing.code == 1
    assert missing.ids == ["RC4024"]
    assert rocmcfg("rollback", "--to", "0", "--root", sample, "--yes").code == 0
    nothing = rocmcfg("rollback", "--root", sample, "--yes")
    assert (nothing.code, nothing.out) == (0, "Nothing to roll back: no transaction is applied.\n")


def test_history_tells_each_transaction_and_what_became_of_it(sample: Path) -> None:
    assert rocmcfg("history", "--root", sample).out == "No transaction yet.\n"
    rocmcfg("apply", "--profile", "auto", "--root", sample, "--yes")
    rocmcfg("apply", "--set", "karg.iommu=pt", "--root", sample, "--yes")
    rocmcfg("rollback", "--root", sample, "--yes")
    rows = rocmcfg("history", "--root", sample, "--json").document["transactions"]
    assert [(r["transaction"], r["state"], r["profiles"]) for r in rows] == [
        (2, "rolled_back", []),
        (1, "committed", ["gfx1201"]),
    ]
    assert f"/{DROP_IN}" in rows[1]["files"]
    text = rocmcfg("history", "--root", sample, "-v").out
    assert "rolled back" in text
    assert "karg.iommu=pt" in text
    assert "karg.iommu=pt" in rocmcfg("history", "--root", sample).out, "what --set asked for has no profile"
    second = rocmcfg("history", "2", "--root", sample)
    assert "Transaction 2" in second.out
    assert "gfx1201" not in second.out
    assert [
        d["transaction"] for d in rocmcfg("history", "2", "--root", sample, "--json").document["transactions"]
    ] == [2]
    assert rocmcfg("history", "7", "--root", sample, "--json").ids == ["RC4024"]


def test_status_says_what_is_in_force_and_what_comes_next(sample: Path) -> None:
    found = rocmcfg("status", "--root", sample)
    assert found.code == 0
    assert "none applied" in found.out
    assert "Next: rocmcfg plan --profile gfx1201" in found.out
    rocmcfg("apply", "--profile", "auto", "--root", sample, "--yes")
    said = unfolded(rocmcfg("status", "--root", sample).out)
    counts = r"\d+ open, 1 worked around after the next boot, (\d+ worked around, )?\d+ only reported"
    assert re.search(rf"{counts}: rocmcfg issues --root {re.escape(str(sample))}", said)
    assert "amdgpu.cwsr_enable=0 pending activation: hipBLASLt of ROCm 7.0 and 7.1" in said
    simulate(sample, "--update-grub")
    found = rocmcfg("status", "--root", sample, "--json")
    assert found.document["reboot_required"] is True
    assert found.document["profiles"] == ["gfx1201"]
    assert "Next: reboot, then rocmcfg verify --root" in rocmcfg("status", "--root", sample, "-v").out
    simulate(sample)
    assert "in effect: all 4 settings" in rocmcfg("status", "--root", sample).out
    # ROCm is updated: the workaround may go, and status says so
    shutil.rmtree(sample / "opt/rocm-7.1.0")
    (sample / "opt/rocm").unlink()
    (sample / "opt/rocm/.info").mkdir(parents=True)
    (sample / "opt/rocm/.info/version").write_text("7.2.0-1\n")
    found = rocmcfg("status", "--root", sample, "--json")
    assert [u["setting"] for u in found.document["unnecessary"]] == ["amdgpu.cwsr_enable"]
    assert "no longer needed" in rocmcfg("status", "--root", sample).out


def test_a_question_is_asked_and_no_is_its_default(sample: Path) -> None:
    before = tree(sample, state=False)
    for answer in ("\n", "n\n", "", "perhaps\n"):
        asked = rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", sample, answer=answer)
        assert asked.code == 1, "nothing was done, and a script must see that"
        assert "? [y/N]" in asked.err
        assert "Nothing was changed." in asked.out
    assert tree(sample, state=False) == before
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", sample, answer="y\n").code == 0
    declined = rocmcfg("rollback", "--root", sample, answer="\n")
    assert declined.code == 1
    assert "Roll back? [y/N]" in declined.err
    assert "Nothing was changed." in declined.out
    assert (sample / DROP_IN).exists()
    assert rocmcfg("rollback", "--root", sample, answer="yes\n").code == 0
    assert not (sample / DROP_IN).exists()


def test_dry_run_is_the_plan(sample: Path) -> None:
    before = tree(sample)
    dry = rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", sample, "--dry-run", "--json").document
    planned = rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", sample, "--json").document
    assert {**dry, "command": ""} == {**planned, "command": ""}
    assert tree(sample) == before


def test_the_receipt_is_for_everybody_and_the_journal_for_root_alone(sample: Path) -> None:
    rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", sample, "--yes")
    state = sample / "var/lib/rocmcfg"
    modes = {name: (state / name).stat().st_mode & 0o777 for name in ("receipt.json", "transactions")}
    assert modes == {"receipt.json": 0o644, "transactions": 0o700}
    assert state.stat().st_mode & 0o777 == 0o711
    for folder, _, files in os.walk(state / "transactions"):
        assert Path(folder).stat().st_mode & 0o077 == 0
        assert all(Path(folder, name).stat().st_mode & 0o077 == 0 for name in files)
    assert json.loads((state / "receipt.json").read_text())["schema_version"] == 1


def test_a_failed_question_leaves_no_state_directory(sample: Path) -> None:
    rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", sample, answer="n\n")
    assert not (sample / "var/lib/rocmcfg").exists()


def test_a_kernel_that_is_installed_later_is_checked_and_what_would_stop_it_withdrawn(
    tmp_path: Path,
) -> None:
    """enforce_isolation is bool up to 6.12 and int later: 2 would keep the older driver from loading."""
    root = debian_grub_host(tmp_path, kernels=("6.16.3+deb13-amd64",))
    settings = ("--set", "amdgpu.enforce_isolation=2", "--set", "amdgpu.runpm=0")
    assert rocmcfg("apply", *settings, "--root", root, "--yes").code == 0
    make_root(tmp_path, kernel_modules("6.12.107+deb13-amd64"))
    assert rocmcfg("check-kernel", "6.99.0-none", "--root", root, "--json").ids == ["RC4040"]
    found = rocmcfg("check-kernel", "6.12.107+deb13-amd64", "--root", root, "--json")
    assert found.code == 0
    assert found.ids == ["RC2104", "RC4042"]
    text = (root / DROP_IN).read_text()
    assert "amdgpu.runpm=0" in text
    assert "enforce_isolation" not in text


def test_a_kernel_that_lacks_a_parameter_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.16.3+deb13-amd64",))
    assert rocmcfg("check-kernel", "6.16.3+deb13-amd64", "--root", root).code == 0
    assert rocmcfg("apply", "--set", "amdgpu.seamless=1", "--root", root, "--yes").code == 0
    make_root(tmp_path, kernel_modules("6.1.0-47-amd64"))
    before = tree(root)
    found = rocmcfg("check-kernel", "6.1.0-47-amd64", "--root", root, "--json")
    assert (found.code, found.ids) == (0, ["RC4041"])
    assert rocmcfg("check-kernel", "6.16.3+deb13-amd64", "--root", root, "--json").ids == []
    assert tree(root) == before


def test_a_host_that_another_program_builds_is_told_commands_that_work_on_it(tmp_path: Path) -> None:
    lay_out(read(CASES / "nixos/rendered"), tmp_path)
    root = tmp_path / "host"
    wanted = f"--profile gfx1201 --root {root}"
    said = unfolded(rocmcfg("status", "--root", root).out).replace("\\ ", "")
    named = [f"rocmcfg render --format nixos {wanted}", f"rocmcfg verify {wanted}"]
    assert said.endswith(f"Next: {named[0]} Then: {named[1]}")
    for verb in ("plan", "verify"):
        refused = unfolded(rocmcfg(verb, *shlex.split(wanted)).err)
        assert [f"`{command}`" in refused for command in named] == [True, True], (verb, refused)
    assert rocmcfg(*shlex.split(named[0])[1:]).code == 0
