"""What random files are made of: parameters and variables that rocmcfg knows, with values as people write
them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

Made = Callable[[Random], Mapping[str, str]]

PARAMETERS = {
    "cwsr_enable": ("0", "1"),
    "gpu_recovery": ("0", "1", "-1"),
    "lockup_timeout": ("10000", "10000,60000,10000,10000"),
    "mes": ("0", "1"),
    "noretry": ("0", "1"),
    "ppfeaturemask": ("0xffffffff", "0xfff7ffff"),
    "runpm": ("0", "1", "-1"),
    "sched_policy": ("0", "2"),
    "vm_fragment_size": ("9", "-1"),
}
OTHERS = ("quiet", "splash", "ro", "iommu=pt", "nomodeset", "loglevel=3", "pcie_aspm=off", "mitigations=off")
VARIABLES = {
    "AMD_LOG_LEVEL": ("0", "3", "4"),
    "GPU_MAX_HW_QUEUES": ("1", "2", "8"),
    "HIP_VISIBLE_DEVICES": ("0", "0,1", "1"),
    "HSA_ENABLE_SDMA": ("0", "1"),
    "HSA_OVERRIDE_GFX_VERSION": ("10.3.0", "11.0.0", "9.0.0"),
    "MIOPEN_FIND_MODE": ("NORMAL", "FAST"),
    "PYTORCH_HIP_ALLOC_CONF": (
        "expandable_segments:True",
        "garbage_collection_threshold:0.8,max_split_size_mb:512",
    ),
    "ROCR_VISIBLE_DEVICES": ("0", "0,1"),
}


def parameter(random: Random) -> tuple[str, str]:
    name = random.choice(sorted(PARAMETERS))
    return name, random.choice(PARAMETERS[name])


def parameters(random: Random, most: int = 4) -> list[tuple[str, str]]:
    return [parameter(random) for _ in range(random.randint(1, most))]


def argument(random: Random) -> str:
    """Of the kernel's command line."""
    name, value = parameter(random)
    return random.choice((f"amdgpu.{name}={value}", f"amdgpu.{name}={value}", random.choice(OTHERS)))


def arguments(random: Random, most: int = 6) -> list[str]:
    return [argument(random) for _ in range(random.randint(1, most))]


def variable(random: Random) -> tuple[str, str]:
    name = random.choice(sorted(VARIABLES))
    return name, random.choice(VARIABLES[name])


def variables(random: Random, most: int = 4) -> list[tuple[str, str]]:
    return [variable(random) for _ in range(random.randint(1, most))]
