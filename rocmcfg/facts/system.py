"""What a host is besides its kernels, GPUs and ROCm: operating system (through `distro`), container,
processor, memory, board, firmware of the GPUs.

Sources: /proc/cpuinfo, /proc/meminfo, /sys/class/dmi/id (the world-readable part), and the attributes that
amdgpu gives each device: vbios_version, mem_info_*, fw_version/* (amdgpu_atombios.c, amdgpu_vram_mgr.c,
amdgpu_ucode.c in the kernel's drivers/gpu/drm/amd/amdgpu).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocmcfg.host.atomic import write_all
from rocmcfg.host.files import scratch_file
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.model.facts import Os
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from distro import LinuxDistribution

_LONGEST = 16 << 10  # bytes of os-release; all that distributions ship have less than 2 KiB
UNKNOWN = Os("unknown", "unknown system", "")
_NOWHERE = "/nonexistent"  # which no package may make (Debian's base-passwd)
_DMI = "/sys/class/dmi/id"


class Device(NamedTuple):
    """One GPU's own software. `firmware` maps a block (mes, smc, sdma …) to the version as printed by the
    driver; blocks without firmware are left out. Sizes in bytes, None where the driver does not say."""

    address: str
    vbios: str
    vram: int | None
    visible_vram: int | None  # to the processor
    firmware: Mapping[str, str]


class HostHardware(NamedTuple):
    """Texts are empty where nothing says them; `memory` in bytes. `driver_version` is what a driver from
    outside the kernel's tree calls itself."""

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
        content = _release(view)
    except Unreadable as problem:
        return Os("unknown", f"unknown system ({problem.path}: {problem.reason})", "")
    if content is None:
        return UNKNOWN
    with scratch_file() as copy:
        write_all(copy.fileno(), content)
        try:
            # the library reads a tree by itself: past its root, and for minutes where the file is large
            release = distro.LinuxDistribution(
                include_lsb=False,
                include_uname=False,
                include_oslevel=False,
                os_release_file=f"/proc/self/fd/{copy.fileno()}",
                distro_release_file=os.devnull,
                root_dir=_NOWHERE,
            )
            system = Os(release.id(), _name(release), release.version())
        except (OSError, UnicodeDecodeError, ValueError):
            return UNKNOWN
    return system if system.name else system._replace(id=system.id or UNKNOWN.id, name=UNKNOWN.name)


def _name(release: LinuxDistribution) -> str:
    """Return PRETTY_NAME, else what else is there; empty where nothing is. A version alone is of "Linux",
    which os-release(5) takes for a name that is not given."""
    pretty: str = release.os_release_attr("pretty_name")
    name, version = release.name() or release.id(), release.version()
    return pretty or " ".join(filter(None, (name or (version and "Linux"), version)))


def _release(view: HostView) -> bytes | None:
    """Return the content of os-release(5): the one in /etc goes before the one in /usr/lib. None where there
    is none. Raises Unreadable."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        content = view.read(path)
        if content is not None and len(content) > _LONGEST:
            raise Unreadable(path, f"it is larger than {_LONGEST >> 10} KiB")
        if content is not None:
            return content
    return None


def read_container(view: HostView) -> str:
    """Say why this is a container, else return an empty text. The marks are those of systemd's Container
    Interface, podman and docker."""
    for path in ("/run/systemd/container", "/run/.containerenv", "/.dockerenv"):
        if view.exists(path):
            return path
    environment = text_or_empty(view, "/proc/1/environ").split("\0")  # readable by root only
    mark = next((variable for variable in environment if variable.startswith("container=")), "")
    return f"/proc/1/environ: {mark}" if mark else ""


def read_hardware(view: HostView, addresses: tuple[str, ...]) -> HostHardware:
    """Return what the machine is. `addresses` are those of the GPUs, as in /sys/bus/pci/devices."""
    return HostHardware(
        _processor(text_or_empty(view, "/proc/cpuinfo")),
        read_memory(view),
        _joined(view, "board_vendor", "board_name"),
        _joined(view, "bios_version", "bios_date"),
        text_or_empty(view, "/sys/module/amdgpu/version").strip(),
        tuple(_device(view, address) for address in addresses),
    )


def _processor(cpuinfo: str) -> str:
    """Return the processor's name as /proc/cpuinfo has it; on arm64, where it has none, the numbers of its
    maker and its part (Linux, arch/arm64/kernel/cpuinfo.c, c_show)."""
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    fields = {name.strip(): value for name, _, value in lines}
    if "model name" in fields:
        return " ".join(fields["model name"].split())
    numbers = [fields.get(f"CPU {name}", "").strip() for name in ("implementer", "part")]
    return f"arm64, implementer {numbers[0]}, part {numbers[1]}" if all(numbers) else ""


def read_memory(view: HostView) -> int | None:
    """Return MemTotal in bytes, which is what the kernel manages, a little less than what is installed; None
    where nothing says it."""
    total = re.search(r"^MemTotal:\s*([0-9]{1,18}) kB$", text_or_empty(view, "/proc/meminfo"), re.M)
    return int(total[1]) * 1024 if total else None


def _device(view: HostView, address: str) -> Device:
    folder = f"/sys/bus/pci/devices/{address}"
    firmware = {}
    for name in view.names(f"{folder}/fw_version"):
        version = text_or_empty(view, f"{folder}/fw_version/{name}").strip()
        if version and version.strip("0x"):
            firmware[name.removesuffix("_fw_version")] = version
    vram, visible = (number_in(view, f"{folder}/mem_info_{which}_total") for which in ("vram", "vis_vram"))
    return Device(address, text_or_empty(view, f"{folder}/vbios_version").strip(), vram, visible, firmware)


def number_in(view: HostView, path: str) -> int | None:
    """Return the number that an attribute of sysfs holds in decimal digits; None where it holds none."""
    digits = text_or_empty(view, path).strip()
    return int(digits) if re.fullmatch("[0-9]{1,18}", digits) else None


def _joined(view: HostView, *names: str) -> str:
    return " ".join(filter(None, (text_or_empty(view, f"{_DMI}/{name}").strip() for name in names)))
