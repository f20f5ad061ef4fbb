"""AMD GPUs: KFD first, then IP discovery, then PCI ids, because each later source knows less.

Sources: kernel/drivers/gpu/drm/amd/amdkfd/kfd_topology.c (properties, gfx_target_version),
amdgpu_discovery.c (ip_discovery), sysfs PCI attributes.
"""

from __future__ import annotations

import re

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.catalogue import GpuModel
from rocmcfg.model.facts import Gpu

_KFD = "/sys/class/kfd/kfd/topology/nodes"
_PCI = "/sys/bus/pci/devices"
_AMD = 0x1002
_PROPERTY = re.compile(r"^(\w+) ([0-9]{1,20})$", re.M)  # u64 at most


def gfx_name(target: int) -> str:
    """`gfx_target_version` (major × 10000 + minor × 100 + stepping) as the LLVM name: 90010 is gfx90a."""
    return f"gfx{target // 10000}{target // 100 % 100:x}{target % 100:x}"


def read_gpus(view: HostView, models: tuple[GpuModel, ...]) -> tuple[Gpu, ...]:
    pci = _pci_devices(view)
    found = _from_kfd(view, models, pci)
    known = {gpu.address for gpu in found}
    for address, pci_id in pci.items():
        if address not in known:
            found.append(_from_device(view, address, pci_id, models))
    return tuple(found)


def driven_gpus(view: HostView) -> tuple[str, ...]:
    """PCI addresses of the AMD display controllers and accelerators to which amdgpu is bound now."""
    return tuple(address for address in _on_pci(view) if driver_of(view, address) == "amdgpu")


def driver_of(view: HostView, address: str) -> str:
    """The driver that is bound to a PCI device; empty where none is, or no such device is there."""
    link = f"{_PCI}/{address}/driver"  # to the driver's directory (Documentation/ABI, sysfs-bus-pci)
    return view.real_path(link).rpartition("/")[2] if view.is_symlink(link) else ""


def _pci_devices(view: HostView) -> dict[str, str]:
    return _on_pci(view) or _drm_devices(view)


def _on_pci(view: HostView) -> dict[str, str]:
    """AMD display controllers (class 0x03…) and accelerators (0x12…): address to device id."""
    devices = {}
    for address in view.names(_PCI):
        folder = f"{_PCI}/{address}"
        if _hex(view, f"{folder}/vendor") != _AMD:
            continue
        if _hex(view, f"{folder}/class") >> 16 in (0x03, 0x12):
            devices[address] = f"{_hex(view, f'{folder}/device'):04x}"
    return devices


def _drm_devices(view: HostView) -> dict[str, str]:
    devices = {}
    for card in view.names("/sys/class/drm"):
        folder = f"/sys/class/drm/{card}/device"
        if re.fullmatch(r"card\d+", card) and _hex(view, f"{folder}/vendor") == _AMD:
            slot = re.search(r"PCI_SLOT_NAME=(\S+)", _text(view, f"{folder}/uevent"))
            devices[slot.group(1) if slot else card] = f"{_hex(view, f'{folder}/device'):04x}"
    return devices


def _from_kfd(view: HostView, models: tuple[GpuModel, ...], pci: dict[str, str]) -> list[Gpu]:
    gpus = []
    for node in sorted(view.names(_KFD), key=lambda name: int(name) if name.isdecimal() else -1):
        properties = _properties(_text(view, f"{_KFD}/{node}/properties"))
        target = properties.get("gfx_target_version", 0)
        if not target or not properties.get("simd_count"):
            continue  # a CPU node
        location = properties.get("location_id", 0)
        address = _address(properties.get("domain", 0), location)
        if address not in pci:  # a partition: the node's number is OR-ed into the function (kfd_topology.c)
            address = _address(properties.get("domain", 0), location & ~7)
        pci_id = f"{properties.get('device_id', 0):04x}"
        gfx = gfx_name(target)
        gpus.append(
            Gpu(
                gfx,
                _name(models, gfx, pci_id),
                "kfd",
                pci_id,
                address,
                int(node) if node.isdecimal() else None,
                _integrated(models, gfx, pci_id),
                properties,
            )
        )
    return gpus


def _address(domain: int, location: int) -> str:
    return f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"


def _from_device(view: HostView, address: str, pci_id: str, models: tuple[GpuModel, ...]) -> Gpu:
    folder = f"{_PCI}/{address}"
    if not view.is_dir(f"{folder}/ip_discovery"):
        folder = _drm_folder(view, address) or folder
    version = [
        _text(view, f"{folder}/ip_discovery/die/0/GC/0/{part}").strip()
        for part in ("major", "minor", "revision")
    ]
    if all(part.isdigit() for part in version):
        gc_ip = ".".join(version)
        model = next((m for m in models if m.gc_ip == gc_ip), None)
        if model is not None:
            return Gpu(
                model.gfx,
                _name(models, model.gfx, pci_id),
                "ip_discovery",
                pci_id,
                address,
                integrated=_integrated(models, model.gfx, pci_id),
            )
        return Gpu(None, f"GC {gc_ip}, not known to this version", "ip_discovery", pci_id, address)
    model = next((m for m in models if pci_id in m.pci), None)
    if model is None:
        return Gpu(None, f"PCI 1002:{pci_id}, not known to this version", "pci", pci_id, address)
    return Gpu(
        model.gfx,
        _name(models, model.gfx, pci_id),
        "pci",
        pci_id,
        address,
        integrated=_integrated(models, model.gfx, pci_id),
    )


def _drm_folder(view: HostView, address: str) -> str | None:
    for card in view.names("/sys/class/drm"):
        folder = f"/sys/class/drm/{card}/device"
        if re.fullmatch(r"card\d+", card) and (card == address or address in _text(view, f"{folder}/uevent")):
            return folder
    return None


def _model(models: tuple[GpuModel, ...], gfx: str, pci_id: str) -> GpuModel | None:
    """The product where its id is known: one target may be an accelerator and an APU (gfx942)."""
    found = [m for m in models if m.gfx == gfx]
    return next((m for m in found if pci_id in m.pci), found[0] if found else None)


def _name(models: tuple[GpuModel, ...], gfx: str, pci_id: str) -> str:
    model = _model(models, gfx, pci_id)
    if model is None:
        return gfx
    if not model.codename:
        return model.products or model.family
    return f"{model.codename} ({model.products})" if model.products else model.codename


def _integrated(models: tuple[GpuModel, ...], gfx: str, pci_id: str) -> bool:
    model = _model(models, gfx, pci_id)
    return model is not None and model.apu


def _properties(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in _PROPERTY.findall(text)}


def _text(view: HostView, path: str) -> str:
    try:
        return view.text(path) or ""
    except Unreadable:  # the device cgroup of a container forbids KFD nodes one by one
        return ""


def _hex(view: HostView, path: str) -> int:
    try:
        return int(_text(view, path).strip() or "0", 16)
    except ValueError:
        return 0
