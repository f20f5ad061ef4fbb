"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any

from rocmcfg.files.filters import quoted


def dracut_conf(*, added: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    out += ['kernel_cmdline+=', str(quoted(added)), '\n']
    return "".join(out)
