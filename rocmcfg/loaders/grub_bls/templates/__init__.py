"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any


def user_cfg() -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg for a trial boot.\n# `rocmcfg confirm` and `rocmcfg reject` remove it.\n']
    out += ['set rocmcfg_trial=\nif [ -n "${rocmcfg_next}" ]; then\n  set rocmcfg_taken="${rocmcfg_next}"\n  set rocmcfg_next=\n  if save_env rocmcfg_next; then\n    set rocmcfg_trial="${rocmcfg_taken}"\n  fi\nfi\nexport rocmcfg_trial\n']
    return "".join(out)
