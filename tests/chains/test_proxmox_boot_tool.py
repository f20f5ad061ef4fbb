"""The look into partitions that are mounted for it alone: its script run by a real shell, its output read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rocmcfg.loaders import proxmox_boot_tool
from rocmcfg.loaders.shared.menu import Role

ENTRY = "title Proxmox\nversion 6.17\noptions  root=ZFS=rpool boot=zfs\nlinux /EFI/proxmox/6.17/vmlinuz-6.17"


def looked(tmp_path: Path, partitions: dict[str, dict[str, str]]) -> subprocess.CompletedProcess[str]:
    """`findmnt` says where each partition is mounted; one that it does not know cannot be mounted either."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for uuid, files in partitions.items():
        for name, text in files.items():
            path = tmp_path / uuid / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name, body in (
        ("findmnt", f'uuid=${{4#UUID=}}; [ -d "{tmp_path}/$uuid" ] && echo "{tmp_path}/$uuid"'),
        ("mount", 'echo "mount: cannot mount $3" >&2; exit 32'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    command = [
        "sh",
        "-c",
        proxmox_boot_tool._PRINT,
        "sh",
        *partitions,
        *(["DEAD-0000"] if not partitions else []),
    ]
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_every_entry_of_every_partition_is_read(tmp_path: Path) -> None:
    files = {"loader/entries/proxmox-6.17.conf": ENTRY, "loader/entries/memtest.conf": "efi /memtest.efi\n"}
    text = "### BEGIN /etc/grub.d/10_linux ###\nmenuentry 'PVE' {\n linux /vmlinuz-6.17 a=1\n}\n"
    menu = {"grub/grub.cfg": text}
    done = looked(tmp_path, {"AAAA-0001": files, "BBBB-0002": menu})
    assert done.returncode == 0, done.stderr
    found = list(proxmox_boot_tool._entries(done.stdout))
    assert [(entry.title, entry.role, [k.text for k in entry.kargs]) for entry in found] == [
        ("memtest  (AAAA-0001)", Role.FOREIGN, []),
        ("Proxmox 6.17 (AAAA-0001)", Role.NORMAL, ["root=ZFS=rpool", "boot=zfs"]),
        ("PVE (BBBB-0002)", Role.NORMAL, ["a=1"]),
    ]


def test_a_partition_that_cannot_be_mounted_is_a_failure(tmp_path: Path) -> None:
    done = looked(tmp_path, {})
    assert (done.returncode, done.stderr) == (1, "mount: cannot mount /dev/disk/by-uuid/DEAD-0000\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a mount namespace")
def test_what_is_mounted_there_nobody_else_sees() -> None:
    mounts = Path("/proc/self/mounts").read_text()
    script = "mount -t tmpfs none /mnt && : > /mnt/there && ls /mnt"
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no mount namespaces here: {done.stderr}")
    assert done.stdout == "there\n"
    assert Path("/proc/self/mounts").read_text() == mounts
    assert not Path("/mnt/there").exists()
