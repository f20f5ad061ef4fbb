"""The files we own. Those with a line for each setting are put together here, since every plan makes them and
jinja2 would take a fifth of its time; scripts are templates, which lie beside their user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from rocmcfg.host.files import read_own_file
from rocmcfg.model.state import DesiredSetting

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


def render(package: str, name: str, **values: Any) -> bytes:
    """`package` is the sub-package of `rocmcfg.backends` whose `templates/` holds `name`."""
    content = read_own_file(os.path.join(os.path.dirname(__file__), package, "templates", name))
    if not values:
        return content
    from jinja2 import StrictUndefined, Template

    # no HTML is escaped: values are limited to safe characters before they come here
    template = Template(content.decode(), undefined=StrictUndefined, keep_trailing_newline=True)
    rendered: str = template.render(**values)
    return rendered.encode()
