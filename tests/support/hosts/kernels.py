"""Kernels, their modules and initramfs images, and a driver that is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

from .files import File, Secret
from .system import BOOT_ID

Driver = Literal["module", "builtin", "dkms", "missing"]


# Defaults of kernel 6.12 as sysfs prints them; enough parameters for every type.
PARAMETERS: Mapping[str, str] = {
    "backlight": "-1",
    "cg_mask": "18446744073709551615",
    "cwsr_enable": "1",
    "dcdebugmask": "0",
    "disable_cu": "(null)",
    "gpu_recovery": "-1",
    "gttsize": "-1",
    "hws_gws_support": "N",
    "lockup_timeout": "",
    "mes": "0",
    "noretry": "-1",
    "ppfeaturemask": "0xfff7bfff",
    "runpm": "-1",
    "sg_display": "-1",
    "tmz": "-1",
    "vm_fragment_size": "-1",
}


ROOT_ONLY_PARAMETERS = frozenset({"gartsize", "gttsize", "moverate", "vramlimit"})


def module_state(parameters: Mapping[str, str]) -> dict[str, File]:
    """Return /sys/module/amdgpu of a loaded driver."""
    directory = "sys/module/amdgpu/parameters"
    return {
        f"{directory}/{name}": Secret(f"{value}\n") if name in ROOT_ONLY_PARAMETERS else f"{value}\n"
        for name, value in parameters.items()
    }


def kernel_modules(kernel: str, driver: Driver = "module", suffix: str = ".ko.xz") -> dict[str, File]:
    """Return /usr/lib/modules of one kernel; `dkms` has the distribution's amdgpu as well, and hides it.

    depmod puts updates/ before the kernel's own directory (depmod.d(5), `search updates … built-in`).
    """
    base = f"usr/lib/modules/{kernel}"
    stock = f"kernel/drivers/gpu/drm/amd/amdgpu/amdgpu{suffix}"
    dkms = f"updates/dkms/amdgpu{suffix}"
    present = {"module": [stock], "dkms": [dkms, stock], "builtin": [], "missing": []}[driver]
    builtin = ["kernel/fs/ext4/ext4.ko"]
    if driver == "builtin":
        builtin.append("kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko")
    return {
        f"{base}/modules.dep": "".join(f"{path}:\n" for path in present[:1]),
        f"{base}/modules.order": "",
        f"{base}/modules.builtin": "".join(f"{path}\n" for path in builtin),
        **{f"{base}/{path}": "" for path in present},
    }


def cpio_archive(files: Mapping[str, bytes]) -> bytes:
    """Return an uncompressed newc archive of the files and their directories, as the kernel unpacks it.

    Source: Documentation/driver-api/early-userspace/buffer-format.rst.
    """
    parents = {str(parent) for name in files for parent in PurePosixPath(name).parents} - {"."}
    entries: list[tuple[str, int, bytes]] = [(name, 0o040755, b"") for name in sorted(parents)]
    entries += [(name, 0o100644, content) for name, content in files.items()]
    archive = bytearray()
    for inode, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        encoded = name.encode() + b"\0"
        numbers = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        archive += b"070701" + b"".join(b"%08x" % number for number in numbers) + encoded
        archive += bytes(-len(archive) % 4)
        archive += content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)


def initramfs_image(kernel: str, *, amdgpu: bool, modprobe_d: Mapping[str, str] | None = None) -> bytes:
    """Return an initramfs with or without amdgpu; mkinitramfs copies all of /etc/modprobe.d."""
    files = {"conf/initramfs.conf": b"MODULES=most\n"}
    files |= {f"etc/modprobe.d/{name}": text.encode() for name, text in (modprobe_d or {}).items()}
    if amdgpu:
        files[f"usr/lib/modules/{kernel}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.xz"] = b""
    return cpio_archive(files)


def running_kernel(kernel: str, cmdline: str) -> dict[str, File]:
    """Return /proc of a host that booted `kernel` with `cmdline`."""
    return {
        "proc/cmdline": cmdline + "\n",
        "proc/version": f"Linux version {kernel} (builder@example) #1 SMP PREEMPT_DYNAMIC\n",
        "proc/sys/kernel/osrelease": kernel + "\n",
        "proc/sys/kernel/tainted": "0\n",
        "proc/sys/kernel/random/boot_id": BOOT_ID + "\n",
    }
