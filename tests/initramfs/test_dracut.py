"""dracut: an image at a time, beside the old one, and looked into."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg.host.view import CommandResult
from rocmcfg.initramfs.dracut import CONF
from rocmcfg.initramfs.dracut import GENERATOR as dracut
from tests.initramfs.images import KERNEL, OURS, PATH, entry, host, image
from tests.support.hosts import Link, Program, kernel_modules
from tests.support.tool_host import ToolHost

IMAGE = f"/boot/initramfs-{KERNEL}.img"


def commands(view: ToolHost, *initrds: str) -> list[list[str]]:
    (step,) = dracut.activations(view, "why", (entry(*initrds),))
    return [list(argv) for argv in step.commands]


def test_each_image_is_made_beside_the_old_one_with_its_arguments_and_renamed(tmp_path: Path) -> None:
    view = host(tmp_path, {IMAGE: image(), f"boot/efi/m/{KERNEL}/initrd": image()})
    made = commands(view, f"/m/{KERNEL}/initrd")
    for path in (f"/boot/efi/m/{KERNEL}/initrd", IMAGE):
        builds, renames = made[0], made[1]
        assert builds[-4:] == ["--rebuild", path, f"{path}.new", KERNEL]
        assert renames == ["mv", "-f", f"{path}.new", path]
        made = made[2:]
    assert made == []


@pytest.mark.parametrize(("text", "there"), [("--no-uefi) uefi_l=no", True), ("", False)])
def test_a_configuration_that_asks_for_a_whole_image_gets_none(
    tmp_path: Path, text: str, there: bool
) -> None:
    view = host(tmp_path, {IMAGE: image(), "usr/bin/dracut": Program(text)})
    assert ("--no-uefi" in commands(view)[0]) == there


@pytest.mark.parametrize(
    "path", ["/boot/amd-ucode.img", "/boot/initrd-5f2c77e1", "/boot/initramfs-0-rescue-0b9d.img"]
)
def test_what_is_not_dracuts_to_write_is_not_written_over(tmp_path: Path, path: str) -> None:
    view = host(tmp_path, {path: image(), IMAGE: image()})
    assert path not in {word for argv in commands(view, path.removeprefix("/boot")) for word in argv}
    found = dracut.images(view, (entry(path.removeprefix("/boot")),))
    assert [(i.path, i.built) for i in found if i.path == path] == [(path, False)]


def test_a_link_to_an_image_is_not_replaced_by_one(tmp_path: Path) -> None:
    """openSUSE boots /boot/initrd, which leads to the newest."""
    view = host(tmp_path, {f"boot/initrd-{KERNEL}": image(), "boot/initrd": Link(f"initrd-{KERNEL}")})
    assert [argv[-1] for argv in commands(view, "/initrd") if argv[0] == "mv"] == [f"/boot/initrd-{KERNEL}"]


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
def test_the_copy_inside_an_image_is_ours_byte_for_byte(
    tmp_path: Path, inside: bytes | None, expected: bytes | None, said: str | None
) -> None:
    view = host(tmp_path, {IMAGE: image(inside)})
    found = [*dracut.check(view, dracut.images(view), expected)]
    assert [d.id for d in found] == ["RC3204"] * (said is not None)
    assert said is None or said in found[0].summary


def test_an_image_without_the_driver_needs_no_options(tmp_path: Path) -> None:
    view = host(tmp_path, {IMAGE: image(driver=False)})
    assert [*dracut.check(view, dracut.images(view), OURS)] == []


class Squashed(ToolHost):
    """lsinitrd lists what the module squash has packed; that of 059 prints nothing of it (dracut.sh 059)."""

    prints: str = ""

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        lines = f"squashfs-root{PATH}\nsquashfs-root/usr/lib/modules/{KERNEL}/kernel/x/amdgpu.ko.xz\n"
        return CommandResult(tuple(argv), 0, self.prints if "--file" in argv else lines, "")


@pytest.mark.parametrize(("prints", "ids"), [("", ["RC3203"]), (OURS.decode(), []), ("x\n", ["RC3204"])])
def test_a_packed_image_is_looked_into_where_lsinitrd_can(
    tmp_path: Path, prints: str, ids: list[str]
) -> None:
    view = Squashed(host(tmp_path, {IMAGE: image()}).root)
    view.prints = prints
    found = [*dracut.check(view, dracut.images(view), OURS)]
    assert [d.id for d in found] == ids


def test_an_image_that_cannot_be_listed_is_in_doubt(tmp_path: Path) -> None:
    view = host(tmp_path, {IMAGE: b"no archive"})
    images = dracut.images(view)
    assert [i.carries for i in images] == [None]
    assert [d.id for d in dracut.check(view, images, OURS)] == ["RC3203"]


def test_every_kernel_with_modules_has_its_own(tmp_path: Path) -> None:
    view = host(tmp_path, {IMAGE: image(), "boot/initramfs-6.2.img": image(), **kernel_modules("6.2")})
    assert [i.release for i in dracut.images(view)] == [KERNEL, "6.2"]


def test_the_shell_reads_our_configuration_as_dracut_wants_it() -> None:
    """A list has blanks at both its ends (dracut.sh, check_conf_file of 106)."""
    text = dracut.propose(wanted=True)[CONF]
    assert text is not None
    script = f'install_optional_items=" one "\n{text.decode()}\nprintf %s "$install_optional_items"'
    said = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["one", PATH]
    assert not re.search(rb"^[^#]*[+]=\\?([\"'][^ ]|.*[^ ][\"'])", text, re.M)
