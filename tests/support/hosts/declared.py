"""Systems whose arguments are owned by something above the boot loader: images, and declared systems."""

from __future__ import annotations

from .distributions import FEDORA_KERNEL, bls_entry
from .files import File, Link, programs
from .kernels import kernel_modules, running_kernel
from .system import MACHINE_ID, ROOT_ARGUMENT, firmware, os_release


def ostree() -> dict[str, File]:
    """Fedora Silverblue: /run/ostree-booted says so (libostree), rpm-ostree owns the arguments."""
    deployment = f"ostree=/ostree/boot.1/fedora/{MACHINE_ID}/0"
    options = f"{ROOT_ARGUMENT} rw rhgb quiet {deployment}"
    return {
        **os_release("Fedora Linux", "fedora", "43", VARIANT_ID="silverblue", OSTREE_VERSION="43.20251120.0"),
        "run/ostree-booted": "",
        "ostree/repo/config": "[core]\nrepo_version=1\nmode=bare\n",
        f"ostree/boot.1/fedora/{MACHINE_ID}/0": Link(f"../../../deploy/fedora/deploy/{'a' * 64}.0"),
        f"ostree/deploy/fedora/deploy/{'a' * 64}.0.origin": "[origin]\nrefspec=fedora:silverblue\n",
        "boot/loader": Link("loader.1"),
        "boot/loader.1/entries/ostree-1.conf": bls_entry("Fedora Linux 43 (ostree:0)", "1", options),
        "boot/grub2/grub.cfg": "insmod blscfg\nblscfg\n",
        **programs("usr/bin/rpm-ostree", "usr/bin/ostree", "usr/bin/dracut"),
        **kernel_modules(FEDORA_KERNEL),
        **running_kernel(FEDORA_KERNEL, f"BOOT_IMAGE=(hd0,gpt3)/ostree/vmlinuz-{FEDORA_KERNEL} {options}"),
        **firmware(),
    }


def bootc() -> dict[str, File]:
    """A bootc host such as Bazzite: an ostree host whose image is managed by bootc."""
    release = os_release(
        "Bazzite", "bazzite", "43", ID_LIKE="fedora", VARIANT_ID="bazzite", OSTREE_VERSION="43.1"
    )
    return {**ostree(), **release, **programs("usr/bin/bootc")}


def nixos() -> dict[str, File]:
    """NixOS: /etc/NIXOS marks it; what anyone writes elsewhere is lost at the next switch."""
    kernel = "6.12.58"
    system = "nix/store/00000000000000000000000000000000-nixos-system-sample-25.11"
    return {
        **os_release("NixOS", "nixos", "25.11"),
        "etc/NIXOS": "",
        "etc/nixos/configuration.nix": "{ ... }:\n{ boot.loader.systemd-boot.enable = true; }\n",
        f"{system}/kernel-params": "loglevel=4",
        "run/current-system": Link(f"../{system}"),
        "boot/loader/loader.conf": "timeout 5\ndefault nixos-generation-1.conf\n",
        "boot/loader/entries/nixos-generation-1.conf": bls_entry(
            "NixOS", "Generation 1", f"{ROOT_ARGUMENT} loglevel=4"
        ),
        **running_kernel(kernel, f"initrd=\\EFI\\nixos\\initrd.efi init=/{system}/init loglevel=4"),
        **firmware("systemd-boot 258.2"),
    }


def guix() -> dict[str, File]:
    """Guix System: /run/current-system/profile exists there and nowhere else."""
    return {
        **os_release("Guix System", "guix"),
        "gnu/store/00000000000000000000000000000000-system/profile/manifest": "()\n",
        "run/current-system": Link("../gnu/store/00000000000000000000000000000000-system"),
        "boot/grub/grub.cfg": "menuentry 'GNU with Linux' {\n"
        f"  linux /gnu/store/0-linux/bzImage {ROOT_ARGUMENT}\n}}\n",
        **running_kernel("6.12.58-gnu", f"BOOT_IMAGE=/gnu/store/0-linux/bzImage {ROOT_ARGUMENT}"),
    }


def ubuntu_core() -> dict[str, File]:
    """Ubuntu Core: snapd owns the arguments (`snap set system system.kernel.cmdline-append`)."""
    return {
        **os_release("Ubuntu Core", "ubuntu-core", "24"),
        "var/lib/snapd/modeenv": "mode=run\nbase=core24_1.snap\n",
        **programs("usr/bin/snap"),
        **running_kernel("6.8.0-90-generic", "snapd_recovery_mode=run console=tty1 panic=-1"),
        **firmware(),
    }
