"""Facts about a host: a read-only inventory. Fields name the source of a fact where that matters."""

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
    """How a kernel contains a module. A built-in driver reads only the command line, never modprobe.d."""

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

    `parameters` maps a module's name to its parameters and their modinfo types. A module is missing from
    `parameters` if its file could not be queried (another root, no modinfo), and the catalogue is used.
    """

    release: str
    version: KernelVersion
    driver: Driver
    dkms: bool = False
    running: bool = False
    parameters: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    @property
    def age(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a key that sorts the newest kernel last: 6.8.0-101 is after 6.8.0-90, and 6.14 after its
        candidates."""
        return self.version.numbers, tuple(map(int, re.findall(r"[0-9]+", self.release)))


@published("gfx", "name", "source", "pci_id", "address", "node", "integrated")
class Gpu(NamedTuple):
    """A GPU. `gfx` is None where the chip is not in our table."""

    gfx: str | None
    name: str
    source: Literal["kfd", "ip_discovery", "pci"]
    pci_id: str = ""
    address: str = ""
    node: int | None = None
    integrated: bool = False
    properties: Mapping[str, int] = MappingProxyType({})


class Detection(NamedTuple):
    """The detection of a backend's program on a host, because of `evidence`; `proof` means that the firmware
    confirms it. `renders` is the format of `rocmcfg render` for a system that is configured elsewhere;
    `lacks` is a missing file without which the loader is not `supported`; `unclear` says in words what was
    not understood; `alone` means that rocmcfg can configure everything on the host except kernel
    arguments."""

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
        """Return why the program is not `supported`, in words that follow its title."""
        if self.lacks:
            return f"and {self.lacks} is missing"
        return f"and {self.unclear}" if self.unclear else "which rocmcfg cannot configure yet"


ROCM_NAMED = "--rocm"  # where the user names the release
NO_LOADER = "no known boot loader was found"


@published(
    "loader=loader.name supported evidence candidates=candidates.name initramfs=initramfs.name secure_boot",
)
class BootChain(NamedTuple):
    """The loader and initramfs generator that the host uses. `loader` is None where none or several fit.
    `secure_boot` is "on", "off" or "off, in setup mode"; empty where it is not known. `hidden` is a folder
    that only root may read, which may be the reason why there is no loader."""

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
        """Return whether the user must add kernel arguments, and rocmcfg can do everything else: there is no
        loader, and nothing hides one; or it is one that rocmcfg does not configure."""
        return self.refusal == NO_LOADER if self.loader is None else self.loader.alone

    @property
    def evidence(self) -> tuple[str, ...]:
        return self.loader.evidence if self.loader else ()

    def against(self, candidate: Detection) -> tuple[str, ...]:
        """Return the reasons why a candidate does not boot the host, or cannot be configured."""
        reasons = []
        if self.loader is None:
            reasons.append("nothing proves that it boots")
        elif candidate is not self.loader and candidate.proof:
            reasons.append(f"{self.loader.title} comes first where both were started")
        elif candidate is not self.loader and self.loader.proof:
            reasons.append(f"{self.loader.evidence[-1]}")
        elif candidate is not self.loader:
            reasons.append("another one was requested")
        return (*reasons, *(() if candidate.supported else ("rocmcfg cannot configure it",)))


@published("version=text", "rocm=rocm_text", "path=source")
class PyTorch(NamedTuple):
    """One installed PyTorch for AMD GPUs, according to its `torch/version.py`.

    `rocm` is the release of its libraries, with two numbers if no more are known, None if none is. `own`
    marks the one in the caller's virtual environment.
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
    """The facts about a host. `memory` is the memory that the kernel manages, in bytes; None without a
    /proc."""

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
    def knows_rocm(self) -> bool:
        """Whether the release is known that programs load: one of the whole system, or that of a PyTorch."""
        return self.rocm is not None or any(torch.rocm for torch in self.pytorch)

    @property
    def gfx(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(gpu.gfx for gpu in self.gpus if gpu.gfx))

    @property
    def computing(self) -> tuple[Gpu, ...]:
        return computing(self.gpus)

    @property
    def newer_kernel(self) -> Kernel | None:
        """Return the newest installed kernel, if it is newer than the running one."""
        running = next((kernel for kernel in self.kernels if kernel.running), None)
        newest = max(self.kernels, key=lambda kernel: kernel.age, default=None)
        return newest if running and newest and newest.age > running.age else None

    @property
    def machine(self) -> Machine:
        return Machine(self.driven, self.gpus, self.pytorch)

    @property
    def driven(self) -> tuple[Kernel, ...]:
        """Return the kernels that have an amdgpu driver."""
        return tuple(kernel for kernel in self.kernels if kernel.driver is not Driver.ABSENT)


class Machine(NamedTuple):
    """The machine for which a setting is judged. Answers are yes, no, and None where it is not known.

    `kernels` have an amdgpu driver, oldest first; `gpus` are all GPUs, including unidentified ones. An empty
    part is not known."""

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
        """Return whether one of the machine's GPUs is among the hardware; None for hardware means all."""
        if hardware is None or any(hardware.covers(gpu.gfx or "", gpu.integrated) for gpu in self.named):
            return True
        return None if len(self.named) < max(len(self.gpus), 1) else False

    def runs(self, kernels: str) -> bool | None:
        """Return whether one of the machine's kernels is in a range such as ">=6.16"; an empty range contains
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
        """Return the machine's kernels that may be in a range; the range itself where no kernel is known."""
        there = (kernel.release for kernel in self.kernels if Machine((kernel,)).runs(kernels) is not False)
        return ", ".join(there) or kernels


def computing(gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """Return the GPUs for computing: an integrated one counts only where there is no other."""
    return tuple(gpu for gpu in gpus if not gpu.integrated) or tuple(gpus)
