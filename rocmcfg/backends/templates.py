"""The files we own. Those with a line for each setting are put together here, since every plan makes them and
jinja2 would take a fifth of its time; scripts are templates, which lie beside their user."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocmcfg.model.state import DesiredSetting


HEAD = "# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n"


def reason(setting: DesiredSetting) -> str:
    """A comment that says why."""
    # a backslash at the end would make the next line a part of it
    because = setting.because.rstrip("\\ ")
    return f"# {setting.id}: {because}\n" if because else f"# {setting.id}\n"


def render(package: str, name: str, **values: Any) -> bytes:
    """`package` is the sub-package of `rocmcfg.backends` whose `templates/` holds `name`."""
    folder = os.path.join(os.path.dirname(__file__), package, "templates")
    if not values:
        descriptor = os.open(os.path.join(folder, name), os.O_RDONLY)
        try:
            return os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        autoescape=False,  # no HTML; values are limited to safe characters before they come here
    )
    return environment.get_template(name).render(**values).encode()
