"""Hosts with MI300X whose state at run time can be seen: one as AMD's guides ask for, and what goes wrong on
others. The layout of sysfs is that of Documentation/ABI; the values are made up."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.support.hosts import debian_grub_host

GPUS = 8
_PCI = "sys/bus/pci/devices"


def instinct_host(tmp_path: Path, gpus: int = GPUS, name: str = "root", gfx: str = "gfx942") -> Path:
    """A host as AMD's guides ask for. Each GPU is below a port of its own."""
    tmp_path.mkdir(parents=True, exist_ok=True)
    root = debian_grub_host(
        tmp_path, gfx=[gfx] * gpus, name=name, cmdline="quiet iommu=pt pci=realloc=off password=hunter2"
    )
    for at in range(gpus):
        _connect(root, slot_of(at), f"0000:{at:02x}:01.1", group=at)
    for cpu in range(4):
        for number, (state, disabled) in enumerate((("POLL", 0), ("C1", 0), ("C2", 1))):
            write(root, f"sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}/name", state)
            write(root, f"sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}/disable", disabled)
        write(root, f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "performance")
    write(root, "proc/sys/kernel/numa_balancing", 0)
    write(root, "proc/sys/kernel/hostname", "node17.cluster.example")
    write(root, "proc/sys/vm/compaction_proactiveness", 20)
    write(root, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
    write(root, "proc/meminfo", "MemTotal:       1584000000 kB")
    write(root, "proc/cpuinfo", "model name\t: AMD EPYC 9654 96-Core Processor")
    for name_, text in (("bios_version", "1.4"), ("bios_date", "03/01/2026"), ("product_serial", "SECRET-1")):
        write(root, f"sys/class/dmi/id/{name_}", text)
    package = "Package: {}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {}\n\n"
    packages = (("rocm-core", "7.0.1-42"), ("linux-firmware", "20260101"), ("secret-agent", "7"))
    write(root, "var/lib/dpkg/status", "".join(package.format(*each) for each in packages))
    write(root, "etc/environment", "HSA_XNACK=1\nAPI_TOKEN=hunter2")
    return root


def slot_of(at: int) -> str:
    return f"0000:{3 + at:02x}:00.0"


def port_of(at: int) -> str:
    return f"0000:{at:02x}:01.1"


def broken(root: Path) -> None:
    """What goes wrong on a node of a cluster: a bad riser, and a reboot without the settings at run time."""
    set_of_gpu(root, 2, "current_link_width", 8)
    write(root, "proc/sys/kernel/numa_balancing", 1)
    write(root, "sys/devices/system/cpu/cpu3/cpuidle/state2/disable", 0)
    set_access_control(root, 5, on=True)


def set_of_gpu(root: Path, at: int, attribute: str, value: object) -> None:
    write(root, f"{_PCI}/{slot_of(at)}/{attribute}", value)


def set_access_control(root: Path, at: int, *, on: bool) -> None:
    (root / _PCI / port_of(at) / "config").write_bytes(_config(0x5D if on else 0))


def _config(control: int) -> bytes:
    """The configuration space of a bridge: after another capability comes that of ACS (pci_regs.h)."""
    space = bytearray(4096)
    struct.pack_into("<I", space, 0x100, 0x0001 | 1 << 16 | 0x2A0 << 20)
    struct.pack_into("<I", space, 0x2A0, 0x000D | 1 << 16)
    struct.pack_into("<HH", space, 0x2A4, 0x5F, control)
    return bytes(space)


def _connect(root: Path, slot: str, port: str, group: int) -> None:
    """Put a GPU below a port, as sysfs has it: the folders of a bus are links."""
    bus, below = root / _PCI, f"sys/devices/pci{port[:7]}/{port}"
    (root / below).mkdir(parents=True)
    (bus / slot).rename(root / below / slot)
    (bus / slot).symlink_to(f"../../../../{below}/{slot}")
    (bus / port).symlink_to(f"../../../../{below}")
    driver = root / below / slot / "driver"
    driver.unlink()
    driver.symlink_to("../../../../bus/pci/drivers/amdgpu")
    write(root, f"{below}/vendor", "0x1022")
    write(root, f"{below}/class", "0x060400")
    (root / below / "config").write_bytes(_config(0))
    kinds = {"type": "identity"}
    for name, value in kinds.items():
        write(root, f"sys/kernel/iommu_groups/{group}/{name}", value)
    (root / below / slot / "iommu_group").symlink_to(f"../../../../kernel/iommu_groups/{group}")
    attributes = {
        "current_link_width": 16,
        "max_link_width": 16,
        "current_link_speed": "32.0 GT/s PCIe",
        "current_compute_partition": "SPX",
        "current_memory_partition": "NPS1",
        "mem_info_vram_total": 206141652992,
        "mem_info_vis_vram_total": 206141652992,
        "vbios_version": "113-M3000100-102",
        "fw_version/smc_fw_version": "0x00554500",
        "fw_version/sdma_fw_version": "0x00000018",
        "unique_id": "SECRET-2",
        "serial_number": "SECRET-3",
    }
    for name, attribute in attributes.items():
        write(root, f"{below}/{slot}/{name}", attribute)


def write(root: Path, path: str, value: object) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{value}\n")
