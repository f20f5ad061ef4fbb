"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any


def drop_in_conf(*, names: Any, part: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    for name in names:
        out += ['KERNEL_CMDLINE[', str(name), ']+="', str(part), ' "\n']
    return "".join(out)


def trial(*, lines: Any, title: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg for a trial boot.\n# `rocmcfg confirm` and `rocmcfg reject` remove it.\n']
    out += ['/', str(title), '\n']
    for line in lines:
        out += ['    ', str(line), '\n']
    return "".join(out)
