"""The machine that a setting is judged for. Three answers: yes, no, and None where it cannot be told."""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.model.catalogue import Hardware
from rocmcfg.model.facts import Facts, Gpu, Kernel
from rocmcfg.model.version import parse_range, within


class Machine(NamedTuple):
    """`kernels` have an amdgpu driver, oldest first; `gpus` are all that are there, also those that nobody
    could name. An empty part is not known."""

    kernels: tuple[Kernel, ...] = ()
    gpus: tuple[Gpu, ...] = ()

    @property
    def named(self) -> tuple[Gpu, ...]:
        return tuple(gpu for gpu in self.gpus if gpu.gfx)

    @property
    def gpu_names(self) -> str:
        return ", ".join(dict.fromkeys(gpu.gfx or "" for gpu in self.named))

    def has(self, hardware: Hardware | None) -> bool | None:
        """Whether one of its GPUs is among the hardware; None for hardware stands for all."""
        if hardware is None or any(hardware.covers(gpu.gfx or "", gpu.integrated) for gpu in self.named):
            return True
        return None if len(self.named) < max(len(self.gpus), 1) else False

    def runs(self, kernels: str) -> bool | None:
        """Whether one of its kernels is in a range such as ">=6.16"; an empty range holds all."""
        if not kernels:
            return True
        wanted = parse_range(kernels)
        answers = {within(wanted, kernel.version) for kernel in self.kernels}
        return True if True in answers else None if None in answers or not answers else False


def of_facts(facts: Facts) -> Machine:
    return Machine(facts.driven, facts.gpus)
