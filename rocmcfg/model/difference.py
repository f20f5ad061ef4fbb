"""How a host differs from the golden host."""

from __future__ import annotations

from typing import Literal

from rocmcfg.model.shape import NamedTuple

Weight = Literal["error", "warning", "info"]
WEIGHTS: tuple[Weight, ...] = ("error", "warning", "info")  # what matters most comes first


class Difference(NamedTuple):
    """A fact that differs from that of the golden host. `here` is empty if this host does not have it, or if
    it cannot be told for the `reason`; `golden` is empty if that host does not have it. `gpus` are the
    addresses of the GPUs that differ."""

    fact: str
    name: str
    severity: Weight
    golden: str
    here: str
    gpus: tuple[str, ...] = ()
    reason: str = ""
    why: str = ""
    fix: str = ""
