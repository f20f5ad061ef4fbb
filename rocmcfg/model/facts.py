"""What is true of a host: a read-only inventory. Every field says how it was found where that matters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.version import KernelVersion, Version, format_version, parse_range

if TYPE_CHECKING:
    from rocmcfg.model.catalogue import Hardware


class Driver(str, Enum):
    """How a kernel carries a module. A built-in driver reads the command line only, never modprobe.d."""

    MODULE = "module"
    BUILTIN = "builtin"
    ABSENT = "absent"


class Os(NamedTuple):
    id: str
    name: str
    version: str


@published("release", "version", "driver", "dkms", "running")
class Kernel(NamedTuple):
    """One installed kernel.

    `parameters` maps a module's name to its parameters and their modinfo types; a module is missing from
    it where its file could not be asked (another root, no modinfo), and then the catalogue stands in.
    """

    release: str
    version: KernelVersion
    driver: Driver
    dkms: bool = False
    running: bool = False
    parameters: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    @property
    def age(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Orders kernels, the newest last: 6.8.0-101 comes after 6.8.0-90, and 6.14 after its candidates."""
        return self.version.numbers, tuple(map(int, re.findall(r"[0-9]+", self.release)))


@published("gfx", "name", "source", "pci_id", "address", "node", "integrated")
class Gpu(NamedTuple):
    """`gfx` is None where the chip is not in our table."""

    gfx: str | None
    name: str
    source: Literal["kfd", "ip_discovery", "pci"]
    pci_id: str = ""
    address: str = ""
    node: int | None = None
    integrated: bool = False
    properties: Mapping[str, int] = MappingProxyType({})


class Detection(NamedTuple):
    """What a backend found of itself on a host. `evidence` says why; `proof` means the firmware says so.
    `renders` is the format of `rocmcfg render` for a system that is configured elsewhere, `lacks` a file
    without which a loader that could be is not `supported`, `unclear` in words what of it was not understood;
    `alone` that nothing but kernel arguments keeps
    rocmcfg from configuring the host."""

    name: str
    title: str
    evidence: tuple[str, ...]
    proof: bool = False
    supported: bool = False
    manual: str = ""
    renders: str = ""
    lacks: str = ""
    alone: bool = False
    unclear: str = ""

    @property
    def refusal(self) -> str:
        """Return why the program is not `supported`, to be read behind its title."""
        if self.lacks:
            return f"and {self.lacks} is missing"
        return f"and {self.unclear}" if self.unclear else "which rocmcfg cannot configure yet"


NO_LOADER = "no boot loader that rocmcfg knows was found"


@published(
    "loader=loader.name supported evidence candidates=candidates.name initramfs=initramfs.name secure_boot",
)
class BootChain(NamedTuple):
    """Which loader and initramfs generator the host uses. `loader` is None where none or several fit.
    `secure_boot` is "on", "off" or "off, in setup mode"; empty where nobody says. `hidden` is what only root
    may look into, where that may be the reason why there is none."""

    loader: Detection | None
    candidates: tuple[Detection, ...]
    initramfs: tuple[Detection, ...]
    refusal: str = ""
    secure_boot: str = ""
    hidden: str = ""

    @property
    def supported(self) -> bool:
        return self.loader is not None and self.loader.supported

    @property
    def left_to_user(self) -> bool:
        """Kernel arguments are the user's to add, and all else can be done: nothing of a loader is here, and
        nothing hides one; or it is one that never gets anything of ours."""
        return self.refusal == NO_LOADER if self.loader is None else self.loader.alone

    @property
    def evidence(self) -> tuple[str, ...]:
        return self.loader.evidence if self.loader else ()

    def against(self, candidate: Detection) -> tuple[str, ...]:
        """Return why one of the candidates is not what boots, or cannot be configured."""
        reasons = []
        if self.loader is None:
            reasons.append("nothing proves that it boots")
        elif candidate is not self.loader and candidate.proof:
            reasons.append(f"{self.loader.title} comes first where both were started")
        elif candidate is not self.loader and self.loader.proof:
            reasons.append(f"{self.loader.evidence[-1]}")
        elif candidate is not self.loader:
            reasons.append("another one was asked for")
        return (*reasons, *(() if candidate.supported else ("rocmcfg cannot configure it",)))


@published("version=text", "rocm=rocm_text", "path=source")
class PyTorch(NamedTuple):
    """One installed PyTorch for AMD GPUs, as its `torch/version.py` tells.

    `rocm` is the release whose libraries it brings, of two numbers where no more is said; None where
    nothing is. `own` marks that of the caller's virtual environment.
    """

    version: Version
    text: str
    rocm: Version | None
    source: str
    own: bool = False

    @property
    def rocm_text(self) -> str | None:
        return format_version(self.rocm) if self.rocm else None


@published(
    "os running_kernel=running kernels gpus rocm=rocm_text pytorch memory boot_chain=boot container",
)
class Facts(NamedTuple):
    """`memory` in bytes: what the kernel manages; None where no /proc says it."""

    os: Os
    kernels: tuple[Kernel, ...]
    running: str
    gpus: tuple[Gpu, ...]
    rocm: Version | None
    rocm_source: str
    boot: BootChain
    container: str
    offline: bool
    pytorch: tuple[PyTorch, ...] = ()
    memory: int | None = None

    @property
    def rocm_text(self) -> str | None:
        return format_version(self.rocm) if self.rocm else None

    @property
    def gfx(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(gpu.gfx for gpu in self.gpus if gpu.gfx))

    @property
    def computing(self) -> tuple[Gpu, ...]:
        return computing(self.gpus)

    @property
    def newer_kernel(self) -> Kernel | None:
        """The newest installed kernel, where it is newer than the one that runs."""
        running = next((kernel for kernel in self.kernels if kernel.running), None)
        newest = max(self.kernels, key=lambda kernel: kernel.age, default=None)
        return newest if running and newest and newest.age > running.age else None

    @property
    def machine(self) -> Machine:
        return Machine(self.driven, self.gpus, self.pytorch)

    @property
    def driven(self) -> tuple[Kernel, ...]:
        """The kernels that have an amdgpu driver at all."""
        return tuple(kernel for kernel in self.kernels if kernel.driver is not Driver.ABSENT)


class Machine(NamedTuple):
    """The machine that a setting is judged for. Three answers: yes, no, and None where it cannot be told.

    `kernels` have an amdgpu driver, oldest first; `gpus` are all that are there, also those that nobody
    could name. An empty part is not known."""

    kernels: tuple[Kernel, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    pytorch: tuple[PyTorch, ...] = ()

    @property
    def named(self) -> tuple[Gpu, ...]:
        return tuple(gpu for gpu in self.gpus if gpu.gfx)

    @property
    def gpu_names(self) -> str:
        return ", ".join(dict.fromkeys(gpu.gfx or "" for gpu in self.named))

    def has(self, hardware: Hardware | None) -> bool | None:
        """Say whether one of the machine's GPUs is among the hardware; None for hardware stands for all."""
        if hardware is None or any(hardware.covers(gpu.gfx or "", gpu.integrated) for gpu in self.named):
            return True
        return None if len(self.named) < max(len(self.gpus), 1) else False

    def runs(self, kernels: str) -> bool | None:
        """Say whether one of the machine's kernels is in a range such as ">=6.16"; an empty range holds
        all."""
        if not kernels:
            return True
        wanted = parse_range(kernels)
        answers = {wanted.between(*kernel.version.span) for kernel in self.kernels}
        return True if True in answers else None if None in answers or not answers else False

    def imports_before(self, release: str) -> bool | None:
        """Say whether a PyTorch of the machine is older than a release such as "2.7"; False of none."""
        if not release:
            return False
        wanted = parse_range(f"<{release}")
        return any(wanted.contains(torch.version) for torch in self.pytorch) if self.pytorch else None

    def releases(self, kernels: str) -> str:
        """Return the machine's kernels that may be in a range; the range itself where none is known."""
        there = (kernel.release for kernel in self.kernels if Machine((kernel,)).runs(kernels) is not False)
        return ", ".join(there) or kernels


def computing(gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """The GPUs that people compute on: an integrated one counts only where there is no other."""
    return tuple(gpu for gpu in gpus if not gpu.integrated) or tuple(gpus)
