"""`rollback --dry-run` tells what rollback then does, and does nothing itself; when a reboot is due."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.change.transaction.undo import plan_rollback
from rocmcfg.host.local import LocalHost
from rocmcfg.records import journal
from tests.planning.test_planning import ReadOnly
from tests.support import fake_tools, usecases
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, command, process, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.trees import tree, with_directory_times

DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
BOOT = "proc/sys/kernel/random/boot_id"


def apply(root: Path, *settings: str, **more: Any) -> None:
    usecases.apply(QuickHost(str(root)), set=settings, **more)


def run(verb: str, root: Path, *options: str) -> dict[str, Any]:
    found = rocmcfg(verb, "--root", root, "--json", *options, tools=root)
    assert found.code == 0, found.out
    return found.document


def reboot(root: Path, **parameters: str) -> None:
    """The next boot: a new id, the command line of the menu, and what the driver then shows."""
    (root / BOOT).write_text(f"{os.urandom(8).hex()}\n")
    menu = (root / "boot/grub/grub.cfg").read_text()
    line = next(line for line in menu.splitlines() if line.lstrip().startswith("linux"))
    (root / "proc/cmdline").write_text(line.split(None, 2)[2] + "\n")
    for name, value in parameters.items():
        (root / "sys/module/amdgpu/parameters" / name).write_text(f"{value}\n")


# -- the dry run ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--to", "1"), ("--pristine",)])
def test_the_dry_run_tells_just_what_the_rollback_then_does(tmp_path: Path, options: tuple[str, ...]) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    apply(root, "amdgpu.runpm=0", "env.HSA_XNACK=1")
    apply(root, "amdgpu.runpm=1", "karg.iommu=pt")
    apply(root, "amdgpu.noretry=0", via="modprobe")
    before = tree(root, state=False)
    told = run("rollback", root, "--dry-run", *options)
    assert {a["state"] for a in told["activations"]} == {"planned"}
    done = run("rollback", root, "--yes", *options)
    after = tree(root, state=False)
    changed = {f"/{path}" for path in {*before, *after} if before.get(path) != after.get(path)}
    files = {path for path in changed if not path.startswith("/boot/") and (root / path[1:]).is_file()}
    gone = {path for path in changed if f"{path}"[1:] not in after and not path.startswith("/boot/")}
    assert {c["path"] for c in told["changes"]} >= files
    assert {c["path"] for c in told["changes"] if c["kind"] == "remove"} <= gone
    for change in told["changes"]:
        place = root / change["path"][1:]
        assert (place.read_text() if place.exists() else None) == change["after"], change["path"]
    assert done["changes"] == told["changes"]
    assert done["transactions"] == told["transactions"]
    assert [a["tool"] for a in done["activations"]] == [a["tool"] for a in told["activations"]]
    assert done["reboot_required"] == told["reboot_required"]


def test_the_dry_run_refuses_what_the_rollback_refuses(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    apply(root, "amdgpu.runpm=0")
    with (root / DROP_IN).open("a") as stream:
        stream.write("# mine\n")
    for options in (("--dry-run",), ("--yes",)):
        found = rocmcfg("rollback", "--root", root, "--json", *options)
        assert (found.code, found.ids) == (1, ["RC4022"])
    assert rocmcfg("rollback", "--root", root, "--dry-run", "--to", "7").code == 1
    forced = run("rollback", root, "--dry-run", "--force")
    assert "-# mine" in next(c["diff"] for c in forced["changes"] if c["path"] == f"/{DROP_IN}")


def test_a_link_and_bytes_that_are_no_text_are_told_as_they_are(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    apply(root, "amdgpu.runpm=0", "env.HSA_XNACK=1")
    (root / DROP_IN).unlink()
    (root / DROP_IN).symlink_to("/etc/fstab")
    (root / "etc/rocmcfg/env").write_bytes(b"\xff\x00\n")
    told = run("rollback", root, "--dry-run", "--force")
    kinds = {c["path"]: (c["kind"], c["reason"]) for c in told["changes"]}
    assert kinds[f"/{DROP_IN}"] == ("remove", "as it was before transaction 1, in place of a symbolic link")
    assert kinds["/etc/rocmcfg/env"][0] == "remove"
    text = rocmcfg("rollback", "--root", root, "--dry-run", "--force")
    assert "Dry run: nothing was changed." in text.out


def test_without_the_right_to_read_the_journals_it_says_so(tmp_path: Path) -> None:
    class Hidden(LocalHost):
        def hidden(self, path: str) -> bool:
            return path == "/var/lib/rocmcfg/transactions"

    with pytest.raises(Exception, match="cannot read /var/lib/rocmcfg/transactions") as stop:
        plan_rollback(Hidden(str(tmp_path)), to=None, force=False)
    assert "as root" in stop.value.diagnostics[0].hint  # type: ignore[attr-defined]


# -- nothing is written ---------------------------------------------------------------------------------

READERS = (
    ("rollback", "--dry-run"),
    ("rollback", "--dry-run", "--pristine", "--json"),
    ("apply", "--dry-run", "--set", "amdgpu.runpm=1"),
    ("apply", "--dry-run", "--set", "env.HSA_XNACK=1", "--json"),
    ("plan", "--profile", "rdna4"),
    ("verify",),
    ("status",),
    ("status", "--json"),
    ("history",),
    ("report",),
    ("lint",),
)


@pytest.mark.parametrize("applied", [True, False])
def test_what_only_reads_leaves_no_trace(tmp_path: Path, applied: bool) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    if applied:
        apply(root, "amdgpu.runpm=0", via="modprobe")
    before = with_directory_times(root)
    for reader in READERS:
        assert rocmcfg(*reader, "--root", root, tools=root).code in (0, 3, 6), reader
        assert with_directory_times(root) == before, reader


def test_a_rollback_is_planned_from_a_view_that_cannot_write(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    apply(root, "amdgpu.runpm=0", via="modprobe")
    view: Any = ReadOnly(QuickHost(str(root)))
    assert plan_rollback(view, to=None, force=False).changes


@pytest.mark.skipif(
    os.geteuid() != 0
    or not shutil.which("unshare")
    or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0,
    reason="needs root and mount namespaces",
)
def test_a_read_only_root_can_be_looked_at(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    apply(root, "amdgpu.runpm=0")
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && "$@"'
    for reader in (*READERS[:3], ("verify",), ("status",)):
        inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", str(root)]
        found: Result = process([*inside, *command(*reader, "--root", root)])
        assert found.code in (0, 6), (reader, found.err)
    usecases.rollback(QuickHost(str(root)))
    shutil.rmtree(root / "var/lib/rocmcfg/transactions")
    (root / "var/lib/rocmcfg/transactions").mkdir()
    found = process([*inside, *command("rollback", "--dry-run", "--root", root)])
    assert (found.code, found.out.partition(":")[0]) == (0, "Nothing to roll back"), found.err


# -- whether a reboot is due ----------------------------------------------------------------------------


def test_a_reboot_stays_due_until_it_happened(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    wanted = ("--set", "amdgpu.runpm=0", "--yes")
    for _ in range(3):
        assert run("apply", root, *wanted)["reboot_required"], "the running kernel does not have it"
    reboot(root, runpm="0")
    assert not run("apply", root, *wanted)["reboot_required"]
    for _ in range(3):
        assert run("rollback", root, "--yes")["reboot_required"], "the running kernel still has it"
        assert run("rollback", root, "--dry-run")["reboot_required"]
        assert run("status", root)["reboot_required"]
    reboot(root, runpm="-1")
    assert not run("rollback", root, "--yes")["reboot_required"]
    assert not run("status", root)["reboot_required"]


@pytest.mark.parametrize("via", ["cmdline", "modprobe"])
def test_what_a_later_apply_gives_up_needs_its_reboot_too(tmp_path: Path, via: str) -> None:
    root = debian_grub_host(tmp_path)
    both = ("--set", "amdgpu.runpm=0", "--set", "amdgpu.noretry=0", "--via", via, "--yes")
    run("apply", root, *both)
    reboot(root, runpm="0", noretry="0")
    assert not run("apply", root, *both)["reboot_required"]
    less = ("--set", "amdgpu.runpm=0", "--via", via, "--yes")
    for _ in range(2):
        assert run("apply", root, *less)["reboot_required"], "noretry=0 is still in the running kernel"
    assert not run("apply", root, *both)["reboot_required"], "it is as this boot began"
    run("apply", root, *less)
    reboot(root, noretry="-1")
    assert not run("apply", root, *less)["reboot_required"]


def test_what_was_never_booted_needs_no_reboot_to_go(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    run("apply", root, "--set", "amdgpu.runpm=0", "--yes")
    assert not run("rollback", root, "--yes")["reboot_required"]
    run("apply", root, "--set", "amdgpu.runpm=0", "--yes")
    run("apply", root, "--set", "amdgpu.runpm=1", "--yes")
    assert run("rollback", root, "--yes")["reboot_required"], "transaction 2 waits for its boot"
    run("apply", root, "--set", "env.HSA_XNACK=1", "--yes")
    assert not run("rollback", root, "--pristine", "--yes")["reboot_required"]


@pytest.mark.parametrize("via", ["cmdline", "modprobe"])
def test_a_value_that_no_boot_can_bring_asks_for_no_reboot_for_ever(tmp_path: Path, via: str) -> None:
    """The driver replaced it when it started, or is not loaded at all."""
    root = debian_grub_host(tmp_path)
    wanted = ("--set", "amdgpu.runpm=0", "--via", via, "--yes")
    assert run("apply", root, *wanted)["reboot_required"]
    reboot(root, runpm="-2")
    assert not run("apply", root, *wanted)["reboot_required"]
    shutil.rmtree(root / "sys/module/amdgpu")
    assert not run("apply", root, *wanted)["reboot_required"]


def test_arguments_that_add_up_and_flags_are_told_apart(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    wanted = ("--set", "karg.pci=realloc=off", "--set", "karg.nomodeset", "--yes")
    assert run("apply", root, *wanted)["reboot_required"]
    reboot(root)
    assert not run("apply", root, *wanted)["reboot_required"]
    other = ("--set", "karg.pci=nommconf", "--set", "karg.nomodeset", "--yes")
    for _ in range(2):
        assert run("apply", root, *other)["reboot_required"]


def test_what_a_power_cut_left_in_the_running_kernel_is_told_by_recover(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    apply(root, "amdgpu.runpm=0")
    journal = root / "var/lib/rocmcfg/transactions/000001/journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"commit"' not in line))
    reboot(root, runpm="0")
    assert run("recover", root)["reboot_required"]
    assert run("rollback", root, "--dry-run")["reboot_required"]
    reboot(root, runpm="-1")
    assert not run("recover", root)["reboot_required"]


def test_an_apply_that_left_the_menu_to_the_user_is_undone_in_the_menu_too(tmp_path: Path) -> None:
    """An image is prepared with --root, its own update-grub run later; the booted host then rolls back."""
    root = debian_grub_host(tmp_path)
    usecases.apply(LocalHost(str(root)), set=("amdgpu.runpm=0",))
    fake_tools.update_grub(root)
    assert "amdgpu.runpm=0" in (root / "boot/grub/grub.cfg").read_text()
    told = run("rollback", root, "--dry-run")
    assert [a["tool"] for a in told["activations"]] == ["update-grub"]
    done = run("rollback", root, "--yes")
    assert [(a["tool"], a["state"]) for a in done["activations"]] == [("update-grub", "done")]
    assert "amdgpu.runpm=0" not in (root / "boot/grub/grub.cfg").read_text()


def test_without_programs_the_saved_menu_comes_back_as_one_of_the_files(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    menu = root / "boot/grub/grub.cfg"
    before = [menu.read_text()]
    for setting in ("amdgpu.runpm=0", "amdgpu.cwsr_enable=0"):
        apply(root, setting)
        before.append(menu.read_text())
    assert len(set(before)) == 3
    for options, left in ((("--to", "1"), 1), (("--pristine",), 0)):
        told = rocmcfg("rollback", "--root", root, "--dry-run", "--json", *options).document
        done = rocmcfg("rollback", "--root", root, "--yes", "--json", *options).document
        assert told["changes"] == done["changes"]
        (said,) = [one for one in done["changes"] if one["path"] == "/boot/grub/grub.cfg"]
        assert (said["kind"], said["after"]) == ("modify", before[left])
        assert menu.read_text() == before[left]
        assert [told["activations"], done["activations"], done["diagnostics"]] == [[], [], []]


def test_what_was_put_back_twice_is_named_as_it_is_in_the_end(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    menu = root / "boot/grub/grub.cfg"
    before = menu.read_text()
    apply(root, "amdgpu.runpm=0")
    apply(root, "amdgpu.cwsr_enable=0")
    done = rocmcfg("rollback", "--root", root, "--yes", "--pristine", "--json").document
    (said,) = [one for one in done["changes"] if one["path"] == "/boot/grub/grub.cfg"]
    assert (said["after"], menu.read_text()) == (before, before)
    assert "before transaction 1" in said["reason"]


@pytest.mark.parametrize("made_anew", [False, True])
def test_without_programs_none_is_left_to_run_where_the_menu_has_nothing_of_ours(
    tmp_path: Path, made_anew: bool
) -> None:
    """Prepared with --root and taken back, before or after the user ran update-grub."""
    root = debian_grub_host(tmp_path)
    offline = ("--root", root, "--yes", "--json")
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", *offline).code == 0
    if made_anew:
        fake_tools.update_grub(root)
    left = [("update-grub", "left_to_user")] if made_anew else []
    told = rocmcfg("rollback", "--dry-run", *offline).document
    assert [one["tool"] for one in told["activations"]] == [tool for tool, _ in left]
    done = rocmcfg("rollback", *offline)
    assert [(one["tool"], one["state"]) for one in done.document["activations"]] == left
    assert done.ids == (["RC4016"] if made_anew else [])


def test_a_menu_that_somebody_made_without_our_arguments_needs_no_program(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    menu = root / "boot/grub/grub.cfg"
    apply(root, "amdgpu.runpm=0")
    menu.write_text(menu.read_text().replace(" amdgpu.runpm=0", "") + "# by hand\n")
    done = rocmcfg("rollback", "--root", root, "--yes", "--json")
    assert (done.document["activations"], done.ids) == ([], [])
    assert menu.read_text().endswith("# by hand\n"), "what somebody made anew is not put back"


def test_what_looks_like_another_loaders_entry_and_cannot_be_read_is_no_obstacle(tmp_path: Path) -> None:
    """It may come after the apply, and no loader of this host reads it."""
    root = debian_grub_host(tmp_path)
    before = tree(root, state=False, times=False)
    apply(root, "karg.iommu=pt")
    (root / "boot/loader/entries/x.conf").mkdir(parents=True)
    run("rollback", root, "--yes")
    shutil.rmtree(root / "boot/loader")
    assert tree(root, state=False, times=False) == before


def test_an_apply_takes_away_what_a_cut_of_an_earlier_one_left_of_its_files(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    apply(root, "amdgpu.runpm=0")
    left = [
        root / journal.folder(1).lstrip("/") / "backups/.abc.rocmcfg-new",
        root / "etc/modprobe.d/.zz-rocmcfg.conf.rocmcfg-new",
        root / "var/lib/rocmcfg/.receipt.json.rocmcfg-new",
    ]
    foreign = root / "etc/modprobe.d/.another.conf.rocmcfg-new"
    for path in (*left, foreign):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    apply(root, "amdgpu.mes=0")
    assert [path for path in left if path.exists()] == []
    assert foreign.exists(), "it is beside no file of ours"


def test_a_rollback_of_nothing_ends_well_where_programs_can_be_run(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    before = with_directory_times(root)
    assert run("rollback", root, "--yes")["transactions"] == []
    assert with_directory_times(root) == before
