"""The log of a guest's serial console, made readable."""

from __future__ import annotations

import re
from pathlib import Path

_DRAWN_MENU = re.compile(r"[ \ufffd]{8,}")  # GRUB paints its menu's frame and background
_TERMINAL_CODES = re.compile(r"\x1b(\[[0-9;?=!]*[A-Za-z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])")


def tail(log: Path, lines: int) -> str:
    """Return the last lines of the console without terminal codes."""
    if not log.exists():
        return "(the console is empty)"
    text = log.read_bytes()[-64 * 1024 :].decode(errors="replace").replace("\r", "\n")
    text = _DRAWN_MENU.sub(" ", _TERMINAL_CODES.sub("", text))
    kept = [line.rstrip() for line in text.split("\n") if line.strip()]
    return "\n".join(kept[-lines:])
