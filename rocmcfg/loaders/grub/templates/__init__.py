"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any

from rocmcfg.files.filters import reason


def assignment_cfg(*, kargs: Any) -> str:
    out: list[str] = []
    out += ['GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT ', str(kargs), '"\n']
    return "".join(out)


def drop_in_cfg(*, kargs: Any, settings: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    out += ['# GRUB_CMDLINE_LINUX_DEFAULT does not affect the recovery entries of the boot menu.\n']
    for setting in settings:
        out += ['# ', str(reason(setting)), '\n']
    out += ['GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT ', str(kargs), '"\n']
    return "".join(out)


def trial_cfg() -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg for a trial boot.\n# `rocmcfg confirm` and `rocmcfg reject` remove it.\n']
    out += ['# GRUB itself inserts the arguments for one boot here; see /etc/grub.d/01_rocmcfg_trial.\nGRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT \\$rocmcfg_trial"\n']
    return "".join(out)
