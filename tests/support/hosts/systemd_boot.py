"""systemd-boot, with entries of various makers."""

from __future__ import annotations

import json

from .distributions import ARCH_KERNEL, DEBIAN_KERNEL, arch, bls_entry, opensuse_bls, proxmox
from .files import File, Program, programs
from .kernels import initramfs_image, kernel_modules, running_kernel
from .system import ESP_UUID, MACHINE_ID, ROOT_ARGUMENT, ROOT_UUID, efi_variable, firmware, os_release


def arch_systemd_boot() -> dict[str, File]:
    """Arch with systemd-boot and an entry written by hand, as the installation guide tells one to."""
    options = f"{ROOT_ARGUMENT} rw quiet"
    return {
        **arch(options=f"initrd=\\initramfs-linux.img {options}"),
        "boot/loader/loader.conf": "default arch.conf\ntimeout 3\n",
        "boot/loader/entries/arch.conf": "title   Arch Linux\nlinux   /vmlinuz-linux\n"
        f"initrd  /initramfs-linux.img\noptions {options}\n",
        "boot/EFI/systemd/systemd-bootx64.efi": "placeholder\n",
        **firmware("systemd-boot 258.2-2-arch"),
        **efi_variable("LoaderEntrySelected", "arch.conf"),
    }


def systemd_boot_kernel_install() -> dict[str, File]:
    """Debian's systemd-boot package: kernel-install writes the entries from /etc/kernel/cmdline.

    Remove etc/kernel/cmdline from the map for the trap: kernel-install then takes /proc/cmdline
    (90-loaderentry.install), and a new file with only our arguments would lose root=.
    """
    options, directory = f"{ROOT_ARGUMENT} ro quiet", f"/{MACHINE_ID}/{DEBIAN_KERNEL}"
    initrd = f"{directory}/initrd.img-{DEBIAN_KERNEL}"
    entry = bls_entry("Debian", DEBIAN_KERNEL, options, linux=f"{directory}/linux", initrd=initrd)
    return {
        **os_release("Debian GNU/Linux", "debian", "13"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/kernel/cmdline": options + "\n",
        "etc/kernel/postinst.d/zz-systemd-boot": Program(),
        "boot/efi/loader/loader.conf": "timeout 3\n",
        "boot/efi/loader/entries.srel": "type1\n",
        f"boot/efi/loader/entries/{MACHINE_ID}-{DEBIAN_KERNEL}.conf": entry,
        f"boot/efi{directory}/linux": "placeholder\n",
        f"boot/vmlinuz-{DEBIAN_KERNEL}": "placeholder\n",
        f"boot/initrd.img-{DEBIAN_KERNEL}": initramfs_image(DEBIAN_KERNEL, amdgpu=False),
        "etc/initramfs-tools/modules": "",
        **programs(
            "usr/bin/kernel-install", "usr/bin/bootctl", "usr/sbin/update-initramfs", "usr/bin/lsinitramfs"
        ),
        **kernel_modules(DEBIAN_KERNEL),
        **running_kernel(
            # systemd-boot passes the path with the backslashes of UEFI.
            DEBIAN_KERNEL,
            "initrd=" + initrd.replace("/", "\\") + " " + options,
        ),
        **firmware("systemd-boot 257.9-1~deb13u1"),
        **efi_variable("LoaderEntrySelected", f"{MACHINE_ID}-{DEBIAN_KERNEL}.conf"),
    }


def debian_dracut_systemd_boot() -> dict[str, File]:
    """Debian with dracut, whose image the package systemd-boot copies to the EFI system partition."""
    image = initramfs_image(DEBIAN_KERNEL, amdgpu=True)
    theirs = '#!/bin/sh\nset -eu\n\tif dracut ${OPTS} --force "${initramfs}" "${version}"; then\n\tfi\n'
    return {
        **systemd_boot_kernel_install(),
        f"boot/initrd.img-{DEBIAN_KERNEL}": image,
        f"boot/efi/{MACHINE_ID}/{DEBIAN_KERNEL}/initrd.img-{DEBIAN_KERNEL}": image,
        "etc/kernel/postinst.d/dracut": Program(),
        "usr/sbin/update-initramfs": Program(theirs),
        "boot/efi/EFI/systemd/systemd-bootx64.efi": "placeholder\n",
        "usr/bin/dracut": Program("        --no-uefi) uefi_l=no ;;\n"),
        **programs("usr/bin/lsinitrd"),
    }


def arch_booster() -> dict[str, File]:
    """Arch with booster in the place of mkinitcpio, as its package names the images."""
    drop = ("mkinitcpio", "initramfs-linux", "lsinitcpio")
    kept = {p: f for p, f in arch_systemd_boot().items() if not any(name in p for name in drop)}
    entry = str(kept["boot/loader/entries/arch.conf"]).replace("initramfs-linux", "booster-linux")
    return {
        **kept,
        "boot/loader/entries/arch.conf": entry,
        "boot/booster-linux.img": initramfs_image(ARCH_KERNEL, amdgpu=True),
        "etc/booster.yaml": "",
        "usr/share/libalpm/hooks/90-booster-install.hook": "[Trigger]\n",
        **programs("usr/bin/booster"),
    }


def opensuse_systemd_boot() -> dict[str, File]:
    """openSUSE MicroOS and Tumbleweed with systemd-boot: sdbootutil as well."""
    return opensuse_bls("systemd-boot", "systemd-boot 257.9+suse")


def popos() -> dict[str, File]:
    """Pop!_OS on UEFI: kernelstub keeps the arguments in JSON and writes the systemd-boot entry."""
    kernel, options = (
        "6.17.4-76061704-generic",
        f"{ROOT_ARGUMENT} ro quiet loglevel=0 systemd.show_status=false splash",
    )
    flags = {"setup_loader": True, "manage_mode": True, "force_update": False, "live_mode": False}
    known = {"kernel_options": options.split()[2:], "esp_path": "/boot/efi", **flags, "config_rev": 3}
    configuration = json.dumps(
        {"default": {**known, "kernel_options": ["quiet", "splash"]}, "user": known}, indent=2
    )
    directory = f"/EFI/Pop_OS-{ROOT_UUID}"
    entry = (
        f"title Pop!_OS\nlinux {directory}/vmlinuz.efi\ninitrd {directory}/initrd.img\noptions {options}\n"
    )
    return {
        **os_release("Pop!_OS", "pop", "24.04", ID_LIKE="ubuntu debian"),
        "etc/kernelstub/configuration": configuration,
        "boot/efi/loader/loader.conf": "default Pop_OS-current\n",
        "boot/efi/loader/entries/Pop_OS-current.conf": entry,
        "etc/initramfs-tools/modules": "",
        f"boot/vmlinuz-{kernel}": "placeholder\n",
        f"boot/initrd.img-{kernel}": initramfs_image(kernel, amdgpu=False),
        "etc/kernel/postinst.d/zz-kernelstub": Program(),
        **programs(
            "usr/bin/kernelstub", "usr/bin/bootctl", "usr/sbin/update-initramfs", "usr/bin/lsinitramfs"
        ),
        **kernel_modules(kernel, suffix=".ko.zst"),
        **running_kernel(kernel, f"initrd=\\EFI\\Pop_OS-{ROOT_UUID}\\initrd.img {options}"),
        **firmware("systemd-boot 255.4-1ubuntu8pop1"),
    }


def proxmox_systemd_boot() -> dict[str, File]:
    """Proxmox VE on ZFS: proxmox-boot-tool has its ESPs in proxmox-boot-uuids; the arguments are one line."""
    options = "root=ZFS=rpool/ROOT/pve-1 boot=zfs"
    return {
        **proxmox(f"initrd=\\EFI\\proxmox\\6.17.2-1-pve\\initrd.img-6.17.2-1-pve {options}"),
        "etc/kernel/proxmox-boot-uuids": ESP_UUID + "\n",
        "etc/kernel/cmdline": options + "\n",
        **firmware("systemd-boot 257.9-1~deb13u1"),
    }
