"""Fake host trees for tests: the evidence that rocmcfg reads, and nothing else of a system.

`debian_grub_host` builds a Debian 13 host with GRUB and takes options for everything that facts and
planners look at. The other boot chains have a module per kind of boot loader: `OTHER_HOSTS` holds one file
map for each of them, and `other_host` writes one. `machine` has no loader: cases lay files of theirs over it.
A test that needs something special passes `extra`, which wins over everything generated.

The trees are layouts, not systems: images, modules and programs are placeholders, and no program in them may
be run. They must not be used to prove what GRUB, kmod or the kernel do; other tests run the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from .ambiguous import grub_with_leftover_loader_conf, two_boot_chains
from .bls import el8_bls, el9_bls, fedora_bls, opensuse_grub2_bls
from .debian_grub import debian_grub_cfg, debian_grub_host, partitioned_instinct_host
from .declared import bootc, guix, nixos, ostree, ubuntu_core
from .distributions import (
    ARCH_KERNEL,
    DEBIAN_KERNEL,
    FEDORA_KERNEL,
    bls_entry,
)
from .files import File, FileMap, Link, Program, Secret, make_root, programs
from .gpus import GPUS, gpu_files, target_version
from .grub import MKCONFIG, arch_grub, gentoo_builtin, opensuse_grub2, proxmox_grub, steamos
from .kernels import (
    PARAMETERS,
    ROOT_ONLY_PARAMETERS,
    Driver,
    cpio_archive,
    initramfs_image,
    kernel_modules,
    module_state,
    running_kernel,
)
from .limine import limine
from .machine import machine
from .system import (
    BOOT_ID,
    CONTAINER_MARKERS,
    ESP_UUID,
    LOADER_GUID,
    MACHINE_ID,
    ROOT_ARGUMENT,
    ROOT_UUID,
    efi_variable,
    firmware,
    os_release,
    rocm_files,
)
from .systemd_boot import (
    arch_booster,
    arch_systemd_boot,
    debian_dracut_systemd_boot,
    opensuse_systemd_boot,
    popos,
    proxmox_systemd_boot,
    systemd_boot_kernel_install,
)
from .uki import uki_dracut, uki_mkinitcpio, uki_ukify

__all__ = [
    "ARCH_KERNEL",
    "BOOT_ID",
    "CONTAINER_MARKERS",
    "DEBIAN_KERNEL",
    "ESP_UUID",
    "FEDORA_KERNEL",
    "GPUS",
    "LOADER_GUID",
    "MACHINE_ID",
    "MKCONFIG",
    "OTHER_HOSTS",
    "PARAMETERS",
    "ROOT_ARGUMENT",
    "ROOT_ONLY_PARAMETERS",
    "ROOT_UUID",
    "Driver",
    "File",
    "FileMap",
    "Link",
    "Program",
    "Secret",
    "arch_booster",
    "arch_grub",
    "arch_systemd_boot",
    "bls_entry",
    "bootc",
    "cpio_archive",
    "debian_dracut_systemd_boot",
    "debian_grub_cfg",
    "debian_grub_host",
    "efi_variable",
    "el8_bls",
    "el9_bls",
    "fedora_bls",
    "firmware",
    "gentoo_builtin",
    "gpu_files",
    "grub_with_leftover_loader_conf",
    "guix",
    "initramfs_image",
    "kernel_modules",
    "limine",
    "machine",
    "make_root",
    "module_state",
    "nixos",
    "opensuse_grub2",
    "opensuse_grub2_bls",
    "opensuse_systemd_boot",
    "os_release",
    "ostree",
    "other_host",
    "partitioned_instinct_host",
    "popos",
    "programs",
    "proxmox_grub",
    "proxmox_systemd_boot",
    "rocm_files",
    "running_kernel",
    "steamos",
    "systemd_boot_kernel_install",
    "target_version",
    "two_boot_chains",
    "ubuntu_core",
    "uki_dracut",
    "uki_mkinitcpio",
    "uki_ukify",
]

OTHER_HOSTS: Mapping[str, Callable[[], dict[str, File]]] = {
    "fedora-bls": fedora_bls,
    "el8-bls": el8_bls,
    "arch-grub": arch_grub,
    "arch-systemd-boot": arch_systemd_boot,
    "systemd-boot-kernel-install": systemd_boot_kernel_install,
    "debian-dracut-systemd-boot": debian_dracut_systemd_boot,
    "arch-booster": arch_booster,
    "uki-mkinitcpio": uki_mkinitcpio,
    "uki-dracut": uki_dracut,
    "uki-ukify": uki_ukify,
    "opensuse-grub2": opensuse_grub2,
    "opensuse-grub2-bls": opensuse_grub2_bls,
    "opensuse-systemd-boot": opensuse_systemd_boot,
    "ostree": ostree,
    "bootc": bootc,
    "limine": limine,
    "popos": popos,
    "proxmox-systemd-boot": proxmox_systemd_boot,
    "proxmox-grub": proxmox_grub,
    "steamos": steamos,
    "gentoo-builtin": gentoo_builtin,
    "nixos": nixos,
    "guix": guix,
    "ubuntu-core": ubuntu_core,
    "two-boot-chains": two_boot_chains,
    "grub-with-leftover-loader-conf": grub_with_leftover_loader_conf,
}


def other_host(
    tmp_path: Path,
    chain: str,
    *,
    gfx: str | Sequence[str] | None = "gfx1201",
    rocm: str | None = "7.1.0",
    parameters: Mapping[str, str] | None = None,
    without: Iterable[str] = (),
    extra: FileMap | None = None,
    name: str = "root",
) -> Path:
    """Build the host `chain` of OTHER_HOSTS with GPUs, ROCm and amdgpu, less the paths in `without`."""
    targets = [gfx] if isinstance(gfx, str) else list(gfx or ())
    files: dict[str, File] = {
        **OTHER_HOSTS[chain](),
        "lib": Link("usr/lib"),
        **rocm_files(rocm),
        **gpu_files(targets),
        **module_state({**PARAMETERS, **(parameters or {})}),
    }
    dropped = set(without)
    unknown = dropped - files.keys()
    if unknown:
        raise KeyError(f"{chain} has no {sorted(unknown)}")
    kept = {path: file for path, file in files.items() if path not in dropped}
    return make_root(tmp_path, kept | dict(extra or {}), name=name)
