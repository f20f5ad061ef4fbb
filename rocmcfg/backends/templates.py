"""Renders the files we own. Templates hold loops and nothing clever; they lie beside their user."""

from __future__ import annotations

from typing import Any


def render(package: str, name: str, **values: Any) -> bytes:
    """`package` is the sub-package of `rocmcfg.backends` whose `templates/` holds `name`."""
    import shlex

    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rocmcfg.backends", f"{package}/templates" if package else "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        autoescape=False,  # no HTML; values are limited to safe characters before they come here
    )
    environment.filters["shell"] = shlex.quote  # a value may hold `;`
    return environment.get_template(name).render(**values).encode()
