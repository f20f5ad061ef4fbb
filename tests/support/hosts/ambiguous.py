"""Hosts with traces of two boot loaders."""

from __future__ import annotations

from .files import File, FileMap
from .grub import arch_grub
from .system import firmware
from .systemd_boot import arch_systemd_boot


def two_boot_chains() -> dict[str, File]:
    """GRUB and systemd-boot both complete, and no firmware variable that says which one boots."""
    return {**arch_grub(), **_without_firmware(arch_systemd_boot()), **firmware()}


def grub_with_leftover_loader_conf() -> dict[str, File]:
    """GRUB boots, and says so to the firmware; a stray loader.conf proves nothing."""
    return {**arch_grub(), "boot/loader/loader.conf": "timeout 3\n", **firmware("GRUB 2:2.14-1")}


def _without_firmware(files: FileMap) -> dict[str, File]:
    return {path: file for path, file in files.items() if not path.startswith("sys/firmware/")}
