"""The machine that a text is judged for, and what of its hardware a fact concerns."""

from __future__ import annotations

from dataclasses import dataclass

from rocmcfg.model.catalogue import Hardware
from rocmcfg.model.facts import Gpu, Kernel


@dataclass(frozen=True, slots=True)
class Machine:
    """`kernels` have an amdgpu driver, oldest first. Empty parts are not known, and what needs them is said
    with its condition, as a remark, or not at all."""

    kernels: tuple[Kernel, ...] = ()
    gpus: tuple[Gpu, ...] = ()

    @property
    def named(self) -> tuple[Gpu, ...]:
        return tuple(gpu for gpu in self.gpus if gpu.gfx)

    def covered(self, hardware: Hardware) -> bool | None:
        """Whether one of its GPUs is among the hardware; None where no GPU is known."""
        if not self.named:
            return None
        return any(hardware.covers(gpu.gfx or "", gpu.integrated) for gpu in self.named)

    @property
    def gpu_names(self) -> str:
        return ", ".join(dict.fromkeys(gpu.gfx or "" for gpu in self.named))
