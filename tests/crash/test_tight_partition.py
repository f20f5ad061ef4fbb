"""A /boot that has no room for a second image, where mkinitcpio writes over the old one: what it leaves half
is put back from the copy that was made before, on the real file system."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import fake_tools
from tests.support.hosts import cpio_archive, other_host
from tests.support.program import rocmcfg
from tests.support.tools import require_root, require_tool

APPLY = ("apply", "--set", "amdgpu.runpm=0", "--via", "modprobe", "--yes")
IMAGE = "boot/initramfs-linux.img"
# `build_image` of mkinitcpio v41 writes to the old image itself where its partition has less room than 5/4 of
# it, and ends with status 1 where the compressor did ("Image generation FAILED"). No package index
# of Debian or PyPI has mkinitcpio, so that this stands for it.
IN_PLACE = """#!/usr/bin/env python3
import os, sys
image = os.path.join(sys.argv[1], "{image}")
size = os.path.getsize(image)
room = os.statvfs(image)
assert room.f_bavail * room.f_frsize < size * 5 / 4, "there is room beside it"
with open(image, "wb") as stream:
    stream.write(b"x" * (size // 2))
sys.exit({status})
"""


@pytest.fixture
def tight(tmp_path: Path) -> Iterator[Path]:
    """Arch, with an image that takes most of a /boot on ext2."""
    require_root()
    require_tool("mkfs.ext2", "e2fsprogs")
    root = other_host(tmp_path, "arch-grub")
    files = {path: text for path, text in fake_tools.unpacked(root / IMAGE).items() if "." in path}
    (root / IMAGE).write_bytes(cpio_archive({**files, "init": bytes(range(1, 256)) * 12000}))
    boot, disk = root / "boot", tmp_path / "disk"
    with disk.open("wb") as stream:
        stream.truncate(5 << 20)
    subprocess.run(["mkfs.ext2", "-q", "-m", "0", disk], check=True)
    shutil.move(boot, tmp_path / "boot")
    boot.mkdir()
    mounted = subprocess.run(["mount", "-o", "loop", disk, boot], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr}")
    try:
        shutil.copytree(tmp_path / "boot", boot, symlinks=True, dirs_exist_ok=True)
        yield root
    finally:
        subprocess.run(["umount", boot], check=True)


@pytest.mark.parametrize("status", [0, 1])
def test_half_an_image_that_was_written_in_place_is_put_back(
    tight: Path, tmp_path: Path, status: int
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "mkinitcpio").write_text(IN_PLACE.format(image=IMAGE, status=status))
    (programs / "mkinitcpio").chmod(0o755)
    before = (tight / IMAGE).read_bytes()
    result = rocmcfg(*APPLY, "--root", tight, tools=programs)
    assert result.code == 4, result.out + result.err
    assert (tight / IMAGE).read_bytes() == before
    assert "the host is unchanged" in result.err
    assert not [*(tight / "boot").glob(".*rocmcfg-new")]
