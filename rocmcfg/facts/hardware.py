"""What the machine is besides its kernels and GPUs' names: processor, memory, board, firmware of the GPUs.

Sources: /proc/cpuinfo, /proc/meminfo, /sys/class/dmi/id (the world-readable part), and the attributes that
amdgpu gives each device: vbios_version, mem_info_*, fw_version/* (amdgpu_atombios.c, amdgpu_vram_mgr.c,
amdgpu_ucode.c in the kernel's drivers/gpu/drm/amd/amdgpu).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from rocmcfg.host.view import HostView, text_or_empty

_DMI = "/sys/class/dmi/id"


class Device(NamedTuple):
    """One GPU's own software. `firmware` maps a block (mes, smc, sdma …) to the version as printed by the
    driver; blocks without firmware are left out. Sizes in bytes, None where the driver does not say."""

    address: str
    vbios: str
    vram: int | None
    firmware: Mapping[str, str]


class Hardware(NamedTuple):
    """Texts are empty where nothing says them; `memory` in bytes. `driver_version` is what a driver from
    outside the kernel's tree calls itself."""

    processor: str
    memory: int | None
    board: str
    bios: str
    driver_version: str
    devices: tuple[Device, ...]


def read_hardware(view: HostView, addresses: tuple[str, ...]) -> Hardware:
    """`addresses` are those of the GPUs, as in /sys/bus/pci/devices."""
    model = re.search(r"^model name\s*:\s*(.+)$", text_or_empty(view, "/proc/cpuinfo"), re.M)
    return Hardware(
        " ".join(model[1].split()) if model else "",
        read_memory(view),
        _joined(view, "board_vendor", "board_name"),
        _joined(view, "bios_version", "bios_date"),
        text_or_empty(view, "/sys/module/amdgpu/version").strip(),
        tuple(read_device(view, address) for address in addresses),
    )


def read_memory(view: HostView) -> int | None:
    """MemTotal in bytes: what the kernel manages, a little less than what is installed."""
    total = re.search(r"^MemTotal:\s*([0-9]{1,18}) kB$", text_or_empty(view, "/proc/meminfo"), re.M)
    return int(total[1]) * 1024 if total else None


def read_device(view: HostView, address: str) -> Device:
    folder = f"/sys/bus/pci/devices/{address}"
    firmware = {}
    for name in view.names(f"{folder}/fw_version"):
        version = text_or_empty(view, f"{folder}/fw_version/{name}").strip()
        if version and version.strip("0x"):
            firmware[name.removesuffix("_fw_version")] = version
    return Device(
        address,
        text_or_empty(view, f"{folder}/vbios_version").strip(),
        _number(text_or_empty(view, f"{folder}/mem_info_vram_total")),
        firmware,
    )


def _joined(view: HostView, *names: str) -> str:
    return " ".join(filter(None, (text_or_empty(view, f"{_DMI}/{name}").strip() for name in names)))


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\s*[0-9]{1,18}\s*", text) else None
