"""GPUs as sysfs and KFD show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .files import File, Link

# What a GPU is known by: gfx target -> (GC IP version, PCI device id). The GC IP is AMD's IP discovery table
# as amdgpu_discovery.c names it (11.0.3 is gfx1101, for instance); the ids are one product of each target.
GPUS: Mapping[str, tuple[str, str]] = {
    "gfx906": ("9.4.0", "66af"),
    "gfx908": ("9.4.1", "738c"),
    "gfx90a": ("9.4.2", "7408"),
    "gfx942": ("9.4.3", "74a1"),
    "gfx950": ("9.5.0", "75a0"),
    "gfx1010": ("10.1.10", "731f"),
    "gfx1030": ("10.3.0", "73bf"),
    "gfx1031": ("10.3.2", "73df"),
    "gfx1036": ("10.3.6", "164e"),
    "gfx1100": ("11.0.0", "744c"),
    "gfx1101": ("11.0.3", "747e"),
    "gfx1103": ("11.0.1", "15bf"),
    "gfx1150": ("11.5.0", "150e"),
    "gfx1151": ("11.5.1", "1586"),
    "gfx1200": ("12.0.0", "7590"),
    "gfx1201": ("12.0.1", "7550"),
}


def target_version(gfx: str) -> int:
    """Return KFD's gfx_target_version: major * 10000 + minor * 100 + stepping (kfd_device.c)."""
    digits = gfx.removeprefix("gfx")
    return int(digits[:-2]) * 10000 + int(digits[-2], 16) * 100 + int(digits[-1], 16)


def gpu_files(
    gfx: Sequence[str],
    *,
    kfd: bool = True,
    ip_discovery: bool = True,
    cwsr_size: bool = False,
    partitions: int = 1,
    cpu_nodes: int = 1,
    bound: bool = True,
) -> dict[str, File]:
    """Return sysfs of the GPUs: PCI, DRM, and KFD nodes after the CPU nodes, in the order given.

    `partitions` is the number of KFD nodes per GPU (an MI300X in CPX mode has 8). The `cwsr_size` line
    appeared in the kernel releases that brought the CWSR fix (node_show() in kfd_topology.c). KFD, DRM and
    ip_discovery are amdgpu's work: where it is not `bound` to the GPU, PCI is all there is.
    """
    files: dict[str, File] = {}
    kfd, ip_discovery = kfd and bound, ip_discovery and bound
    nodes = "sys/class/kfd/kfd/topology/nodes"
    if kfd and gfx:
        for node in range(cpu_nodes):
            files |= {f"{nodes}/{node}/{name}": text for name, text in _cpu_node().items()}
    node = cpu_nodes
    for index, target in enumerate(gfx):
        bus = 3 + index
        slot = f"0000:{bus:02x}:00.0"
        files |= _pci_and_drm(target, slot, card=index + 1, ip_discovery=ip_discovery, bound=bound)
        for partition in range(partitions if kfd else 0):
            properties = _gpu_properties(target, bus * 256 + partition, node - cpu_nodes, cwsr_size=cwsr_size)
            files[f"{nodes}/{node}/properties"] = properties
            files[f"{nodes}/{node}/gpu_id"] = f"{50000 + node}\n"
            files[f"{nodes}/{node}/name"] = "ip discovery\n"
            node += 1
    return files


def _cpu_node() -> dict[str, str]:
    properties = "cpu_cores_count 16\nsimd_count 0\nmem_banks_count 1\ngfx_target_version 0\nvendor_id 0\n"
    return {"properties": properties, "gpu_id": "0\n", "name": "\n"}


def _gpu_properties(gfx: str, location: int, index: int, *, cwsr_size: bool) -> str:
    lines = [
        "cpu_cores_count 0",
        "simd_count 128",
        "mem_banks_count 1",
        f"wave_front_size {64 if gfx.startswith('gfx9') else 32}",
        f"gfx_target_version {target_version(gfx)}",
        "vendor_id 4098",
        f"device_id {int(GPUS[gfx][1], 16)}",
        f"location_id {location}",
        "domain 0",
        f"drm_render_minor {128 + index}",
        "num_cp_queues 8",
        *(["cwsr_size 30699520", "ctl_stack_size 28672"] if cwsr_size else []),
        "fw_version 2780",
        "num_xcc 1",
    ]
    return "\n".join(lines) + "\n"


def _pci_and_drm(gfx: str, slot: str, *, card: int, ip_discovery: bool, bound: bool) -> dict[str, File]:
    version, device_id = GPUS[gfx]
    pci = f"sys/bus/pci/devices/{slot}"
    display_class = "0x120000" if gfx in ("gfx908", "gfx90a", "gfx942", "gfx950") else "0x030000"
    files: dict[str, File] = {
        f"{pci}/vendor": "0x1002\n",
        f"{pci}/device": f"0x{device_id}\n",
        f"{pci}/class": f"{display_class}\n",
        f"{pci}/uevent": "DRIVER=amdgpu\n" * bound
        + f"PCI_ID=1002:{device_id.upper()}\nPCI_SLOT_NAME={slot}\n",
    }
    if bound:
        files |= {f"{pci}/driver": Link("../../drivers/amdgpu"), "sys/bus/pci/drivers/amdgpu/bind": ""}
        files[f"sys/class/drm/card{card}/device"] = Link(f"../../../bus/pci/devices/{slot}")
    if ip_discovery:
        # amdgpu_discovery.c names the directory by hardware id (11 is GC) and links the name to it.
        major, minor, revision = version.split(".")
        block = f"{pci}/ip_discovery/die/0/11/0"
        files |= {f"{block}/major": f"{major}\n", f"{block}/minor": f"{minor}\n"}
        files |= {f"{block}/revision": f"{revision}\n", f"{pci}/ip_discovery/die/0/GC": Link("11")}
    return files
