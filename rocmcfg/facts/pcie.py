"""Find out how a GPU is connected: the devices between it and the processor, and what these allow.

Sources: Documentation/ABI/testing/sysfs-bus-pci (link widths and speeds, `config`), sysfs-kernel-iommu_groups
(`type`), include/uapi/linux/pci_regs.h (PCI_EXT_CAP_ID_ACS, PCI_ACS_CTRL), drivers/pci/pci-sysfs.c
(pci_read_config: without CAP_SYS_ADMIN only the first 64 bytes).
"""

from __future__ import annotations

import struct

from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.model.host_facts import Reading
from rocmcfg.model.regex import regex

DEVICES = "/sys/bus/pci/devices"
_AMD = "0x1002"
_ADDRESS = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_EXTENDED, _SPACE = 0x100, 0x1000  # where extended capabilities begin, and the space ends
_ACS, _CONTROL = 0x000D, 6


def way_to(view: HostView, address: str) -> list[str]:
    """Return the addresses of the devices from the root complex to a device, which comes last; empty if it is
    not there."""
    if not view.exists(f"{DEVICES}/{address}"):
        return []
    parts = view.real_path(f"{DEVICES}/{address}").split("/")
    return [part for part in parts if _ADDRESS.fullmatch(part)]


def card_and_slot(view: HostView, address: str) -> tuple[str, str]:
    """Return the outermost device of the card that a GPU is on, and the port above it. A card has AMD bridges
    whose inner links are always wide. Empty where they are not known."""
    devices = way_to(view, address)
    for above, device in zip(["", *devices], devices, strict=False):
        if text_or_empty(view, f"{DEVICES}/{device}/vendor")[:6] == _AMD:
            return device, above
    return "", ""


def iommu(view: HostView, address: str) -> Reading:
    """Return how the IOMMU treats a device: identity, DMA, DMA-FQ, auto; `none` if it is off."""
    if not view.exists(f"{DEVICES}/{address}"):
        return Reading(reason=f"there is no {DEVICES}/{address}")
    if view.kernel_is_lent:
        return Reading(reason="the running kernel belongs to another system")
    if not view.exists(f"{DEVICES}/{address}/iommu_group"):
        return Reading("none")
    try:
        kind = view.text(f"{DEVICES}/{address}/iommu_group/type")
    except Unreadable as problem:
        return Reading(reason=problem.reason)
    return (
        Reading((kind or "").strip())
        if kind
        else Reading(reason="the kernel does not show the type of its group")
    )


def access_control(view: HostView, address: str) -> Reading:
    """Return "on" if one of the bridges above a device has access control services, "off" if none has."""
    devices = way_to(view, address)
    if not devices:
        return Reading(reason=f"there is no {DEVICES}/{address}")
    for bridge in devices[:-1]:
        path = f"{DEVICES}/{bridge}/config"
        try:
            content = view.read(path)
        except Unreadable as problem:
            return Reading(reason=problem.reason)
        if content is None:
            return Reading(reason=f"there is no {path}")
        if len(content) < max(_EXTENDED, view.size(path)):
            return Reading(reason="only root may read the settings of PCI bridges")
        if control_of(content):
            return Reading("on")
    return Reading("off")


def control_of(config: bytes) -> int:
    """Return the control word of access control services in the configuration space of a device; 0 if it has
    none. The chain of capabilities is followed once at most."""
    at, seen = _EXTENDED, set[int]()
    while _EXTENDED <= at <= min(_SPACE, len(config)) - 8 and at not in seen:
        seen.add(at)
        header, word = (
            struct.unpack_from("<I", config, at)[0],
            struct.unpack_from("<H", config, at + _CONTROL)[0],
        )
        if header & 0xFFFF == _ACS:
            return int(word)
        at = header >> 20 & 0xFFC
    return 0
