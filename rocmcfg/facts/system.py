"""Read facts about a host other than its kernels, GPUs and ROCm: operating system (through `distro`),
container, processor, memory, board, firmware of the GPUs.

Sources: /proc/cpuinfo, /proc/meminfo, /sys/class/dmi/id (the world-readable part), and the attributes that
amdgpu gives each device: vbios_version, mem_info_*, fw_version/* (amdgpu_atombios.c, amdgpu_vram_mgr.c,
amdgpu_ucode.c in the kernel's drivers/gpu/drm/amd/amdgpu).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO

from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.model.facts import Os
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from distro import LinuxDistribution

_LONGEST = 16 << 10  # bytes of os-release; those of all distributions have less than 2 KiB
UNKNOWN = Os("unknown", "unknown system", "")
_NOWHERE = (
    "/nonexistent"  # a path that no package may create (Debian's base-passwd), so the library finds nothing
)
_DMI = "/sys/class/dmi/id"


class Device(NamedTuple):
    """One GPU's own software. `firmware` maps a block (mes, smc, sdma …) to the version as printed by the
    driver; blocks without firmware are left out. Sizes are in bytes, None where the driver does not report
    them."""

    address: str
    vbios: str
    vram: int | None
    visible_vram: int | None  # visible to the processor
    firmware: Mapping[str, str]


class HostHardware(NamedTuple):
    """The hardware. Texts are empty where they are not known; `memory` is in bytes. `driver_version` is the
    version that an out-of-tree driver reports."""

    processor: str
    memory: int | None
    board: str
    bios: str
    driver_version: str
    devices: tuple[Device, ...]


def read_os(view: HostView) -> Os:
    """Return the operating system, for display: the name of a distribution never decides anything."""
    import distro

    try:
        opened = _release(view)
    except Unreadable as problem:
        return Os("unknown", f"unknown system ({problem.path}: {problem.reason})", "")
    if opened is None:
        return UNKNOWN
    with opened:
        try:
            # the library follows a path out of the host's root, but not one of an open file
            path = f"/proc/self/fd/{opened.fileno()}"
            release = distro.LinuxDistribution(os_release_file=path, root_dir=_NOWHERE)
            system = Os(release.id(), _name(release), release.version())
        except (OSError, UnicodeDecodeError, ValueError):
            return UNKNOWN
    return system if system.name else system._replace(id=system.id or UNKNOWN.id, name=UNKNOWN.name)


def _name(release: LinuxDistribution) -> str:
    """Return PRETTY_NAME, or else name and version; empty where there is none. Without a name it is "Linux",
    as in os-release(5)."""
    pretty: str = release.os_release_attr("pretty_name")
    name, version = release.name() or release.id(), release.version()
    return pretty or " ".join(filter(None, (name or (version and "Linux"), version)))


def _release(view: HostView) -> BinaryIO | None:
    """Open os-release(5): the one in /etc comes before the one in /usr/lib. None where there is none. Raises
    Unreadable, also for a file that would take the library minutes."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        if view.size(path) > _LONGEST:
            raise Unreadable(path, f"it is larger than {_LONGEST >> 10} KiB")
        if (stream := view.stream(path)) is not None:
            return stream
    return None


def read_name(view: HostView) -> str:
    """Return the name of the host: of the running one as the kernel has it, else that of hostname(5); empty
    where there is none."""
    for path in ("/proc/sys/kernel/hostname", "/etc/hostname"):
        lines = (line.strip() for line in text_or_empty(view, path)[:_LONGEST].splitlines())
        if name := next((line for line in lines if line and not line.startswith("#")), ""):
            return name[:255]
    return ""


def read_container(view: HostView) -> str:
    """Return the evidence that this is a container; empty where there is none. The marks are those of
    systemd's Container Interface, podman and docker."""
    for path in ("/run/systemd/container", "/run/.containerenv", "/.dockerenv"):
        if view.exists(path):
            return path
    environment = text_or_empty(view, "/proc/1/environ").split("\0")  # readable by root only
    mark = next((variable for variable in environment if variable.startswith("container=")), "")
    return f"/proc/1/environ: {mark}" if mark else ""


def read_hardware(view: HostView, addresses: tuple[str, ...]) -> HostHardware:
    """Return the hardware of the machine. `addresses` are those of the GPUs, as in /sys/bus/pci/devices."""
    return HostHardware(
        _processor(text_or_empty(view, "/proc/cpuinfo")),
        read_memory(view),
        _joined(view, "board_vendor", "board_name"),
        _joined(view, "bios_version", "bios_date"),
        text_or_empty(view, "/sys/module/amdgpu/version").strip(),
        tuple(_device(view, address) for address in addresses),
    )


def _processor(cpuinfo: str) -> str:
    """Return the processor's name from /proc/cpuinfo; on arm64, which has none, the numbers of its
    implementer and its part (Linux, arch/arm64/kernel/cpuinfo.c, c_show)."""
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    fields = {name.strip(): value for name, _, value in lines}
    if "model name" in fields:
        return " ".join(fields["model name"].split())
    numbers = [fields.get(f"CPU {name}", "").strip() for name in ("implementer", "part")]
    return f"arm64, implementer {numbers[0]}, part {numbers[1]}" if all(numbers) else ""


def read_memory(view: HostView) -> int | None:
    """Return MemTotal in bytes, the memory that the kernel manages, a little less than the installed memory;
    None where it is not known."""
    total = re.search(r"^MemTotal:\s*([0-9]{1,18}) kB$", text_or_empty(view, "/proc/meminfo"), re.M)
    return int(total[1]) * 1024 if total else None


def _device(view: HostView, address: str) -> Device:
    folder = f"/sys/bus/pci/devices/{address}"
    firmware = read_firmware(view, folder)
    vram, visible = (number_in(view, f"{folder}/mem_info_{which}_total") for which in ("vram", "vis_vram"))
    return Device(address, text_or_empty(view, f"{folder}/vbios_version").strip(), vram, visible, firmware)


def read_firmware(view: HostView, folder: str) -> dict[str, str]:
    """Return the versions of a GPU's firmware by block. `folder` is the device's in /sys."""
    firmware = {}
    for name in view.names(f"{folder}/fw_version"):
        version = text_or_empty(view, f"{folder}/fw_version/{name}").strip()
        if version and version.strip("0x"):
            firmware[name.removesuffix("_fw_version")] = version
    return firmware


def number_in(view: HostView, path: str) -> int | None:
    """Return the decimal number in an attribute of sysfs; None where it holds none."""
    digits = text_or_empty(view, path).strip()
    return int(digits) if re.fullmatch("[0-9]{1,18}", digits) else None


def _joined(view: HostView, *names: str) -> str:
    return " ".join(filter(None, (text_or_empty(view, f"{_DMI}/{name}").strip() for name in names)))
