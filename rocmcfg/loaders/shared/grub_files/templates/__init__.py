"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any


def trial_sh() -> str:
    out: list[str] = []
    out += ['#!/bin/sh\n']
    out += ['# Written by rocmcfg for a trial boot.\n# `rocmcfg confirm` and `rocmcfg reject` remove it.\n']
    out += ["# grub-mkconfig puts the output of this script before the entries of the boot\n# menu. There GRUB first removes the arguments from its environment block, and\n# uses them only if that succeeded, so that no second boot gets them.\ncat <<'EOF'\n"]
    out += ['set rocmcfg_trial=\nif [ -n "${rocmcfg_next}" ]; then\n  set rocmcfg_taken="${rocmcfg_next}"\n  set rocmcfg_next=\n  if save_env rocmcfg_next; then\n    set rocmcfg_trial="${rocmcfg_taken}"\n  fi\nfi\nexport rocmcfg_trial\n']
    out += ['EOF\n']
    return "".join(out)


def trial_hook_cfg() -> str:
    out: list[str] = []
    out += ['set rocmcfg_trial=\nif [ -n "${rocmcfg_next}" ]; then\n  set rocmcfg_taken="${rocmcfg_next}"\n  set rocmcfg_next=\n  if save_env rocmcfg_next; then\n    set rocmcfg_trial="${rocmcfg_taken}"\n  fi\nfi\nexport rocmcfg_trial\n']
    return "".join(out)
