"""A reboot of a fake tree: what GRUB and the kernel would make of its files, and no more.

GRUB runs what 01_rocmcfg_trial printed into the menu, or what user.cfg beside it holds: `rocmcfg_next` of the
block is emptied and goes to the command line of this boot. That the real GRUB does so is shown by the tests
in real guests, and by those of the loader alone.
"""

from __future__ import annotations

import re
import subprocess
import uuid
from pathlib import Path

from .hosts import PARAMETERS

BLOCK = "boot/grub/grubenv"


def enable_unit(root: Path, name: str = "rocmcfg-trial.service") -> None:
    """What `systemctl enable` leaves."""
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    unit = root / "usr/lib/systemd/system" / name
    unit.parent.mkdir(parents=True, exist_ok=True)
    unit.write_text("[Service]\n")
    (wants / unit.name).symlink_to(f"/usr/lib/systemd/system/{name}")


def next_boot(root: Path, block: str = BLOCK) -> str:
    """`rocmcfg_next` of the block, empty where there is none."""
    if not (root / block).exists():
        return ""
    listed = subprocess.run(
        ["grub-editenv", root / block, "list"], capture_output=True, text=True, check=True
    )
    found = re.search(r"^rocmcfg_next=(.*)$", listed.stdout, re.M)
    return found[1] if found else ""


# of GRUB, where distributions have it
MENUS = ("boot/grub/grub.cfg", "boot/grub2/grub.cfg", "efi/EFI/steamos/grub.cfg")


def reboot(root: Path) -> str:
    """The command line of the new boot."""
    line = grub_line(root)
    boot(root, line, str(uuid.uuid4()))
    return line


def grub_line(root: Path) -> str:
    """The command line that GRUB gives to the first entry of its menu; the block is changed as GRUB does."""
    menu = next(path for name in MENUS if (path := root / name).exists())
    text = menu.read_text()
    user = menu.with_name("user.cfg")
    hooks = text + (user.read_text() if "user.cfg" in text and user.exists() else "")
    block = str(menu.with_name("grubenv").relative_to(root))
    given = next_boot(root, block) if "save_env rocmcfg_next" in hooks else ""
    if given:
        subprocess.run(["grub-editenv", root / block, "set", "rocmcfg_next="], check=True)
    if re.search(r"^\s*blscfg$", text, re.M):
        text = max((path.name, path.read_text()) for path in (root / "boot/loader/entries").glob("*.conf"))[1]
    kernel = re.search(r"^\s*(?:steamenv_boot )?linux\s+(\S+)", text, re.M)
    options = re.search(r"^(?:\s*(?:steamenv_boot )?linux\s+\S+|options) +(\S.*)$", text, re.M)
    assert kernel is not None
    assert options is not None
    return " ".join(f"BOOT_IMAGE={kernel[1]} {options[1].replace('$rocmcfg_trial', given)}".split())


def boot(root: Path, line: str, boot_id: str) -> None:
    """What the kernel shows of a boot with the command line `line`: it, and the driver's parameters."""
    (root / "proc/cmdline").write_text(f"{line}\n")
    (root / "proc/sys/kernel/random/boot_id").write_text(f"{boot_id}\n")
    for name, value in PARAMETERS.items():
        place = root / f"sys/module/amdgpu/parameters/{name}"
        asked = re.findall(rf"(?:^| )amdgpu\.{name}=(\S+)", line)
        if place.exists():
            place.write_text(f"{asked[-1] if asked else value}\n")
