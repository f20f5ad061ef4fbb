"""undo.sh on a host where a pipe lies in the place of what it reads: nobody writes into it, and nobody
waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.packaging.test_undo_trust import SHELLS, undo
from tests.support.hosts import debian_grub_host
from tests.support.trees import tree

OURS = "# Written by rocmcfg\n"
RECORDS = ("var/lib/rocmcfg/receipt.json", "var/lib/rocmcfg/trial.json", "var/lib/rocmcfg/undo.unfinished")
READ = (
    "etc/fstab",
    "etc/machine-id",
    "etc/default/grub",
    "etc/default/grub.d/other.cfg",
    "etc/kernel/cmdline",
    "etc/environment",
    "etc/mkinitcpio.d/linux.preset",
    "boot/grub/user.cfg",
    "boot/grub/grub.cfg",
    "boot/grub/grubenv",
    "boot/loader/entries/one.conf",
    "boot/EFI/Linux/one.efi",
    "boot/limine.conf",
    "var/lib/rocmcfg/lock",
    "var/lib/rocmcfg/transactions/000001/journal.jsonl",
)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """With files of rocmcfg that no program makes anything of, and an entry that may name another system."""
    root = debian_grub_host(tmp_path)
    for name in ("etc/profile.d/zz-rocmcfg.sh", "etc/rocmcfg/env"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(OURS)
    entry = root / "boot/loader/entries/two.conf"
    entry.parent.mkdir(parents=True)
    entry.write_text("title Two\nmachine-id 0123456789abcdef0123456789abcdef\noptions root=/dev/sda2 quiet\n")
    (root / "var/lib/rocmcfg").mkdir(parents=True)
    return root


def _pipe(root: Path, name: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@SHELLS
@pytest.mark.parametrize("name", READ)
def test_a_pipe_holds_nothing_of_anybody(host: Path, name: str, shell: tuple[str, ...]) -> None:
    _pipe(host, name)
    left = undo(host, "left", shell=shell)
    assert left.returncode == 0, left.stderr
    assert set(left.stdout.split()) == {"/etc/profile.d/zz-rocmcfg.sh", "/etc/rocmcfg/env"}
    done = undo(host, shell=shell)
    assert done.returncode == 0, done.stderr
    assert not (host / "etc/profile.d/zz-rocmcfg.sh").exists()
    assert "var/lib/rocmcfg" in name or (host / name).is_fifo()


@SHELLS
@pytest.mark.parametrize("name", RECORDS)
def test_a_pipe_among_our_records_is_refused(host: Path, name: str, shell: tuple[str, ...]) -> None:
    _pipe(host, name)
    before = tree(host)
    done = undo(host, shell=shell)
    assert done.returncode == 1, done.stdout
    assert f"{host / name} is no regular file" in done.stderr
    assert tree(host) == before


@pytest.mark.parametrize("name", ["etc/default/grub", "etc/default/grub.d/other.cfg", "etc/kernel/cmdline"])
def test_a_pipe_asks_for_no_argument(host: Path, name: str) -> None:
    """The menu has an argument that a rollback took back, and no file of its owner asks for it."""
    folder = host / "var/lib/rocmcfg/transactions/000001"
    folder.mkdir(parents=True)
    begin = '{"expect":{"added":["amdgpu.runpm=0"],"backend":"grub"},"kind":"begin"}'
    ran = '{"kind":"activation","tool":"update-grub"}'
    (folder / "journal.jsonl").write_text(f'{begin}\n{ran}\n{{"kind":"undone"}}\n')
    menu = host / "boot/grub/grub.cfg"
    menu.write_text(
        "### BEGIN /etc/grub.d/10_linux ###\nlinux /vmlinuz amdgpu.runpm=0\n"
        "### END /etc/grub.d/10_linux ###\n"
    )
    _pipe(host, name)
    done = undo(host)
    assert done.returncode == 1, done.stdout
    assert "the boot menu is not yet" in done.stderr


def test_a_pipe_behind_a_link_is_none_that_is_read(host: Path) -> None:
    """A link of the tree leads to the tree's own /dev."""
    _pipe(host, "dev/console")
    (host / "etc/fstab").unlink(missing_ok=True)
    (host / "etc/fstab").symlink_to("/dev/console")
    done = undo(host)
    assert done.returncode == 0, done.stderr
