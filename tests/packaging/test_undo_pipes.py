"""undo.sh on a host where a pipe lies in the place of what it reads: nobody writes into it, and nobody
waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocmcfg.change.transaction import undo_script
from rocmcfg.loaders.shared import loader_entries
from tests.packaging.test_undo_trust import FACTS as FILES
from tests.packaging.test_undo_trust import SHELLS, undo
from tests.support.hosts import debian_grub_host
from tests.support.trees import tree

OURS = "# Written by rocmcfg\n"
FACTS = (
    *FILES,
    *(("edited", path, "", "") for path in ("/etc/default/grub", "/etc/kernel/cmdline", "/etc/environment")),
    ("file", "/boot/grub/user.cfg"),
    ("mount_point", "/boot"),
    ("entries", *loader_entries.PATTERNS, "/boot/limine.conf"),
    ("images", "/boot/EFI/Linux/*.efi"),
    ("armed", "/boot/grub/grubenv", "rocmcfg_next=", "true"),
    ("sealed", "limine.conf", "SUM", "mend it", "/boot/EFI/Linux/*.efi"),
)
RECORDS = ("var/lib/rocmcfg/receipt.json", "var/lib/rocmcfg/trial.json", "var/lib/rocmcfg/undo.unfinished")
READ = (
    "etc/fstab",
    "etc/machine-id",
    "etc/default/grub",
    "etc/kernel/cmdline",
    "etc/environment",
    "boot/grub/user.cfg",
    "boot/grub/grubenv",
    "boot/loader/entries/one.conf",
    "boot/EFI/Linux/one.efi",
    "boot/limine.conf",
    "var/lib/rocmcfg/lock",
    "var/lib/rocmcfg/undo.sh",
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
    for name in (undo_script.PATH, undo_script.COPY):
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(undo_script.script(FACTS))
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
    assert f"{host / name} is not a regular file" in done.stderr
    assert tree(host) == before


def test_a_pipe_behind_a_link_is_none_that_is_read(host: Path) -> None:
    """A link of the tree leads to the tree's own /dev."""
    _pipe(host, "dev/console")
    (host / "etc/fstab").unlink(missing_ok=True)
    (host / "etc/fstab").symlink_to("/dev/console")
    done = undo(host)
    assert done.returncode == 0, done.stderr
