"""What the real GRUB makes of lines of its script: grub-emu, which is GRUB itself as a program of the host,
and grub-script-check, by which grub-mkconfig judges the menu that it made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .tools import require_tool, run

_SHOW = """function show {
  echo "@begin"
  while [ "$#" != 0 ]; do echo "@<$1@>"; shift; done
}
"""


def words(arguments: Sequence[str], folder: Path, before: str = "") -> list[list[str]]:
    """The words that a command gets from each text behind its name; `before` are lines of the script that
    run first. A text must be valid: GRUB gives up at one that is not."""
    emulator = require_tool("grub-emu", "grub-emu")
    lines = "".join(f"show {text}\n" for text in arguments)
    (folder / "grub.cfg").write_text(f"{_SHOW}{before}{lines}echo @begin\nexit\n")
    printed = run([emulator, "-d", str(folder)], env={"TERM": "dumb"}).stdout.replace("\r", "")
    *rows, _ = printed.split("@begin\n")[1:] or [""]
    assert len(rows) == len(arguments), printed
    return [re.findall(r"@<(.*?)@>\n", row, re.DOTALL) for row in rows]


def is_valid(text: str, folder: Path) -> bool:
    """Whether grub-script-check takes a script."""
    checker = require_tool("grub-script-check", "grub-common")
    script = folder / "checked.cfg"
    script.write_text(text)
    return run([checker, str(script)]).returncode == 0
