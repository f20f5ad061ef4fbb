"""Find AMD GPUs: from KFD first, then IP discovery, then PCI ids, since each later source knows less.

Sources: kernel/drivers/gpu/drm/amd/amdkfd/kfd_topology.c (properties, gfx_target_version),
amdgpu_discovery.c (ip_discovery), sysfs PCI attributes.
"""

from __future__ import annotations

import re

from rocmcfg.facts import sosreport
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.catalogue import GpuModel
from rocmcfg.model.facts import Gpu
from rocmcfg.model.regex import regex

_KFD = "/sys/class/kfd/kfd/topology/nodes"
_PCI = "/sys/bus/pci/devices"
_AMD = 0x1002
_PROPERTY = regex(r"^(\w+) ([0-9]{1,20})$", re.M)  # u64 at most


def gfx_name(target: int) -> str:
    """Return a `gfx_target_version` (major × 10000 + minor × 100 + stepping) as the LLVM name: 90010 is
    gfx90a."""
    return f"gfx{target // 10000}{target // 100 % 100:x}{target % 100:x}"


def read_gpus(view: HostView, models: tuple[GpuModel, ...]) -> tuple[Gpu, ...]:
    pci = pci_gpus(view)
    gpus = _from_kfd(view, models, pci)
    addresses = {gpu.address for gpu in gpus}
    for address, pci_id in pci.items():
        if address not in addresses:
            gpus.append(_from_device(view, address, pci_id, models))
    return tuple(gpus)


def named_gpu(gfx: str, models: tuple[GpuModel, ...]) -> Gpu:
    """Return a GPU of which only the target is known."""
    alike = [model for model in models if model.gfx == gfx]
    return Gpu(gfx, alike[0].codename, "pci", integrated=all(model.apu for model in alike))


def driven_gpus(view: HostView) -> tuple[str, ...]:
    """Return the PCI addresses of the AMD display controllers and accelerators that amdgpu drives now."""
    return tuple(address for address in pci_gpus(view) if driver_of(view, address) == "amdgpu")


def driver_of(view: HostView, address: str) -> str:
    """Return the driver that is bound to a PCI device; empty where there is none, or no such device."""
    link = f"{_PCI}/{address}/driver"  # to the driver's directory (Documentation/ABI, sysfs-bus-pci)
    if view.is_symlink(link):
        return view.real_path(link).rpartition("/")[2]
    return next((saved.driver for saved in sosreport.devices(view) if saved.address == address), "")


def pci_gpus(view: HostView) -> dict[str, str]:
    """Return AMD's display controllers (class 0x03…) and accelerators (0x12…): address to device id."""
    devices = {}
    for address in view.names(_PCI):
        folder = f"{_PCI}/{address}"
        if _hex(view, f"{folder}/vendor") != _AMD:
            continue
        if _hex(view, f"{folder}/class") >> 16 in (0x03, 0x12):
            devices[address] = f"{_hex(view, f'{folder}/device'):04x}"
    return devices or {saved.address: saved.pci_id for saved in sosreport.devices(view)}


def _from_kfd(view: HostView, models: tuple[GpuModel, ...], pci: dict[str, str]) -> list[Gpu]:
    gpus = []
    for node in sorted(view.names(_KFD), key=lambda name: int(name) if name.isdecimal() else -1):
        # the device cgroup of a container forbids nodes one by one
        text = text_or_empty(view, f"{_KFD}/{node}/properties")
        properties = {name: int(value) for name, value in _PROPERTY.findall(text)}
        if not properties.get("simd_count"):
            continue  # a CPU node
        location = properties.get("location_id", 0)
        address = _address(properties.get("domain", 0), location)
        if address not in pci:  # a partition: the node's number is OR-ed into the function (kfd_topology.c)
            address = _address(properties.get("domain", 0), location & ~7)
        pci_id = f"{properties.get('device_id', 0):04x}"
        number = int(node) if node.isdecimal() else None
        target = properties.get("gfx_target_version", 0)  # which older kernels do not have
        gfx = gfx_name(target) if target else next((m.gfx for m in models if pci_id in m.pci), "")
        if not gfx:
            continue
        gpu = _named(models, gfx, Gpu(None, "", "kfd", pci_id, address, number))
        gpus.append(gpu._replace(properties=properties))
    return gpus


def _address(domain: int, location: int) -> str:
    return f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"


def _from_device(view: HostView, address: str, pci_id: str, models: tuple[GpuModel, ...]) -> Gpu:
    folder = f"{_PCI}/{address}/ip_discovery/die/0/GC/0"
    version = [text_or_empty(view, f"{folder}/{part}").strip() for part in ("major", "minor", "revision")]
    gc_ip = ".".join(version)
    if all(part.isdigit() for part in version):
        model = next((m for m in models if m.gc_ip == gc_ip), None)
        gpu = Gpu(None, f"GC {gc_ip}, unknown to this version", "ip_discovery", pci_id, address)
    else:
        model = next((m for m in models if pci_id in m.pci), None)
        gpu = Gpu(None, f"PCI 1002:{pci_id}, unknown to this version", "pci", pci_id, address)
    return _named(models, model.gfx, gpu) if model is not None else gpu


def _named(models: tuple[GpuModel, ...], gfx: str, gpu: Gpu) -> Gpu:
    """Return the GPU with the name of its product, if its id is known: one target may be both an accelerator
    and an APU (gfx942)."""
    of_target = [model for model in models if model.gfx == gfx]
    if not of_target:
        return gpu._replace(gfx=gfx, name=gfx)
    model = next((model for model in of_target if gpu.pci_id in model.pci), of_target[0])
    name = model.codename or model.products or model.family
    if model.codename and model.products:
        name = f"{model.codename} ({model.products})"
    return gpu._replace(gfx=gfx, name=name, integrated=model.apu)


def _hex(view: HostView, path: str) -> int:
    try:
        return int(text_or_empty(view, path).strip() or "0", 16)
    except ValueError:
        return 0
