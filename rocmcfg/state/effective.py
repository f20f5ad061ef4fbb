"""Which value a module parameter will have at the next boot, and who wrote it.

Precedence (kmod 30, tested): kernel command line over modprobe.d, later over earlier within each. A
built-in driver takes the command line only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rocmcfg.backends.modprobe import Option
from rocmcfg.model.kargs import Karg, canonical


class Effective(NamedTuple):
    """`value` is None where nobody sets the parameter; `all` holds every writer, the winner last."""

    value: str | None
    source: str
    all: tuple[Karg, ...]


def effective(
    parameter: str, options: Sequence[Option], kargs: Sequence[Karg], *, builtin: bool = False
) -> Effective:
    """`parameter` is `module.name`."""
    module, _, name = parameter.partition(".")
    module, name = canonical(module), canonical(name)
    writers = [] if builtin else [o.karg for o in options if o.module == module and o.karg.key == name]
    writers += [k for k in kargs if k.key == f"{module}.{name}"]
    if not writers:
        return Effective(None, "", ())
    return Effective(writers[-1].value, writers[-1].source, tuple(writers))
