"""The configured state: what the files of a host give its next boot, and who wrote it.

Precedence of a module parameter (kmod 30, tested): kernel command line over modprobe.d, later over earlier
within each. A built-in driver takes the command line only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocmcfg.backends import modprobe
from rocmcfg.model.kargs import Karg, canonical

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import Observed as ObservedBoot
    from rocmcfg.host.view import HostView
    from rocmcfg.model.facts import Facts


class Effective(NamedTuple):
    """`value` is None where nobody sets the parameter; `all` holds every writer, the winner last."""

    value: str | None
    source: str
    all: tuple[Karg, ...]


def effective(
    parameter: str, options: Sequence[Karg], kargs: Sequence[Karg], *, builtin: bool = False
) -> Effective:
    """`parameter` is `module.name`, and so are the names of `options`, which modprobe.d has."""
    key = canonical(parameter)
    writers = [karg for karg in (*(() if builtin else options), *kargs) if karg.key == key]
    if not writers:
        return Effective(None, "", ())
    return Effective(writers[-1].value, writers[-1].source, tuple(writers))


class Observed(NamedTuple):
    """What the host's files say without us."""

    boot: ObservedBoot | None
    options: tuple[Karg, ...]
    builtin: bool

    @property
    def kargs(self) -> tuple[Karg, ...]:
        return self.boot.foreign if self.boot else ()

    def effective(self, parameter: str) -> Effective:
        return effective(parameter, self.options, self.kargs, builtin=self.builtin)


def observe(view: HostView, facts: Facts) -> Observed:
    from rocmcfg.backends.boot import registry
    from rocmcfg.model.facts import Driver

    loader = facts.boot.loader
    seen = registry.backend(loader.name).observe(view) if loader and loader.supported else None
    builtin = bool(facts.driven) and all(k.driver is Driver.BUILTIN for k in facts.driven)
    return Observed(seen, modprobe.read_options(view, include_ours=False), builtin)
