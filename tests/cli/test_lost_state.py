"""The receipt, the journals or both were damaged, removed, or belong to somebody else: what each command says
then, and that an apply puts it right."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host, other_host
from tests.support.program import SOURCE, as_nobody, command, rocmcfg, tool_command, unfolded
from tests.support.tool_host import QuickHost
from tests.support.trees import tree
from tests.support.usecases import apply as quick_apply

DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
RECEIPT = "var/lib/rocmcfg/receipt.json"
COPY = "var/backups/rocmcfg/undo.sh"
RUNPM = ("--set", "amdgpu.runpm=0")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


@pytest.fixture
def applied(tmp_path: Path) -> Path:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    quick_apply(QuickHost(str(root)), set=("amdgpu.runpm=0",))
    return root


def _damage(receipt: Path) -> None:
    receipt.write_text('{"schema_version": 1}')


@pytest.mark.parametrize("harm", [_damage, Path.unlink], ids=["damaged", "missing"])
def test_the_same_apply_mends_the_receipt(applied: Path, tools: Path, harm: Callable[[Path], None]) -> None:
    before = tree(applied, state=False)
    harm(applied / RECEIPT)
    again = rocmcfg("apply", "--yes", *RUNPM, "--json", "--root", applied, tools=tools)
    assert again.code == 0, again.err
    assert again.document["transaction"] == 2
    assert rocmcfg("verify", "--root", applied).code == 6
    once_more = rocmcfg("apply", "--yes", *RUNPM, "--json", "--root", applied, tools=tools)
    assert once_more.document["transaction"] is None, "and then there is nothing to mend"
    assert tree(applied, state=False) == before


@pytest.mark.parametrize("which", [(), ("--pristine",)])
def test_a_damaged_receipt_is_nobodys_edit(applied: Path, tools: Path, which: tuple[str, ...]) -> None:
    _damage(applied / RECEIPT)
    found = rocmcfg("rollback", "--yes", *which, "--root", applied, tools=tools)
    assert found.code == 0, found.err
    assert not (applied / DROP_IN).exists()
    assert not (applied / RECEIPT).exists()


def test_files_without_any_record_are_an_error_that_says_how_on(applied: Path, tools: Path) -> None:
    shutil.rmtree(applied / "var/lib/rocmcfg")
    found = rocmcfg("verify", "--json", "--root", applied)
    assert (found.code, found.document["status"], found.ids) == (3, "differences", ["RC4027"])
    status = rocmcfg("status", "--root", applied)
    assert "RC4027" in status.err
    assert "none applied" not in status.out
    refused = rocmcfg("rollback", "--yes", "--root", applied, tools=tools)
    assert refused.code == 1
    said = " ".join(refused.err.split())
    assert f"/{DROP_IN}" in said
    assert f"sudo sh {applied}/{COPY}" in said, "not for the system that runs"
    assert rocmcfg("plan", *RUNPM, "--json", "--root", applied).ids[:1] == ["RC4027"]

    assert rocmcfg("apply", "--yes", *RUNPM, "--root", applied, tools=tools).code == 0
    assert rocmcfg("verify", "--root", applied).code == 6
    undone = rocmcfg("rollback", "--yes", "--json", "--root", applied, tools=tools)
    assert (undone.code, undone.ids) == (0, ["RC4026"]), "what it cannot take away, it says"
    assert undone.document["takes_back"] == []


def test_the_script_that_needs_no_record_is_named_where_it_lies(applied: Path, tools: Path) -> None:
    shutil.rmtree(applied / "var/lib/rocmcfg")
    refused = rocmcfg("rollback", "--yes", "--root", applied, tools=tools)
    assert f"remove them manually: sudo sh {applied / COPY}" in " ".join(refused.err.split())
    subprocess.run(["sh", applied / COPY], capture_output=True, check=False)  # update-grub is the user's
    assert not (applied / DROP_IN).exists()


def test_where_no_script_is_left_an_apply_writes_one(applied: Path, tools: Path) -> None:
    shutil.rmtree(applied / "var")
    refused = rocmcfg("rollback", "--yes", "--root", applied, tools=tools)
    printed = " ".join(refused.err.split())
    assert (
        f"with your profile writes a script that does it: sudo sh {applied}/var/lib/rocmcfg/undo.sh"
        in printed
    )
    assert rocmcfg("apply", "--yes", *RUNPM, "--root", applied, tools=tools).code == 0
    script = ["sh", str(applied / "var/lib/rocmcfg/undo.sh")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert "  update-grub\n" in done.stderr, "the menu has it, although this apply made none"
    assert not (applied / DROP_IN).exists()


def test_a_lost_receipt_leads_to_the_journals(applied: Path) -> None:
    (applied / RECEIPT).unlink()
    said = " ".join(rocmcfg("verify", "--root", applied).err.split())
    assert "there is no record of what they should contain" in said
    assert "undoes the last transaction" in said


# -- interrupted ---------------------------------------------------------------------------------------

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has files that others may not read")


@pytest.fixture
def interrupted(tmp_path: Path, tools: Path) -> Path:
    """Killed in its first apply, at update-grub."""
    root = debian_grub_host(tmp_path)
    tool = tools / "update-grub"
    tool.write_text(f"#!/bin/sh\ntouch {tmp_path}/there\nwhile [ -e {tmp_path}/there ]; do sleep 0.5; done\n")
    tool.chmod(0o755)
    argv = tool_command(tools, "apply", "--yes", *RUNPM, "--root", root)
    with subprocess.Popen(argv, cwd=SOURCE, start_new_session=True, stdout=subprocess.DEVNULL) as running:
        while not (tmp_path / "there").exists():
            assert running.poll() is None
            time.sleep(0.02)
        running.kill()
    (tmp_path / "there").unlink()
    tool.unlink()
    return root


def test_a_plan_of_an_interrupted_host_says_so_and_status_what_comes_next(interrupted: Path) -> None:
    found = rocmcfg("plan", *RUNPM, "--json", "--root", interrupted)
    assert (found.code, found.ids[0]) == (0, "RC4021")
    assert found.document["diagnostics"][0]["severity"] == "warning"
    status = rocmcfg("status", "--root", interrupted)
    assert f"help: run `rocmcfg recover --chroot --root {interrupted}`" in unfolded(status.err)
    assert "none applied" not in status.out


@needs_root
def test_a_user_is_told_that_root_knows(interrupted: Path, tools: Path) -> None:
    _reachable(interrupted)
    found = as_nobody(command("verify", "--json", "--root", interrupted))
    assert (found.code, found.ids) == (3, ["RC4027"])
    assert "as root to find out" in found.document["diagnostics"][0]["hint"]
    status = as_nobody(command("status", "--json", "--root", interrupted))
    assert (status.code, status.document["status"]) == (0, "differences")
    assert "RC4027" in status.ids
    assert rocmcfg("recover", "--root", interrupted, tools=tools).code == 0
    clean = as_nobody(command("status", "--json", "--root", interrupted))
    assert clean.ids == ["RC5002", "RC5003"], "of what was taken back, root's journals tell"
    assert "RC5003" not in rocmcfg("status", "--json", "--root", interrupted).ids


@needs_root
@pytest.mark.parametrize(
    ("host", "hides"), [("systemd-boot-kernel-install", "/boot/efi"), ("fedora-bls", "/boot/loader")]
)
def test_a_folder_of_roots_alone_holds_nothing_of_ours(tmp_path: Path, host: str, hides: str) -> None:
    """As most EFI system partitions are, and Fedora's boot entries."""
    root = other_host(tmp_path, host)
    _reachable(root)
    Path(f"{root}{hides}").chmod(0o700)
    assert "RC4027" not in as_nobody(command("status", "--json", "--root", root)).ids
    said = as_nobody(command("plan", *RUNPM, "--root", root)).err
    assert f"error[RC3014]: only root may read {hides}: run the command as root" in said


@needs_root
def test_recover_on_a_disk_that_is_read_only_leaves_recovery_required(interrupted: Path) -> None:
    state = interrupted / "var/lib/rocmcfg"
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
    argv = ["unshare", "-m", "sh", "-c", script, "sh", str(state)]
    argv += command("recover", "--json", "--root", interrupted)
    done = subprocess.run(argv, cwd=SOURCE, capture_output=True, text=True, check=False)
    if "permission denied" in done.stderr:
        pytest.skip("no right to mount")
    assert done.returncode == 5, done.stderr
    assert "recovery_required" in done.stdout
    assert "read-only" in done.stdout


def _reachable(path: Path) -> None:
    """pytest's own directories are 0700."""
    for parent in path.parents:
        if parent.owner() == "root" and parent not in (Path("/"), Path("/tmp")):
            parent.chmod(parent.stat().st_mode | 0o055)


def test_status_says_reboot_where_apply_does(tmp_path: Path) -> None:
    """Also where update-grub is left to the user: the kernel has it after the next boot, not before."""
    root = debian_grub_host(tmp_path)
    applied = rocmcfg("apply", "--yes", *RUNPM, "--json", "--root", root)
    status = rocmcfg("status", "--json", "--root", root)
    assert applied.document["reboot_required"] is status.document["reboot_required"] is True
    assert "Next: reboot" not in rocmcfg("status", "--root", root).out, "update-grub comes first"


# -- foreign things in the place of the journals ---------------------------------------------------------

COMMANDS = (
    ("apply", "--yes", "--set", "amdgpu.runpm=1"),
    ("rollback", "--yes"),
    ("recover",),
    ("history",),
    ("verify",),
)


@pytest.mark.parametrize("harm", [Path.touch, lambda path: path.symlink_to("transactions")])
def test_something_else_in_the_place_of_the_journals_is_said(
    applied: Path, harm: Callable[[Path], None]
) -> None:
    journals = applied / "var/lib/rocmcfg/transactions"
    shutil.rmtree(journals)
    harm(journals)
    before = tree(applied)
    for verb in COMMANDS:
        found = rocmcfg(*verb, "--root", applied)
        assert found.code in (1, 5), verb
        assert "RC9000" not in found.err
        assert "/var/lib/rocmcfg/transactions" in found.err, verb
    assert rocmcfg("status", "--root", applied).code == 0
    assert tree(applied) == before


def test_a_name_that_is_no_number_is_no_transaction(applied: Path) -> None:
    (applied / "var/lib/rocmcfg/transactions/²").mkdir()
    assert rocmcfg("history", "--root", applied).code == 0
    assert rocmcfg("verify", "--root", applied).code == 6
