"""Entries as files, read as the real bootctl reads them."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.shared import loader_entries, marked_arguments
from rocmcfg.loaders.shared.loader_entries import parse, read
from rocmcfg.loaders.shared.loader_files import GRUB, uncounted
from rocmcfg.loaders.shared.menu import Role
from tests.support.hosts import efi_variable, firmware, make_root
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
NAMES = ("e", "e", ".e", "auto-e", "a+b", "e-1-")
COUNTERS = ("", "+3", "+2-1", "+007-008", "-1", "+", "+3-", "+2147483647")
VALUES = (
    "a\vb",
    "a\x0cb",
    "a\x1cb",
    "a\x85b",
    "a\u2028b",
    "a",
    "/a/b",
    "x=1 y=2",
    '"q r"=s',
    "  pad  ",
    "",
    "a\tb",
    "ü",
    "# no",
    "rel/path",
)
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
    texts = {f"{chance.choice(NAMES)}{n}{chance.choice(COUNTERS)}.conf": entry(chance) for n in range(300)}
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", LIST, "sh", str(mounted), str(tmp_path / "esp")],
        capture_output=True,
        text=True,
        timeout=HANG,
        check=True,
    )
    said = [json.loads(line) for line in done.stdout.split("\n") if line]
    if len(said) == 1 and isinstance(said[0], list):  # from systemd 253 on
        said = said[0]
    seen = {Path(one["path"]).name: one for one in said if one.get("type", "type1") == "type1"}
    ours = {Path(path).name for path in loader_entries.paths(LocalHost(str(tmp_path)), "/esp/loader/entries")}
    # the loader passes over `auto-`, which is for entries of its own, and bootctl lists it
    assert ours == {name for name in seen if not name.startswith("auto-")}
    for name in ours:
        made, theirs, text = parse(name, texts[name]), seen[name], texts[name]
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
            Role.NORMAL,  # the only one of its kernel
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
        ("uki-fallback", "uki /EFI/Linux/arch-fallback.efi\noptions root=x", Role.NORMAL),
        ("timeshift", "linux /l\noptions rootflags=subvol=timeshift-btrfs/snapshots/1/@", Role.SNAPSHOT),
    ],
)
def test_what_an_entry_is_for(tmp_path: Path, name: str, text: str, role: Role) -> None:
    folder = tmp_path / "efi/loader/entries"
    folder.mkdir(parents=True)
    (folder / f"{name}.conf").write_text(text)
    (found,) = read(LocalHost(str(tmp_path)), MACHINE)
    assert (found.id, found.role) == (name, role)


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("foo+2147483647", "foo"),
        ("foo+2147483648", "foo+2147483648"),
        ("foo+33-2147483648", "foo+33-2147483648"),
        ("foo+007-000008", "foo"),
        ("some+name+24324-22", "some+name"),
        ("sels+2-3+7-6", "sels+2-3"),
        ("foo-1", "foo-1"),
        ("foo+", "foo+"),
        ("foo+1.2", "foo+1.2"),
    ],
)
def test_a_counter_is_one_where_the_loader_counts(name: str, id: str) -> None:
    """As boot_entry_parse_tries has it, which takes numbers up to INT_MAX at the end of the name; the names
    are those of systemd's test-bootspec.c. bootctl does not list an entry with a larger number."""
    assert loader_entries.entry_id(f"/efi/loader/entries/{name}.conf") == id
    assert loader_entries.entry_id(f"/efi/loader/entries/{name}.CONF") == id
    assert uncounted(f"{name}.efi") == f"{id}.efi"


def test_which_files_are_entries_differs_by_loader(tmp_path: Path) -> None:
    folder = tmp_path / "boot/loader/entries"
    folder.mkdir(parents=True)
    for name in (".old.conf", "auto-x.conf", "Auto-y.conf", "a.conf", "b.CONF", "c.conf.bak"):
        (folder / name).write_text("linux /l\noptions root=x\n")
    host = LocalHost(str(tmp_path))
    assert {one.id for one in read(host)} == {"a", "b"}
    assert {one.id for one in read(host, rules=GRUB)} == {"a", "auto-x", "Auto-y"}


@pytest.mark.parametrize("quote", ['"', "'"])
def test_ours_stands_inside_the_quotes_that_systemd_boot_takes_away(quote: str) -> None:
    """It takes them from around a whole value (efi-string.c, line_get_key_value): behind them ours would give
    the kernel one argument with root= in it."""
    content = f"linux /l\noptions {quote}root=x quiet{quote} \n".encode()
    written = loader_entries.with_arguments(content, marked_arguments.part("a=1"))
    assert parse("e", written.decode()).options == "root=x quiet rocmcfg.begin a=1 rocmcfg.end"
    assert loader_entries.with_arguments(written, None) == content
    assert loader_entries.with_arguments(content, b" a=1", GRUB).endswith(f"quiet{quote} a=1 \n".encode())


@pytest.mark.parametrize(
    ("default", "role"),
    [("arch-fallback.conf", Role.NORMAL), ("@saved", Role.NORMAL), ("arch.conf", Role.RECOVERY)],
)
def test_a_fallback_that_boots_by_itself_is_no_spare_entry(tmp_path: Path, default: str, role: Role) -> None:
    """One that somebody chose once, to mend the system, stays as it is."""
    entry = "linux /l\ninitrd /l{}.img\noptions root=x\n"
    root = make_root(
        tmp_path,
        {
            **efi_variable("LoaderEntrySelected", "arch-fallback.conf"),
            **firmware("systemd-boot 257"),
            "boot/loader/loader.conf": f"timeout 3\ndefault {default}\n",
            "boot/loader/entries/arch.conf": entry.format(""),
            "boot/loader/entries/arch-fallback.conf": entry.format("-fallback"),
        },
    )
    found = {one.id: one.role for one in read(LocalHost(str(root)))}
    assert found == {"arch": Role.NORMAL, "arch-fallback": role}


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
