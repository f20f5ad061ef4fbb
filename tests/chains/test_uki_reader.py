"""What each unified kernel image boots: its own line, and that of the addons which its stub loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.shared import pe_image
from rocmcfg.loaders.shared.menu import Entry, Role
from rocmcfg.loaders.uki import addons, reader
from tests.support.hosts import MACHINE_ID, efi_variable, firmware, make_root, os_release
from tests.support.hosts.files import File
from tests.support.hosts.pe import addon_stub, pe, uki

LINUX = "efi/EFI/Linux"
OWN = 'NAME="Arch Linux"\nID=arch\n'
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


def menu(tmp_path: Path, files: dict[str, File]) -> dict[str, Entry]:
    host = {**os_release("Arch Linux", "arch"), "etc/machine-id": MACHINE_ID + "\n", **files}
    return {entry.id: entry for entry in reader.read(LocalHost(str(make_root(tmp_path, host)))).entries}


def image(
    line: str = "root=/dev/sda2", system: str = OWN, stub: str = "257", release: str = "6.18.1"
) -> bytes:
    return uki(line, release, system, stub=stub)


def made(arguments: str) -> bytes:
    return pe_image.with_sections(addon_stub(), {".cmdline": arguments.encode()})


def texts(entry: Entry) -> str:
    return " ".join(karg.text for karg in entry.kargs)


def test_addons_to_all_images_come_first_and_each_group_in_order_of_names(tmp_path: Path) -> None:
    files: dict[str, File] = {
        f"{LINUX}/a.efi": image(),
        f"{LINUX}/b.efi": image(),
        f"{LINUX}/a.efi.extra.d/z.addon.efi": made("z=1"),
        f"{LINUX}/a.efi.extra.d/B.ADDON.EFI": made("upper=1"),
        "efi/loader/addons/x.addon.efi": made("all=1"),
    }
    found = menu(tmp_path, files)
    assert texts(found["a.efi"]) == "root=/dev/sda2 all=1 upper=1 z=1"
    assert texts(found["b.efi"]) == "root=/dev/sda2 all=1"
    assert found["a.efi"].kargs[1].source == "/efi/loader/addons/x.addon.efi"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("damaged.addon.efi", b"MZ"),
        ("kernel.addon.efi", image()),
        ("hidden.addon.efi.rocmcfg-new", made("x=1")),
        (".hidden.addon.efi", made("x=1")),
        ("other-kernel.addon.efi", pe({".cmdline": b"x=1", ".uname": b"6.17.0"})),
        ("no-line.addon.efi", pe({".dtb": b"x"})),
    ],
)
def test_what_the_stub_passes_over_adds_nothing(tmp_path: Path, name: str, content: bytes) -> None:
    found = menu(tmp_path, {f"{LINUX}/a.efi": image(), f"{LINUX}/a.efi.extra.d/{name}": content})
    assert texts(found["a.efi"]) == "root=/dev/sda2"


@pytest.mark.parametrize(
    ("enforced", "signed", "seen"), [(1, False, False), (1, True, True), (0, False, True), (0, True, True)]
)
def test_under_secure_boot_only_a_signed_addon_counts(
    tmp_path: Path, enforced: int, signed: bool, seen: bool
) -> None:
    files: dict[str, File] = {
        f"{LINUX}/a.efi": image(),
        f"{LINUX}/a.efi.extra.d/x.addon.efi": pe({".cmdline": b"x=1"}, signed=signed),
        SECURE_BOOT: b"\x06\0\0\0" + bytes([enforced]),
    }
    assert ("x=1" in texts(menu(tmp_path, files)["a.efi"])) is seen


@pytest.mark.parametrize(("stub", "seen"), [("253.4", False), ("254", True), ("", False), ("262.1-1", True)])
def test_an_old_stub_reads_no_addons(tmp_path: Path, stub: str, seen: bool) -> None:
    files: dict[str, File] = {
        f"{LINUX}/a.efi": image(stub=stub),
        f"{LINUX}/a.efi.extra.d/x.addon.efi": made("x=1"),
    }
    assert ("x=1" in texts(menu(tmp_path, files)["a.efi"])) is seen


def test_control_characters_in_a_line_are_blanks(tmp_path: Path) -> None:
    found = menu(tmp_path, {f"{LINUX}/a.efi": image(" root=/dev/sda2\n\tquiet \n")})
    assert texts(found["a.efi"]) == "root=/dev/sda2 quiet"


@pytest.mark.parametrize(
    ("name", "content", "role"),
    [
        ("arch-linux.efi", image(), Role.NORMAL),
        ("arch-linux-fallback.efi", image(), Role.NORMAL),  # the only one of its kernel
        (f"{MACHINE_ID}-0-rescue.efi", image(), Role.RECOVERY),
        (f"{MACHINE_ID}-6.18.1.efi", image(), Role.NORMAL),
        (f"{'0' * 32}-6.18.1.efi", image(), Role.FOREIGN),
        ("fedora.efi", image(system="ID=fedora\n"), Role.FOREIGN),
        ("quoted.efi", image(system='ID="arch"\n'), Role.NORMAL),
        ("no-kernel.efi", pe({".cmdline": b"a=1"}), Role.FOREIGN),
    ],
)
def test_whose_an_image_is_and_what_for(tmp_path: Path, name: str, content: bytes, role: Role) -> None:
    assert menu(tmp_path, {f"{LINUX}/{name}": content})[name].role is role


def test_a_fallback_is_spare_beside_another_image_of_its_kernel(tmp_path: Path) -> None:
    releases = {
        "arch-linux.efi": "6.18.1",
        "arch-linux-fallback.efi": "6.18.1",
        "arch-linux-lts-fallback+3.efi": "6.12.9",
    }
    found = menu(tmp_path, {f"{LINUX}/{name}": image(release=of) for name, of in releases.items()})
    assert [found[name].role for name in releases] == [Role.NORMAL, Role.RECOVERY, Role.NORMAL]


def test_what_systemd_boot_does_not_list_is_no_entry(tmp_path: Path) -> None:
    names = ("auto-osx.efi", ".hidden.efi", "x.conf", "old.efi.bak")
    assert not menu(tmp_path, {f"{LINUX}/{name}": image() for name in names})


def test_an_image_is_one_although_two_mounts_show_it_and_a_preset_puts_another_elsewhere(
    tmp_path: Path,
) -> None:
    files: dict[str, File] = {
        "efi/EFI/Linux/a.efi": image(),
        "efi/EFI/BOOT/BOOTX64.EFI": image("root=/dev/sda3"),
        "etc/mkinitcpio.d/linux.preset": "default_uki=/efi/EFI/BOOT/BOOTX64.EFI\n"
        "fallback_uki='/efi/EFI/no.efi'\n",
    }
    root = make_root(tmp_path, files)
    (root / "boot").mkdir()
    (root / "boot/efi").symlink_to("../efi")
    found = reader.read(LocalHost(str(root))).entries
    assert sorted(entry.id for entry in found) == ["BOOTX64.EFI", "a.efi"]


@pytest.mark.parametrize(
    ("name", "stub", "folder", "hides"),
    [
        ("a.efi", "257", "a.efi.extra.d", False),
        ("a+3.efi", "257", "a.efi.extra.d", False),
        ("a+2-1.efi", "257", "a.efi.extra.d", False),
        ("a+2-1.efi", "254", "a.efi.extra.d", True),
        ("6.12+deb13-amd64.efi", "257", "6.12+deb13-amd64.efi.extra.d", False),
        ("6.12+deb13-amd64+3.efi", "257", "6.12+deb13-amd64.efi.extra.d", True),
    ],
)
def test_addons_lie_under_the_name_without_its_counter(
    tmp_path: Path, name: str, stub: str, folder: str, hides: bool
) -> None:
    root = make_root(tmp_path, {f"{LINUX}/{name}": image(stub=stub)})
    (found,) = reader.images(LocalHost(str(root))).images
    assert found.own_addon == f"/{LINUX}/{folder}/rocmcfg.addon.efi"
    assert found.hides_addons is hides


def test_an_entry_of_a_file_that_boots_an_image_is_not_this_loaders(tmp_path: Path) -> None:
    files = {**firmware("systemd-boot 257", "systemd-stub 257"), f"{LINUX}/a.efi": image()}
    for n, (selected, mine) in enumerate([("a.efi", True), ("arch.conf", False), ("a.efi@1", True)]):
        host = make_root(tmp_path, {**files, **efi_variable("LoaderEntrySelected", selected)}, name=str(n))
        assert bool(reader.proof_of_boot(LocalHost(str(host)))) is mine


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({f"{LINUX}/a.efi": image(stub="252")}, "begins with systemd-stub 252"),
        ({f"{LINUX}/a.efi": image(stub="")}, "begins without a stub of systemd"),
        ({f"{LINUX}/a.efi": image()}, "addonx64.efi.stub is missing"),
        (
            {f"{LINUX}/a.efi": image(), **firmware("Limine 9.2", "systemd-stub 257")},
            "Limine 9.2 starts the images",
        ),
        ({f"{LINUX}/a.efi": image(), addons.stub_path(0x8664).lstrip("/"): addon_stub()}, ""),
    ],
)
def test_why_a_host_gets_no_addon(tmp_path: Path, files: dict[str, File], said: str) -> None:
    view = LocalHost(str(make_root(tmp_path, files)))
    found = addons.impossible(view, reader.images(view).normal)
    assert said in found
    assert bool(said) is bool(found)
