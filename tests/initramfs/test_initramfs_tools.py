"""initramfs-tools: look into the images with the real lsinitramfs and unmkinitramfs, trust no exit code."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg import initramfs
from rocmcfg.host import runner
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.initramfs import Image
from rocmcfg.initramfs.initramfs_tools import GENERATOR as initramfs_tools
from rocmcfg.loaders.shared.menu import Entry, Role
from tests.support.hosts import Program, cpio_archive, debian_grub_host, initramfs_image, make_root, programs
from tests.support.tools import require_tool

KERNEL = "6.12.107+deb13-amd64"
PATH = "/etc/modprobe.d/zz-rocmcfg.conf"
OURS = b"options amdgpu runpm=0\n"


class ToolHost(LocalHost):
    """An offline tree whose initramfs tools are this machine's own, given the real path of an image."""

    def _inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        name = require_tool(argv[0], package="initramfs-tools-core")
        return (name, self.root + argv[1], *(self.root + a for a in argv[2:]))

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        return runner.query(self._inside(argv))


def packed(files: bytes) -> bytes:
    """As mkinitramfs leaves it; its own tools cannot end an archive that is not compressed (0.142)."""
    return gzip.compress(files, mtime=0)


def initramfs_with(*, amdgpu: bool, text: bytes | None = None) -> bytes:
    more = None if text is None else {"zz-rocmcfg.conf": text.decode()}
    return packed(initramfs_image(KERNEL, amdgpu=amdgpu, modprobe_d=more))


EARLY = cpio_archive({"kernel/x86/microcode/AuthenticAMD.bin": b"x" * 600})


def host(tmp_path: Path, **images: bytes) -> ToolHost:
    files = {f"boot/initrd.img-{name}": content for name, content in images.items()}
    return ToolHost(str(make_root(tmp_path, {**files, "var/tmp/keep": ""})))


def carries(view: LocalHost) -> dict[str, bool | None]:
    return {image.release: image.carries for image in initramfs_tools.images(view)}


def test_an_image_carries_the_driver_or_not(tmp_path: Path) -> None:
    view = host(
        tmp_path,
        **{
            "with": initramfs_with(amdgpu=True),
            "without": initramfs_with(amdgpu=False),
            "early": EARLY + initramfs_with(amdgpu=True),
            "broken": b"no archive at all",
            "empty": b"",
        },
    )
    found = carries(view)
    assert (found["with"], found["without"], found["early"]) == (True, False, True)
    assert found["broken"] is not True
    assert found["empty"] is not True


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"lib/modules/{KERNEL}/updates/dkms/amdgpu.ko", True),
        (f"usr/lib/modules/{KERNEL}/kernel/x/amdgpu.ko.zst", True),
        (f"lib/modules/{KERNEL}/kernel/x/notamdgpu.ko", False),
        (f"lib/modules/{KERNEL}/kernel/x/amdgpu.ko.bak", False),
        (f"lib/modules/{KERNEL}/kernel/x/amdgpu_more.ko", False),
        ("lib/firmware/amdgpu/x.bin", False),
    ],
)
def test_a_module_is_known_by_its_whole_file_name(tmp_path: Path, path: str, found: bool) -> None:
    view = host(tmp_path, a=packed(cpio_archive({path: b""})))
    assert carries(view) == {"a": found}


def test_leftovers_beside_the_images_are_no_images(tmp_path: Path) -> None:
    image = initramfs_with(amdgpu=True)
    names = [KERNEL, f"{KERNEL}.bak", f"{KERNEL}.old", f"{KERNEL}.new", f"{KERNEL}.dpkg-bak"]
    assert carries(host(tmp_path, **dict.fromkeys(names, image))) == {KERNEL: True}


@pytest.mark.parametrize(
    ("initrd", "path"),
    [
        ("/efi/0b9d/linux/initrd", "/efi/0b9d/linux/initrd"),
        ("/0b9d/linux/initrd", "/boot/0b9d/linux/initrd"),  # from the root of the file system on /boot
        ("(hd0,gpt2)/copy", "/boot/copy"),
        (f"/initrd.img-{KERNEL}", f"/boot/initrd.img-{KERNEL}"),
    ],
)
def test_an_image_that_an_entry_boots_is_looked_into_wherever_it_lies(
    tmp_path: Path, initrd: str, path: str
) -> None:
    own = f"/boot/initrd.img-{KERNEL}"
    view = host(tmp_path, **{KERNEL: image(OURS)})
    if path != own:
        make_root(tmp_path, {path: image(None)})
    ours = Entry("a", "Debian", "/vmlinuz", KERNEL, ("/amd-ucode.img", initrd), (), Role.NORMAL)
    foreign = ours._replace(initrds=("/boot/initrd.img-other",), role=Role.FOREIGN)
    make_root(tmp_path, {"/boot/other": image(None)})
    found = initramfs_tools.images(view, (ours, foreign))
    assert {(one.path, one.release) for one in found} == {(own, KERNEL), (path, KERNEL)}
    said = [*initramfs_tools.check(view, found, OURS)]
    assert [d.location for d in said] == ([path] if path != own else [])


def test_an_image_that_nobody_may_look_into_is_in_doubt(tmp_path: Path) -> None:
    view = LocalHost(str(debian_grub_host(tmp_path, kernels=[KERNEL], amdgpu_in_initramfs=True)))
    assert [i.carries for i in initramfs_tools.images(view)] == [None]


def image(text: bytes | None, *, amdgpu: bool = True) -> bytes:
    return initramfs_with(amdgpu=amdgpu, text=text)


@pytest.mark.parametrize(
    ("inside", "expected", "said"),
    [
        (OURS, OURS, None),
        (None, None, None),
        (b"options amdgpu runpm=1\n", OURS, "has an old copy of"),
        (None, OURS, "does not hold"),
        (OURS, None, "still has"),
    ],
)
@pytest.mark.parametrize("early", [False, True])
def test_the_copy_inside_an_image_is_ours_byte_for_byte(
    tmp_path: Path, inside: bytes | None, expected: bytes | None, said: str | None, early: bool
) -> None:
    view = host(tmp_path, **{KERNEL: (EARLY if early else b"") + image(inside)})
    found = [*initramfs_tools.check(view, initramfs_tools.images(view), expected)]
    assert [d.id for d in found] == ["RC3204"] * (said is not None)
    if said:
        assert said in found[0].summary
        assert found[0].location == f"/boot/initrd.img-{KERNEL}"
    assert view.names("/var/tmp") == ("keep",)


def test_every_image_is_looked_into_and_not_only_the_first(tmp_path: Path) -> None:
    view = host(
        tmp_path, **{"6.1": image(OURS), "6.12": image(None), "6.18": image(OURS), "6.19": image(b"x\n")}
    )
    found = [*initramfs_tools.check(view, initramfs_tools.images(view), OURS)]
    assert [d.location for d in found] == ["/boot/initrd.img-6.12", "/boot/initrd.img-6.19"]


def test_an_image_without_the_driver_does_not_matter(tmp_path: Path) -> None:
    view = host(tmp_path, **{KERNEL: image(None, amdgpu=False)})
    assert [*initramfs_tools.check(view, initramfs_tools.images(view), OURS)] == []


def test_an_image_that_cannot_be_unpacked_is_a_problem(tmp_path: Path) -> None:
    view = host(tmp_path)
    found = [*initramfs_tools.check(view, (Image("/boot/none", "none", True),), OURS)]
    assert [d.id for d in found] == ["RC3203"]


def test_all_kernels_are_rebuilt() -> None:
    (step,) = initramfs_tools.activations(LocalHost("/"), "why")
    assert step.argv == ("update-initramfs", "-u", "-k", "all")


# The lines of Debian's dracut 112-7, /usr/sbin/update-initramfs, that say whose it is.
DRACUTS_OWN = """#!/bin/sh
set -eu

# SPDX-License-Identifier: GPL-2.0-or-later
# Taken from initramfs-tools and adapted for dracut by Benjamin Drung.

BOOTDIR=/boot
CONF=/etc/initramfs-tools/update-initramfs.conf
generate_initramfs()
{
	echo "update-initramfs: Generating ${initramfs}"
	OPTS=""
	if dracut ${OPTS} --force "${initramfs}" "${version}"; then
		# Guard against an unclean shutdown
		sync -f "${initramfs}"
	fi
}
"""
# The same place in initramfs-tools 0.151.
INITRAMFS_TOOLS = DRACUTS_OWN.replace(" and adapted for dracut", "").replace(
    'if dracut ${OPTS} --force "${initramfs}" "${version}"',
    'if mkinitramfs ${OPTS} "${initramfs}.new" "${version}"',
)


@pytest.mark.parametrize(
    ("script", "names"),
    [
        (DRACUTS_OWN, ["dracut"]),
        (INITRAMFS_TOOLS, ["initramfs-tools", "dracut"]),
    ],
)
def test_dracuts_own_update_initramfs_beside_leftovers_is_not_initramfs_tools(
    tmp_path: Path, script: str, names: list[str]
) -> None:
    extra = {"usr/sbin/update-initramfs": Program(script), **programs("usr/bin/dracut")}
    view = LocalHost(str(debian_grub_host(tmp_path, extra=extra)))
    found = initramfs.detect(view)
    assert [d.name for d in found] == names
    assert [d.name for d in initramfs.in_use(found)] == names[:1]
