"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any


def dracut_conf(*, path: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    out += ['# Module options for the driver in an image, in every mode of dracut.\n', 'install_optional_items+=" ', str(path), ' "\n']
    return "".join(out)
