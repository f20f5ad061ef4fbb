"""Entries as files, read as the real bootctl reads them."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from rocmcfg.backends.boot import loader_entries, marked_arguments
from rocmcfg.backends.boot.loader_entries import parse, read
from rocmcfg.backends.boot.menu import Role
from rocmcfg.host.local import LocalHost
from tests.support.hosts import make_root
from tests.support.tools import HANG, require_root, require_tool

KEYS = (
    "title",
    "version",
    "machine-id",
    "linux",
    "efi",
    "initrd",
    "options",
    "#",
    "bogus",
    "Linux",
    "options:",
)
VALUES = ("a", "/a/b", "x=1 y=2", '"q r"=s', "  pad  ", "", "a\tb", "ü", "# no", "rel/path")
# bootctl looks at the root of a file system alone; that of the test is gone with its name space
LIST = (
    'mount -t tmpfs none "$1" && cp -r "$2/." "$1" && '
    'SYSTEMD_RELAX_ESP_CHECKS=1 exec bootctl --esp-path="$1" list --json=short'
)


def entry(chance: random.Random) -> str:
    blank, between = ("", "  ", "\t"), (" ", "\t", "   ", " \t ", "")
    lines = [
        chance.choice(blank) + chance.choice(KEYS) + chance.choice(between) + chance.choice(VALUES)
        for _ in range(chance.randrange(1, 9))
    ]
    return chance.choice(("\n", "\n", "\r\n")).join([*lines, "linux /vmlinuz"]) + chance.choice(("\n", ""))


def test_an_entry_says_what_bootctl_reads_in_it(tmp_path: Path) -> None:
    require_root()
    require_tool("bootctl", package="systemd-boot")
    chance = random.Random(1)
    folder, mounted = tmp_path / "esp/loader/entries", tmp_path / "mounted"
    folder.mkdir(parents=True)
    mounted.mkdir()
    texts = {f"e{n}{chance.choice(('', '+3', '+2-1'))}.conf": entry(chance) for n in range(300)}
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", LIST, "sh", str(mounted), str(tmp_path / "esp")],
        capture_output=True,
        text=True,
        timeout=HANG,
        check=True,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    if len(said) == 1 and isinstance(said[0], list):  # from systemd 253 on
        said = said[0]
    seen = {Path(one["path"]).name: one for one in said if one.get("type", "type1") == "type1"}
    assert set(seen) >= set(texts)
    for name, text in texts.items():
        made, theirs = parse(name, text), seen[name]
        assert (made.id + ".conf", made.first.get("title"), made.first.get("linux"), made.options) == (
            theirs["id"],
            theirs.get("title"),
            theirs.get("linux"),
            theirs.get("options", ""),
        ), text
        assert list(made.initrds) == theirs.get("initrd", []), text


MACHINE = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("arch", "linux /vmlinuz-linux\ninitrd /initramfs-linux.img\noptions root=x", Role.NORMAL),
        (
            "arch-fallback",
            "linux /vmlinuz-linux\ninitrd /initramfs-linux-fallback.img\noptions x",
            Role.RECOVERY,
        ),
        (f"{MACHINE}-0-rescue", "linux /l\noptions x", Role.RECOVERY),
        ("other", f"linux /l\nmachine-id {'f' * 32}\noptions x", Role.FOREIGN),
        ("own", f"linux /l\nmachine-id {MACHINE}\noptions x", Role.NORMAL),
        ("memtest", "efi /memtest.efi", Role.FOREIGN),
        ("stub", "efi /vmlinuz.efi\noptions root=x", Role.NORMAL),
        ("broken", "title nothing", Role.FOREIGN),
        ("rescue", "title Arch\nlinux /l\noptions root=x systemd.unit=rescue.target", Role.RECOVERY),
        (f"{MACHINE}-6.1~debug", "linux /l\noptions root=x systemd.log_level=debug", Role.RECOVERY),
        ("uki", "uki /EFI/Linux/arch.efi", Role.FOREIGN),
        ("uki-fallback", "uki /EFI/Linux/arch-fallback.efi\noptions root=x", Role.RECOVERY),
        ("timeshift", "linux /l\noptions rootflags=subvol=timeshift-btrfs/snapshots/1/@", Role.SNAPSHOT),
    ],
)
def test_what_an_entry_is_for(tmp_path: Path, name: str, text: str, role: Role) -> None:
    folder = tmp_path / "efi/loader/entries"
    folder.mkdir(parents=True)
    (folder / f"{name}.conf").write_text(text)
    (found,) = read(LocalHost(str(tmp_path)), MACHINE)
    assert (found.id, found.role) == (name, role)


def test_a_boot_counter_is_no_part_of_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "boot/loader/entries"
    folder.mkdir(parents=True)
    (folder / "a+3-1.conf").write_text("linux /l\n")
    assert [one.id for one in read(LocalHost(str(tmp_path)))] == ["a"]


def test_a_partition_below_another_counts_once(tmp_path: Path) -> None:
    folder = tmp_path / "boot/loader/entries"
    folder.mkdir(parents=True)
    (folder / "a.conf").write_text("linux /l\n")
    (tmp_path / "efi").symlink_to("boot")
    assert len(read(LocalHost(str(tmp_path)))) == 1


def test_an_entry_of_another_root_file_system_is_another_system_s(tmp_path: Path) -> None:
    entry = "title a\nlinux /a\noptions {}\n"
    folder = "boot/loader/entries"
    root = make_root(
        tmp_path,
        {
            "etc/fstab": '# <file system>\nUUID="AB-1" / ext4 rw 0 1\nUUID=2 /home ext4 rw 0 2\n',
            "proc/cmdline": "root=PARTUUID=7 quiet\n",
            f"{folder}/ours.conf": entry.format("root=UUID=ab-1 rw"),
            f"{folder}/running.conf": entry.format("root=PARTUUID=7"),
            f"{folder}/device.conf": entry.format("root=/dev/sda9"),
            f"{folder}/home.conf": entry.format("root=UUID=2"),
            f"{folder}/other.conf": entry.format("root=PARTUUID=8 root=PARTUUID=9"),
        },
    )
    found = {one.id: one.role for one in read(LocalHost(str(root)))}
    normal = dict.fromkeys(("device", "ours", "running"), Role.NORMAL)
    assert found == {**normal, "home": Role.FOREIGN, "other": Role.FOREIGN}


@pytest.mark.parametrize(
    ("content", "changes"),
    [
        (b"title x\nlinux /v", True),
        (b"title x\nlinux /v\n", True),
        (b"title x\nlinux /v\noptions\n", True),
        (b"title x\nlinux /v\noptions root=x", True),
        (b"title x\nefi /memtest.efi\n", False),
        (b"", False),
    ],
)
def test_an_entry_without_options_gets_a_line_of_its_own_and_loses_it_again(
    content: bytes, changes: bool
) -> None:
    ours = marked_arguments.part("amdgpu.runpm=0")
    written = loader_entries.with_arguments(content, ours)
    assert (written != content) == changes
    assert loader_entries.with_arguments(written, ours) == written
    assert loader_entries.with_arguments(written, None) == content
    assert loader_entries.with_arguments(written + b"\nsort-key a\n", None) == content + b"\nsort-key a\n"
