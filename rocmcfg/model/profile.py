"""A profile as declared: settings with their reasons, before anything is known of a host."""

from __future__ import annotations

from dataclasses import dataclass

from rocmcfg.model.state import Channel, Kind
from rocmcfg.model.version import VersionRange


@dataclass(frozen=True, slots=True)
class Condition:
    """`when`: every part that is given must hold."""

    kernel: VersionRange | None = None
    rocm: VersionRange | None = None
    lacks_fix: str = ""
    gfx: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a profile.

    `value` is what TOML gave: a string, an integer or a truth value; for a kernel argument also a list.
    It must not be written anywhere: `engine.resolve` checks it and turns it into text first.
    """

    kind: Kind
    name: str
    value: str | int | bool | tuple[str, ...]
    module: str = ""
    because: str = ""
    evidence: tuple[str, ...] = ()
    cost: str = ""
    confidence: str = ""
    when: Condition | None = None
    optional: bool = False
    via: Channel | None = None
    location: str = ""
    profile: str = ""

    @property
    def id(self) -> str:
        """`amdgpu.runpm`, `feature.gfxoff`, `karg.iommu`, `env.NAME`: the same on every surface."""
        if self.kind is Kind.PARAMETER:
            return f"{self.module}.{self.name}"
        return f"{self.kind.value}.{self.name}"


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    summary: str
    gfx: tuple[str, ...]
    settings: tuple[Setting, ...]
    location: str
    extends: str = ""
    notes: tuple[str, ...] = ()
    shipped: bool = True
