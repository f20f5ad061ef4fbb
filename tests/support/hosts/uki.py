"""Unified kernel images: the arguments are inside of them."""

from __future__ import annotations

from .distributions import ARCH_KERNEL, DEBIAN_KERNEL, arch
from .files import File, programs
from .kernels import kernel_modules, running_kernel
from .system import MACHINE_ID, ROOT_ARGUMENT, efi_variable, firmware, os_release


def uki_mkinitcpio() -> dict[str, File]:
    """Arch with UKIs: arguments come from /etc/kernel/cmdline and /etc/cmdline.d (mkinitcpio(8))."""
    options = f"{ROOT_ARGUMENT} rw quiet"
    return {
        **arch(options=options),
        "etc/kernel/cmdline": options + "\n",
        "etc/mkinitcpio.d/linux.preset": "ALL_kver=\"/boot/vmlinuz-linux\"\nPRESETS=('default')\n"
        'default_uki="/efi/EFI/Linux/arch-linux.efi"\n',
        "efi/EFI/Linux/arch-linux.efi": "MZ placeholder\n",
        "efi/loader/loader.conf": "timeout 3\n",
        **firmware("systemd-boot 258.2-2-arch", "systemd-stub 258.2-2-arch"),
        **efi_variable("LoaderEntrySelected", "arch-linux.efi"),
    }


def uki_dracut() -> dict[str, File]:
    """A UKI made by dracut: uefi=yes and kernel_cmdline= in dracut.conf.d (dracut.conf(5))."""
    options = f"{ROOT_ARGUMENT} ro quiet"
    return {
        **os_release("EndeavourOS", "endeavouros", ID_LIKE="arch"),
        "etc/dracut.conf.d/uefi.conf": f'uefi="yes"\nkernel_cmdline="{options}"\n',
        "efi/EFI/Linux/linux-6.17.9.efi": "MZ placeholder\n",
        **programs("usr/bin/dracut", "usr/bin/lsinitrd"),
        **kernel_modules(ARCH_KERNEL, suffix=".ko.zst"),
        **running_kernel(ARCH_KERNEL, options),
        **firmware("systemd-boot 258.2-2-arch", "systemd-stub 258.2-2-arch"),
    }


def uki_ukify() -> dict[str, File]:
    """Debian with ukify: kernel-install has layout=uki and reads /etc/kernel/cmdline (kernel-install(8))."""
    options = f"{ROOT_ARGUMENT} ro quiet"
    return {
        **os_release("Debian GNU/Linux", "debian", "13"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/kernel/install.conf": "layout=uki\n",
        "etc/kernel/cmdline": options + "\n",
        f"boot/efi/EFI/Linux/{MACHINE_ID}-{DEBIAN_KERNEL}.efi": "MZ placeholder\n",
        f"boot/vmlinuz-{DEBIAN_KERNEL}": "placeholder\n",
        **programs("usr/bin/kernel-install", "usr/bin/ukify", "usr/bin/bootctl", "usr/sbin/update-initramfs"),
        "etc/initramfs-tools/modules": "",
        **kernel_modules(DEBIAN_KERNEL),
        **running_kernel(DEBIAN_KERNEL, options),
        **firmware("systemd-boot 257.9-1~deb13u1", "systemd-stub 257.9-1~deb13u1"),
    }
