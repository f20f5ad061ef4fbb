"""The configured state: what the host's files say without us."""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.backends import modprobe
from rocmcfg.backends.boot import registry
from rocmcfg.backends.boot.contract import Observed as ObservedBoot
from rocmcfg.host.view import HostView
from rocmcfg.model.facts import Driver, Facts
from rocmcfg.model.kargs import Karg
from rocmcfg.state.effective import Effective, effective


class Observed(NamedTuple):
    """What the host's files say without us: the configured state."""

    boot: ObservedBoot | None
    options: tuple[modprobe.Option, ...]
    builtin: bool

    @property
    def kargs(self) -> tuple[Karg, ...]:
        return self.boot.foreign if self.boot else ()

    def effective(self, parameter: str) -> Effective:
        return effective(parameter, self.options, self.kargs, builtin=self.builtin)


def observe(view: HostView, facts: Facts) -> Observed:
    loader = facts.boot.loader
    seen = registry.backend(loader.name).observe(view) if loader and loader.supported else None
    builtin = bool(facts.driven) and all(k.driver is Driver.BUILTIN for k in facts.driven)
    return Observed(seen, modprobe.read_options(view, include_ours=False), builtin)
