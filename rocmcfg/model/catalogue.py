"""The catalogue's nouns: parameters over kernel versions, feature bits, fixes, GPUs, variables, traps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocmcfg.model.value import ParamType
from rocmcfg.model.version import KernelVersion


@dataclass(frozen=True, slots=True)
class Epoch:
    """A run of builds, first to last inclusive, that agree on a parameter. `default` is sysfs text."""

    first: KernelVersion
    last: KernelVersion
    type: ParamType
    default: str
    permission: str
    taints: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What the catalogue says of a parameter on one kernel.

    `variants` are the epochs that may apply: one where the neighbouring builds agree, two where they do
    not, none where the parameter is certainly absent. `certain` is False where presence is disputed or
    depends on the kernel's configuration; `typed` is False where a neighbour lacks it, so that its type is
    a guess.
    """

    variants: tuple[Epoch, ...]
    certain: bool
    typed: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    module: str
    name: str
    summary: str
    epochs: tuple[Epoch, ...]
    builds: tuple[KernelVersion, ...]
    rewritten: bool = False
    mask: bool = False
    since: str = ""
    removed: str = ""
    deprecated: str = ""
    config: str = ""
    bounds: tuple[int, int] | None = None

    @property
    def id(self) -> str:
        return f"{self.module}.{self.name}"

    def on(self, version: KernelVersion) -> Standing:
        """Where a kernel has no build of its own, what its two neighbours agree on."""
        below = [b for b in self.builds if b <= version]
        above = [b for b in self.builds if b >= version]
        neighbours = ([max(below)] if below else []) + ([min(above)] if above else [])
        found = [self._at(build) for build in neighbours]
        variants = tuple(dict.fromkeys(epoch for epoch in found if epoch is not None))
        everywhere = all(e is not None for e in found)
        return Standing(variants, (everywhere or not variants) and not self.config, typed=everywhere)

    def _at(self, build: KernelVersion) -> Epoch | None:
        return next((e for e in self.epochs if e.first <= build <= e.last), None)


@dataclass(frozen=True, slots=True)
class Feature:
    """A named bit of a feature mask. `set_means_on` is False for bits that switch something off."""

    name: str
    parameter: str
    bit: int
    set_means_on: bool
    summary: str

    def compose(self, mask: int, enabled: bool) -> int:
        return mask | self.bit if enabled == self.set_means_on else mask & ~self.bit


@dataclass(frozen=True, slots=True)
class Fix:
    """Which kernels carry a fix. A series below mainline and not in `stable` never got it."""

    name: str
    summary: str
    mainline: KernelVersion
    stable: tuple[KernelVersion, ...]
    kfd_property: str
    evidence: tuple[str, ...]

    def present_in(self, version: KernelVersion) -> bool | None:
        """None where the release hides its stable level and the series got the fix at some level."""
        if version.numbers[:2] >= self.mainline.numbers[:2]:
            return True
        for first in self.stable:
            if first.series == version.series:
                return version >= first if version.sublevel_known else None
        return False


@dataclass(frozen=True, slots=True)
class GpuModel:
    gc_ip: str
    gfx: str
    family: str
    codename: str
    products: str
    pci: tuple[str, ...]
    apu: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable; `values` is empty where any text is legal."""

    name: str
    summary: str
    reader: str = ""
    values: tuple[str, ...] = ()
    presence_only: bool = False
    unknown: bool = False
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Trap:
    """A name that people write and that is not what they think."""

    name: str
    instead: str
    summary: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    parameters: Mapping[str, Parameter]
    features: Mapping[str, Feature]
    fixes: Mapping[str, Fix]
    gpus: tuple[GpuModel, ...]
    variables: Mapping[str, Variable]
    traps: Mapping[str, Trap]
    related_modules: tuple[str, ...]

    def modules(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.module for p in self.parameters.values()))
