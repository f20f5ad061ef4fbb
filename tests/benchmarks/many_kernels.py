"""Hosts with many kernels: of each a folder of modules, its images, and its entry of the boot menu."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from tests.cases.case import CASES, read


class Kernel(NamedTuple):
    """How a kernel of a case's host is multiplied: by the copies of all files and folders that its release
    is part of, and of its block in the boot menu. `called`: by what the menu knows it, where not by its
    release."""

    release: str
    called: str = ""


KERNELS = {
    "grub/debian-12": Kernel("6.1.0-40-amd64"),
    "grub-bls/fedora": Kernel("6.17.8-300.fc43.x86_64"),
    "systemd-boot/kernel-install": Kernel("6.12.107+deb13-amd64"),
    "limine/cachyos": Kernel("6.17.9-2-cachyos", "linux-cachyos"),
}


def with_kernels(root: Path, name: str, count: int) -> Path:
    """Return a copy of the host of a case in KERNELS that has `count` kernels more."""
    kernel = KERNELS[name]
    made = root.with_name(f"{root.name}-{count}-kernels")
    shutil.copytree(root, made, symlinks=True)
    parts = [made / "usr/lib/modules" / kernel.release]
    parts += [path for path in made.glob("boot/**/*") if kernel.release in path.name]
    for number in range(count):
        for part in parts:
            _copy(part, kernel, number)
    entries = read(CASES / name).entries
    if entries and entries.block:
        for path in (made / menu for menu in entries.paths):
            _repeat(path, entries.block, kernel, count)
    return made


def _copy(part: Path, kernel: Kernel, number: int) -> None:
    copy = part.with_name(part.name.replace(kernel.release, f"{kernel.release}-{number}"))
    if part.is_dir():
        shutil.copytree(part, copy, symlinks=True)
        if kernel.called:
            (copy / "pkgbase").write_text(f"{kernel.called}-{number}\n")
    elif part.suffix == ".conf":
        copy.write_text(part.read_text().replace(kernel.release, f"{kernel.release}-{number}"))
    else:
        shutil.copy(part, copy)


def _repeat(menu: Path, block: str, kernel: Kernel, count: int) -> None:
    text, called = menu.read_text(), kernel.called or kernel.release
    found = re.search(block, text, re.DOTALL)
    assert found, f"{menu} has no such block"
    blocks = (found[0].replace(called, f"{called}-{number}") for number in range(count))
    menu.write_text(text[: found.end()] + "".join(blocks) + text[found.end() :])
