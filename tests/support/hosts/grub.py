"""GRUB that writes the arguments into its menu, and reads no drop-ins."""

from __future__ import annotations

from .debian_grub import debian_default_grub, debian_grub_cfg
from .distributions import arch, opensuse, proxmox
from .files import File, Program, programs
from .kernels import kernel_modules, running_kernel
from .system import ROOT_ARGUMENT, ROOT_UUID, firmware, os_release

# What tells GRUB's own grub-mkconfig from Debian's: this is all of /etc/default that it reads.
MKCONFIG = Program(
    "#!/bin/sh\nset -e\nif test -f ${sysconfdir}/default/grub ; then\n"
    "  . ${sysconfdir}/default/grub\nfi\nexit 99\n"
)


def arch_grub() -> dict[str, File]:
    """Arch with GRUB: upstream grub-mkconfig, which reads no /etc/default/grub.d."""
    options = f"{ROOT_ARGUMENT} rw  loglevel=3 quiet"
    return {
        **arch(options=f"BOOT_IMAGE=/boot/vmlinuz-linux {ROOT_ARGUMENT} rw loglevel=3 quiet"),
        "etc/default/grub": 'GRUB_DEFAULT=0\nGRUB_TIMEOUT=5\nGRUB_DISTRIBUTOR="Arch"\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="loglevel=3 quiet"\nGRUB_CMDLINE_LINUX=""\n',
        "boot/grub/grub.cfg": "### BEGIN /etc/grub.d/10_linux ###\n"
        f"menuentry 'Arch Linux' --class arch $menuentry_id_option 'gnulinux-simple-{ROOT_UUID}' {{\n"
        f"\tlinux\t/boot/vmlinuz-linux {options}\n\tinitrd\t/boot/initramfs-linux.img\n}}\n"
        "### END /etc/grub.d/10_linux ###\n",
        "usr/bin/grub-mkconfig": MKCONFIG,
        **programs("usr/bin/grub-editenv"),
        **firmware(),
    }


def opensuse_grub2() -> dict[str, File]:
    """openSUSE with classic GRUB: /etc/default/grub and grub2-mkconfig; LOADER_TYPE names it."""
    kernel = "6.17.9-1-default"
    return {
        **opensuse("grub2-efi", f"BOOT_IMAGE=/boot/vmlinuz-{kernel} {ROOT_ARGUMENT} splash=silent quiet"),
        "etc/default/grub": 'GRUB_DISTRIBUTOR=""\nGRUB_DEFAULT=saved\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="splash=silent quiet"\nGRUB_CMDLINE_LINUX=""\n',
        "boot/grub2/grub.cfg": "### BEGIN /etc/grub.d/10_linux ###\nmenuentry 'openSUSE Tumbleweed' {\n"
        f"\tlinux /boot/vmlinuz-{kernel} {ROOT_ARGUMENT}  splash=silent quiet\n}}\n"
        "### END /etc/grub.d/10_linux ###\n",
        "usr/sbin/grub2-mkconfig": MKCONFIG,
        **programs("usr/bin/grub2-editenv"),
        **firmware(),
    }


def proxmox_grub() -> dict[str, File]:
    """Proxmox VE on LVM: GRUB as on Debian; proxmox-boot-tool is installed and manages nothing."""
    kernel, options = "6.17.2-1-pve", "root=/dev/mapper/pve-root ro quiet"
    return {
        **proxmox(f"BOOT_IMAGE=/boot/vmlinuz-{kernel} {options}"),
        "etc/default/grub": debian_default_grub("quiet"),
        "etc/default/grub.d/proxmox-ve.cfg": 'GRUB_DISTRIBUTOR="Proxmox VE"\nGRUB_DISABLE_OS_PROBER=true\n',
        "boot/grub/grub.cfg": debian_grub_cfg([kernel]).replace(ROOT_ARGUMENT, "root=/dev/mapper/pve-root"),
        **programs("usr/sbin/update-grub", "usr/sbin/grub-mkconfig"),
        **firmware("GRUB 2.12-9+pmx2"),
    }


def steamos() -> dict[str, File]:
    """SteamOS: a file in /etc survives an update only if /etc/atomic-update.conf.d lists it."""
    kernel = "6.11.11-valve24-1-neptune-611"
    return {
        **arch(kernel, f"BOOT_IMAGE=/boot/vmlinuz-linux-neptune-611 {ROOT_ARGUMENT} rw quiet splash"),
        **os_release("SteamOS", "steamos", "3.7.13", ID_LIKE="arch", VARIANT_ID="steamdeck"),
        "etc/default/grub": 'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash"\nGRUB_CMDLINE_LINUX=""\n',
        "efi/EFI/steamos/grub.cfg": "menuentry 'SteamOS' {\n"
        f"\tsteamenv_boot linux /boot/vmlinuz-linux-neptune-611 {ROOT_ARGUMENT} rw quiet splash\n}}\n",
        "etc/atomic-update.conf.d/example-additional-keep-list.conf": "# /etc/example.conf\n",
        **programs(
            "usr/bin/steamos-readonly",
            "usr/bin/steamos-update",
            "usr/bin/update-grub",
            "usr/bin/grub-mkconfig",
        ),
        **firmware(),
    }


def gentoo_builtin() -> dict[str, File]:
    """Gentoo with GRUB, amdgpu built in and no initramfs: modprobe.d is inert there."""
    kernel = "6.12.58-gentoo"
    return {
        **os_release("Gentoo", "gentoo", "2.18"),
        "etc/default/grub": 'GRUB_DISTRIBUTOR="Gentoo"\nGRUB_CMDLINE_LINUX=""\n',
        "boot/grub/grub.cfg": "### BEGIN /etc/grub.d/10_linux ###\nmenuentry 'Gentoo GNU/Linux' {\n"
        f"\tlinux\t/boot/vmlinuz-{kernel} {ROOT_ARGUMENT} ro  \n}}\n### END /etc/grub.d/10_linux ###\n",
        f"boot/vmlinuz-{kernel}": "placeholder\n",
        "usr/bin/grub-mkconfig": MKCONFIG,
        **kernel_modules(kernel, "builtin"),
        **running_kernel(kernel, f"BOOT_IMAGE=/boot/vmlinuz-{kernel} {ROOT_ARGUMENT} ro"),
    }
