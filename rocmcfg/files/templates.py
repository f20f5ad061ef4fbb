"""The files we own: those with a line for each setting; scripts lie beside their user."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rocmcfg.host.files import read_own_file
from rocmcfg.model.desired import DesiredSetting

TRIAL_HEAD = """# Written by rocmcfg for a trial boot.
# `rocmcfg confirm` and `rocmcfg reject` take it away again.
"""
HEAD = "# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n"


def reason(setting: DesiredSetting) -> str:
    """A comment that says why."""
    # a backslash at the end would make the next line a part of it
    because = setting.because.rstrip("\\ ")
    return f"# {setting.id}: {because}\n" if because else f"# {setting.id}\n"


def own_file(settings: Sequence[DesiredSetting], line: str, remark: str = "") -> bytes | None:
    """A file with the reason for each setting and one line that says them all; None without settings."""
    return "".join([HEAD, remark, *map(reason, settings), line, "\n"]).encode() if settings else None


def script(module: str, name: str) -> bytes:
    """Return the file `name` of the folder `templates/` beside a module, whose `__file__` is `module`."""
    return read_own_file(os.path.join(os.path.dirname(module), "templates", name))
