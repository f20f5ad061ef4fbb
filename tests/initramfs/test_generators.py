"""Which generator makes a host's images, which images those are, and of which kernel each is."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg import initramfs
from rocmcfg.host.local import LocalHost
from rocmcfg.initramfs import booted, carried, detect, in_use, release_of, releases
from rocmcfg.loaders.shared.menu import Entry, Role
from tests.support.hosts import OTHER_HOSTS, File, Link, debian_grub_host, make_root, other_host, programs

DRACUT = "usr/lib/kernel/install.d/50-dracut.install"
MKINITCPIO = "usr/share/libalpm/hooks/90-mkinitcpio-install.hook"
BOOSTER = "usr/share/libalpm/hooks/90-booster-install.hook"
DRACUT_HOOK = "usr/share/libalpm/hooks/90-dracut-install.hook"
BOTH = programs("usr/bin/dracut", "usr/bin/mkinitcpio")


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({}, []),
        ({"usr/bin/dracut": ""}, ["dracut"]),
        ({"usr/sbin/dracut": ""}, ["dracut"]),
        ({"usr/bin/mkinitcpio": ""}, ["mkinitcpio"]),
        ({"usr/bin/booster": "", BOOSTER: ""}, ["booster"]),
        ({**BOTH, BOOSTER: "", "usr/bin/booster": "", DRACUT: ""}, ["booster"]),
        ({"usr/bin/genkernel": ""}, ["genkernel"]),
        ({"usr/bin/genkernel": "", "usr/bin/dracut": ""}, ["dracut"]),
        ({"etc/initramfs-tools/modules": ""}, []),
        (BOTH, ["dracut", "mkinitcpio"]),
        ({**BOTH, DRACUT: ""}, ["dracut"]),
        ({**BOTH, DRACUT: "", MKINITCPIO: ""}, ["mkinitcpio"]),
        ({**BOTH, MKINITCPIO: "", DRACUT_HOOK: ""}, ["dracut", "mkinitcpio"]),
    ],
)
def test_the_hook_that_makes_images_tells_which_generator_is_in_use(
    tmp_path: Path, files: dict[str, File], names: list[str]
) -> None:
    view = LocalHost(str(make_root(tmp_path, {"etc/x": "", **files})))
    found = detect(view)
    assert [d.name for d in in_use(found)] == names
    one = initramfs.backend(found)
    ours = len(names) == 1 and names[0] not in ("genkernel", "booster")
    assert (one.NAME if one else None) == (names[0] if ours else None)


def test_a_hook_that_the_administrator_hid_proves_nothing(tmp_path: Path) -> None:
    hidden = {"etc/pacman.d/hooks/90-mkinitcpio-install.hook": Link("/dev/null")}
    view = LocalHost(str(make_root(tmp_path, {**BOTH, MKINITCPIO: "", DRACUT: "", **hidden})))
    assert [d.name for d in in_use(detect(view))] == ["dracut"]


def test_two_installed_generators_are_both_named(tmp_path: Path) -> None:
    found = detect(LocalHost(str(debian_grub_host(tmp_path, extra=programs("usr/bin/dracut")))))
    assert [(d.name, d.proof) for d in found] == [("initramfs-tools", True), ("dracut", False)]


@pytest.mark.parametrize("chain", sorted(OTHER_HOSTS))
def test_at_most_one_generator_makes_the_images_of_a_recorded_host(tmp_path: Path, chain: str) -> None:
    assert len(in_use(detect(LocalHost(str(other_host(tmp_path, chain)))))) <= 1


@pytest.mark.parametrize(
    ("path", "release"),
    [
        ("/boot/initrd.img-6.1", "6.1"),
        ("/boot/initramfs-6.1.img", "6.1"),
        ("/boot/initrd-6.1", "6.1"),
        ("/boot/0b9d/6.1/initrd", "6.1"),
        ("/boot/initramfs-linux.img", "6.1"),
        ("/boot/initramfs-linux-fallback.img", "6.1"),
        ("/boot/booster-linux.img", ""),
        ("/boot/initramfs-0-rescue-0b9d.img", ""),
        ("/boot/initramfs-6.1kdump.img", ""),
        ("/boot/initrd.img-6.1.new", ""),
        ("/boot/initrd.img-6.2", ""),
        ("/boot/initrd-5f2c77e1", ""),
        ("/boot/amd-ucode.img", ""),
        ("/boot/initrd", ""),
        ("/boot/initramfs-.img", ""),
    ],
)
def test_an_image_is_of_the_kernel_that_its_name_says_and_that_has_modules(
    tmp_path: Path, path: str, release: str
) -> None:
    files = {"lib/modules/6.1/modules.dep": "", "lib/modules/6.1/pkgbase": "linux\n", "lib/modules/6.2/x": ""}
    assert release_of(path, releases(LocalHost(str(make_root(tmp_path, files))))) == release


def test_a_unified_image_counts_as_the_one_that_is_in_it(tmp_path: Path) -> None:
    view = LocalHost(
        str(make_root(tmp_path, {"efi/EFI/Linux/a.efi": "", "boot/vmlinuz.efi": "", "boot/i": ""}))
    )
    unified = Entry("a", "a", "/efi/EFI/Linux/a.efi", "6.1", (), (), Role.NORMAL)
    kernel = unified._replace(path="/vmlinuz.efi", initrds=("/i",))
    assert booted(view, (unified, kernel)) == {"/efi/EFI/Linux/a.efi": "6.1", "/boot/i": "6.1"}


@pytest.mark.parametrize(
    ("role", "initrd", "path"),
    [
        (Role.NORMAL, "/a.img", "/boot/a.img"),
        (Role.NORMAL, "/0b9d/initrd", "/boot/efi/0b9d/initrd"),
        (Role.NORMAL, "(hd0,gpt2)/a.img", "/boot/a.img"),
        (Role.NORMAL, "a.img", None),
        (Role.NORMAL, "/none.img", None),
        (Role.RECOVERY, "/a.img", None),
        (Role.SNAPSHOT, "/a.img", None),
    ],
)
def test_the_image_of_a_rescue_entry_or_a_snapshot_stays_as_it_is(
    tmp_path: Path, role: Role, initrd: str, path: str | None
) -> None:
    view = LocalHost(str(make_root(tmp_path, {"boot/a.img": "", "boot/efi/0b9d/initrd": ""})))
    entry = Entry("a", "a", "/vmlinuz", "6.1", (initrd,), (), role)
    assert booted(view, (entry,)) == ({path: "6.1"} if path else {})


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("usr/lib/modules/6.1/kernel/x/amdgpu.ko.zst", True),
        ("lib/modules/amdgpu.ko", True),
        ("-rw-r--r-- 1 root root 5 Jan  1  1970 lib/modules/6.1/kernel/x/amdgpu.ko.xz", True),
        ("-rw-r--r-- root/root 5 1970-01-01 squashfs-root/usr/lib/modules/6.1/kernel/x/amdgpu.ko.xz", True),
        ("drwxr-xr-x 2 root root 0 Jan  1  1970 usr/lib/modules/6.1/kernel/x/amdgpu", False),
        ("usr/lib/firmware/amdgpu/x.ko", False),
        ("usr/lib/modules/6.1/kernel/x/notamdgpu.ko", False),
    ],
)
def test_a_driver_is_found_however_its_image_is_listed(line: str, found: bool) -> None:
    assert carried(["first", line]) == found
