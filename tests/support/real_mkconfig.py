"""This machine's own grub-mkconfig, for a tree. Without drop-ins it stands for that of GRUB itself: Debian's
script less the loop that Debian patches into it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .tools import require_tool, run

PROBE = """#!/bin/sh
case "$*" in
  *partmap*) echo gpt ;;
  *uuid*) echo 3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3 ;;
  *device*=*fs*|*"-t fs"*|*target=fs*) echo ext2 ;;
  *target=device*) echo /dev/sda2 ;;
  *drive*) echo '(hd0,gpt2)' ;;
esac
"""


class Mkconfig:
    """The machine's own grub-mkconfig and 10_linux with their paths turned to a scratch host."""

    def __init__(self, root: Path, *, drop_ins: bool = True) -> None:
        self.root = root
        original = Path(require_tool("grub-mkconfig", package="grub-common")).read_text()
        if "default/grub.d" not in original:
            pytest.skip("the grub-mkconfig of this distribution reads no drop-ins (a patch of Debian's)")
        if not drop_ins:
            original, cut = re.subn(
                r"\nfor x in [^\n]*default/grub\.d/.*?\ndone\n", "\n", original, flags=re.S
            )
            assert cut == 1
        self.text = original
        linux = Path("/etc/grub.d/10_linux").read_text()
        (root / "etc/grub.d").mkdir(exist_ok=True)
        self._write(
            "etc/grub.d/10_linux",
            linux.replace(" /boot/", f" {root}/boot/").replace(" /vmlinuz-*", "").replace(" /vmlinux-*", ""),
        )
        replaced = []
        for line in original.splitlines():
            name = line.partition("=")[0]
            replaced.append(
                {"sysconfdir": f'sysconfdir="{root}/etc"', "grub_probe": f'grub_probe="{root}/probe"'}.get(
                    name, line
                )
            )
        self._write("grub-mkconfig", "\n".join(replaced) + "\n")
        self._write("probe", PROBE)
        self._write("mkrelpath", f'#!/bin/sh\nprintf "%s\\n" "${{1#{root}}}"\n')

    def _write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)
        (self.root / name).chmod(0o755)

    def run(self, menu: str = "boot/grub/grub.cfg") -> None:
        """Writes `menu`. Commands of the defaults run in the root of the scratch host."""
        out = self.root / menu
        tools = {"grub_probe": f"{self.root}/probe", "grub_mkrelpath": f"{self.root}/mkrelpath"}
        result = run(
            ["sh", "-c", 'cd "$1"; exec sh ./grub-mkconfig -o "$2"', "sh", str(self.root), str(out)],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "EUID": "0", **tools},
        )
        assert result.returncode == 0, result.stderr
