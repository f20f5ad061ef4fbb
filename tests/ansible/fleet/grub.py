"""GRUB's part in a boot of the fleet: its environment block, with the host's own grub-editenv.

What a trial adds to the menu (/etc/grub.d/01_rocmcfg_trial) is run as it was generated. GRUB's language is
near enough to sh for that; `set` and `save_env` are put in other words. That GRUB itself does the same, and
from where it can write its block, is shown by the guests of tests/vm.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .debian import simulation

_MENU = "boot/grub/grub.cfg"
_BLOCK = "/boot/grub/grubenv"
# grub-mkconfig puts these lines around what each script prints.
_SECTION = re.compile(r"^### BEGIN (/etc/grub\.d/\S+) ###$(.*?)^### END \1 ###$", re.M | re.S)
# GRUB's save_env overwrites the block with the variable's value, also with an empty one.
_AS_SH = """root=$1
save_env() { eval "value=\\$$1"; chroot "$root" grub-editenv %s set "$1=$value"; }
%s
printf %%s "$rocmcfg_trial"
"""


def boot_line(work: Path, root: Path) -> str:
    """The command line of the first entry, after what a trial has put before the entries has run once."""
    menu = (root / _MENU).read_text()
    sections = dict(_SECTION.findall(menu))
    trial = _run(root, sections.get("/etc/grub.d/01_rocmcfg_trial", ""))
    shown = work / "menu" / _MENU
    shown.parent.mkdir(parents=True, exist_ok=True)
    shown.write_text(menu.replace("$rocmcfg_trial", trial))
    line = simulation().boot_line(work / "menu")
    assert isinstance(line, str)
    return line


def _run(root: Path, script: str) -> str:
    if not script.strip():
        return ""
    as_sh = re.sub(r"^(\s*)set (?=\w+=)", r"\1", script, flags=re.M)
    done = subprocess.run(
        ["sh", "-euc", _AS_SH % (_BLOCK, as_sh), "grub", str(root)],
        # 00_header has loaded the block by then
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "rocmcfg_next": "", **_block(root)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def _block(root: Path) -> dict[str, str]:
    listed = subprocess.run(
        ["chroot", str(root), "grub-editenv", _BLOCK, "list"], stdout=subprocess.PIPE, text=True, check=False
    )
    return dict(line.split("=", 1) for line in listed.stdout.splitlines() if "=" in line)
