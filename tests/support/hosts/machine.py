"""A machine without a boot loader: what a host of any loader has, for trees whose other files are data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .distributions import DEBIAN_KERNEL
from .files import File, Link, make_root
from .gpus import gpu_files
from .kernels import PARAMETERS, kernel_modules, module_state, running_kernel
from .system import MACHINE_ID, ROOT_ARGUMENT, firmware, rocm_files


def machine(
    tmp_path: Path,
    *,
    gfx: Sequence[str] = ("gfx1201",),
    rocm: str | None = "7.1.0",
    kernels: Sequence[str] = (DEBIAN_KERNEL,),
    booted_with: str = f"{ROOT_ARGUMENT} ro quiet",
    loader_info: str = "",
    stub_info: str = "",
    name: str = "root",
) -> Path:
    """Build it with GPUs, the driver, ROCm, a machine id and `kernels`, of which the first one runs.

    booted_with   the whole of /proc/cmdline
    loader_info, stub_info   what the boot loader and the stub of an image told the firmware
    """
    files: dict[str, File] = {
        "lib": Link("usr/lib"),
        "etc/machine-id": MACHINE_ID + "\n",
        **firmware(loader_info, stub_info),
        **running_kernel(kernels[0], booted_with),
        **rocm_files(rocm),
        **gpu_files(gfx),
        **module_state(PARAMETERS),
    }
    for kernel in kernels:
        files |= kernel_modules(kernel)
    return make_root(tmp_path, files, name=name)
