"""Versions that do not fit together: driver and ROCm, GPU and firmware."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.facts.system import Hardware
from rocmcfg.knowledge.diagnosis import of_hosts
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.spelling import as_number
from rocmcfg.model.version import Version, format_version, parse_version


def driver_and_rocm(driver: str, rocm: Version | None, where: str, source: str = "") -> Iterator[Diagnostic]:
    """AMD's DKMS driver of one release under a ROCm that it was not made for. `where` is who has them."""
    version = parse_version(driver)
    if version is None or rocm is None:
        return
    row = next((row for row in of_hosts().drivers if row.version.contains(version)), None)
    if row is not None and not row.rocm.contains(rocm):
        yield warning(
            "RC8110",
            f"driver and ROCm do not fit: amdgpu-dkms {driver} under ROCm {format_version(rocm)}",
            detail=f"{where}: the driver came with ROCm {row.release}; AMD supports it with {row.rocm.text}",
            location=source,
            hint="install the driver of the same release, or use the kernel's own: remove amdgpu-dkms",
        )


def loaded_firmware(hardware: Hardware) -> dict[str, int]:
    """Block to version, of the first GPU that says it."""
    found: dict[str, int] = {}
    for device in hardware.devices:
        for block, text in device.firmware.items():
            version = as_number(text)
            if version is not None:
                found.setdefault(block, version)
    return found


def firmware(facts: Facts, hardware: Hardware) -> Iterator[Diagnostic]:
    """Firmware that is known to be bad for the GPU that runs it."""
    by_address = {gpu.address: gpu.gfx for gpu in facts.gpus}
    for device in hardware.devices:
        gfx = by_address.get(device.address)
        for row in of_hosts().firmware:
            version = as_number(device.firmware.get(row.block))
            if version is not None and row.is_bad(version) and gfx in row.gfx:
                yield warning(
                    "RC8111",
                    f"{row.block.upper()} firmware {row.version:#x} is known to fail on {gfx}",
                    location=f"/sys/bus/pci/devices/{device.address}/fw_version/{row.block}_fw_version",
                    hint=f"`rocmcfg doctor` on a log of the failure tells more; the issue is {row.issue}",
                )
