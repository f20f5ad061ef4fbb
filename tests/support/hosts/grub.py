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

WITH_DROP_INS = Program(
    "#!/bin/sh\nset -e\n. ${sysconfdir}/default/grub\nfor x in ${sysconfdir}/default/grub.d/*.cfg ; do\n"
    '  if [ -e "$x" ]; then . "$x"; fi\ndone\nexit 99\n'
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
    """SteamOS 3.8: a file in /etc survives an update only if /etc/atomic-update.conf.d lists it. The
    arguments are those that recovery images of it have; root= is added as it boots."""
    kernel, image = "6.16.12-valve11-1-neptune-616", "/boot/vmlinuz-linux-neptune-616"
    always = "console=tty1 rd.luks=0 rd.lvm=0 rd.md=0 rd.dm=0 log_buf_len=4M amd_iommu=off audit=0"
    default = "loglevel=3 quiet splash plymouth.ignore-serial-consoles"
    common = arch(kernel, f"BOOT_IMAGE={image} {always} {default} {ROOT_ARGUMENT}")
    del common["boot/vmlinuz-linux"]
    return {
        **common,
        **os_release("SteamOS", "steamos", "3.8.14", ID_LIKE="arch", VARIANT_ID="steamdeck"),
        "etc/default/grub": f'GRUB_CMDLINE_LINUX_DEFAULT="{default}"\nGRUB_CMDLINE_LINUX="{always}"\n',
        "efi/EFI/steamos/grub.cfg": "### BEGIN /etc/grub.d/10_linux ###\n"
        "menuentry 'SteamOS' --class steamos {\n"
        f"\tsteamenv_boot linux {image} {always} {default}\n"
        "\tinitrd /boot/amd-ucode.img /boot/initramfs-linux-neptune-616.img\n}\n"
        "### END /etc/grub.d/10_linux ###\n",
        "etc/atomic-update.conf.d/example-additional-keep-list.conf": "# /etc/example.conf\n",
        image[1:]: "placeholder\n",
        "usr/bin/grub-mkconfig": WITH_DROP_INS,
        **programs("usr/bin/steamos-readonly", "usr/bin/steamos-update", "usr/bin/update-grub"),
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
