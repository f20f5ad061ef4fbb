"""A reboot of a fake tree: what GRUB and the kernel would make of its files, and no more.

GRUB runs what 01_rocmcfg_trial printed into the menu: `rocmcfg_next` of the block is emptied and goes to the
command line of this boot. That the real GRUB does so is shown by the tests in real guests.
"""

from __future__ import annotations

import re
import subprocess
import uuid
from pathlib import Path

from .hosts import PARAMETERS

BLOCK = "boot/grub/grubenv"


def enable_unit(root: Path) -> None:
    """What `systemctl enable rocmcfg-trial.service` leaves."""
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    unit = root / "usr/lib/systemd/system/rocmcfg-trial.service"
    unit.parent.mkdir(parents=True, exist_ok=True)
    unit.write_text("[Service]\n")
    (wants / unit.name).symlink_to("/usr/lib/systemd/system/rocmcfg-trial.service")


def next_boot(root: Path) -> str:
    """`rocmcfg_next` of the block, empty where there is none."""
    if not (root / BLOCK).exists():
        return ""
    listed = subprocess.run(
        ["grub-editenv", root / BLOCK, "list"], capture_output=True, text=True, check=True
    )
    found = re.search(r"^rocmcfg_next=(.*)$", listed.stdout, re.M)
    return found[1] if found else ""


def reboot(root: Path) -> str:
    """The command line of the new boot."""
    menu = (root / "boot/grub/grub.cfg").read_text()
    given = next_boot(root) if "save_env rocmcfg_next" in menu else ""
    if given:
        subprocess.run(["grub-editenv", root / BLOCK, "set", "rocmcfg_next="], check=True)
    entry = re.search(r"^\s*linux\s+(\S+) (.*)$", menu, re.M)
    assert entry is not None
    line = " ".join(f"BOOT_IMAGE={entry[1]} {entry[2].replace('$rocmcfg_trial', given)}".split())
    (root / "proc/cmdline").write_text(f"{line}\n")
    (root / "proc/sys/kernel/random/boot_id").write_text(f"{uuid.uuid4()}\n")
    for name, value in PARAMETERS.items():
        place = root / f"sys/module/amdgpu/parameters/{name}"
        asked = re.findall(rf"(?:^| )amdgpu\.{name}=(\S+)", line)
        if place.exists():
            place.write_text(f"{asked[-1] if asked else value}\n")
    return line
