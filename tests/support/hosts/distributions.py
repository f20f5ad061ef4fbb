"""What the hosts of one distribution have in common."""

from __future__ import annotations

from .files import File, programs
from .kernels import initramfs_image, kernel_modules, running_kernel
from .system import MACHINE_ID, ROOT_ARGUMENT, firmware, os_release

FEDORA_KERNEL = "6.17.8-300.fc43.x86_64"


ARCH_KERNEL = "6.17.9-arch1-1"


DEBIAN_KERNEL = "6.12.107+deb13-amd64"


def bls_entry(
    title: str, kernel: str, options: str, *, linux: str = "", initrd: str = "", more: str = ""
) -> str:
    """Return a type 1 entry of the Boot Loader Specification (uapi-group.org)."""
    linux, initrd = linux or f"/vmlinuz-{kernel}", initrd or f"/initramfs-{kernel}.img"
    return f"title {title}\nversion {kernel}\nlinux {linux}\ninitrd {initrd}\noptions {options}\n{more}"


def arch(kernel: str = ARCH_KERNEL, options: str = f"{ROOT_ARGUMENT} rw quiet") -> dict[str, File]:
    """Arch with mkinitcpio: the hook `kms` adds amdgpu to the image, `modconf` copies modprobe.d."""
    return {
        **os_release("Arch Linux", "arch"),
        "boot/vmlinuz-linux": "placeholder\n",
        "boot/initramfs-linux.img": initramfs_image(kernel, amdgpu=True),
        "etc/mkinitcpio.conf": "HOOKS=(base udev autodetect microcode modconf kms block filesystems)\n",
        "etc/mkinitcpio.d/linux.preset": "ALL_kver=\"/boot/vmlinuz-linux\"\nPRESETS=('default')\n"
        'default_image="/boot/initramfs-linux.img"\n',
        **programs("usr/bin/mkinitcpio", "usr/bin/lsinitcpio", "usr/bin/bootctl", "usr/bin/kernel-install"),
        "usr/share/libalpm/hooks/90-mkinitcpio-install.hook": "[Trigger]\n",
        f"usr/lib/modules/{kernel}/pkgbase": "linux\n",
        **kernel_modules(kernel, suffix=".ko.zst"),
        **running_kernel(kernel, options),
    }


def opensuse(loader_type: str, options: str, kernel: str = "6.17.9-1-default") -> dict[str, File]:
    return {
        **os_release("openSUSE Tumbleweed", "opensuse-tumbleweed", "20251120", ID_LIKE="opensuse suse"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/sysconfig/bootloader": f'LOADER_TYPE="{loader_type}"\nSECURE_BOOT="yes"\n',
        **programs("usr/bin/dracut", "usr/bin/lsinitrd", "usr/sbin/update-bootloader"),
        **kernel_modules(kernel, suffix=".ko.zst"),
        **running_kernel(kernel, options),
    }


def opensuse_bls(loader_type: str, loader_info: str) -> dict[str, File]:
    kernel, options = "6.17.9-1-default", f"{ROOT_ARGUMENT} splash=silent quiet"
    directory = f"/opensuse-tumbleweed/{kernel}"
    entry = bls_entry(
        "openSUSE Tumbleweed",
        f"1@{kernel}",
        options,
        linux=f"{directory}/linux-0",
        initrd=f"{directory}/initrd-0",
    )
    return {
        **opensuse(loader_type, options),
        "etc/kernel/cmdline": options + "\n",
        f"boot/efi/loader/entries/system-opensuse-tumbleweed-{kernel}-1.conf": entry,
        "boot/efi/loader/loader.conf": "timeout 5\n",
        **programs("usr/bin/sdbootutil", "usr/bin/bootctl"),
        **firmware(loader_info),
    }


def proxmox(options: str) -> dict[str, File]:
    kernel = "6.17.2-1-pve"
    return {
        **os_release("Debian GNU/Linux", "debian", "13"),
        "etc/initramfs-tools/modules": "",
        f"boot/vmlinuz-{kernel}": "placeholder\n",
        f"boot/initrd.img-{kernel}": initramfs_image(kernel, amdgpu=False),
        **programs("usr/sbin/proxmox-boot-tool", "usr/bin/pveversion", "usr/sbin/update-initramfs"),
        **kernel_modules(kernel, suffix=".ko"),
        **running_kernel(kernel, options),
    }
