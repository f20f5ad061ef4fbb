"""Unified kernel images: the arguments are inside of them."""

from __future__ import annotations

from .distributions import ARCH_KERNEL, DEBIAN_KERNEL, arch
from .files import File, programs
from .kernels import kernel_modules, running_kernel
from .pe import addon_stub, uki
from .system import MACHINE_ID, ROOT_ARGUMENT, efi_variable, firmware, os_release

ADDON_STUB = "usr/lib/systemd/boot/efi/addonx64.efi.stub"
_ARCH = 'NAME="Arch Linux"\nID=arch\n'


def uki_mkinitcpio() -> dict[str, File]:
    """Arch with UKIs: arguments come from /etc/kernel/cmdline and /etc/cmdline.d (mkinitcpio(8))."""
    options = f"{ROOT_ARGUMENT} rw quiet"
    image = uki(f"{options} \n", ARCH_KERNEL, _ARCH, stub="258.2-2-arch")
    return {
        **arch(options=options),
        "etc/kernel/cmdline": options + "\n",
        "etc/mkinitcpio.d/linux.preset": "ALL_kver=\"/boot/vmlinuz-linux\"\nPRESETS=('default' 'fallback')\n"
        'default_uki="/efi/EFI/Linux/arch-linux.efi"\n'
        'fallback_uki="/efi/EFI/Linux/arch-linux-fallback.efi"\nfallback_options="-S autodetect"\n',
        "etc/initcpio/post/.keep": "",
        "efi/EFI/Linux/arch-linux.efi": image,
        "efi/EFI/Linux/arch-linux-fallback.efi": image,
        "efi/loader/loader.conf": "timeout 3\n",
        ADDON_STUB: addon_stub(),
        **firmware("systemd-boot 258.2-2-arch", "systemd-stub 258.2-2-arch"),
        **efi_variable("LoaderEntrySelected", "arch-linux.efi"),
    }


def uki_dracut() -> dict[str, File]:
    """A UKI made by dracut: uefi=yes and kernel_cmdline= in dracut.conf.d (dracut.conf(5))."""
    options = f"{ROOT_ARGUMENT} ro quiet"
    return {
        **os_release("EndeavourOS", "endeavouros", ID_LIKE="arch"),
        "etc/dracut.conf.d/uefi.conf": f'uefi="yes"\nkernel_cmdline="{options}"\n',
        "etc/kernel/install.d/.keep": "",
        "efi/EFI/Linux/linux-6.17.9.efi": uki(
            options, ARCH_KERNEL, "NAME=EndeavourOS\nID=endeavouros\n", stub="258.2-2-arch"
        ),
        ADDON_STUB: addon_stub(),
        **programs("usr/bin/dracut", "usr/bin/lsinitrd"),
        **kernel_modules(ARCH_KERNEL, suffix=".ko.zst"),
        **running_kernel(ARCH_KERNEL, options),
        **firmware("systemd-boot 258.2-2-arch", "systemd-stub 258.2-2-arch"),
    }


def uki_ukify() -> dict[str, File]:
    """Debian with ukify: kernel-install has layout=uki and reads /etc/kernel/cmdline (kernel-install(8))."""
    options = f"{ROOT_ARGUMENT} ro quiet"
    image = uki(
        f" {options} systemd.machine_id={MACHINE_ID}",
        DEBIAN_KERNEL,
        'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n',
    )
    return {
        **os_release("Debian GNU/Linux", "debian", "13"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/kernel/install.conf": "layout=uki\n",
        "etc/kernel/install.d/.keep": "",
        "etc/kernel/cmdline": options + "\n",
        f"boot/efi/EFI/Linux/{MACHINE_ID}-{DEBIAN_KERNEL}.efi": image,
        f"boot/vmlinuz-{DEBIAN_KERNEL}": "placeholder\n",
        ADDON_STUB: addon_stub(),
        **programs("usr/bin/kernel-install", "usr/bin/ukify", "usr/bin/bootctl", "usr/sbin/update-initramfs"),
        "etc/initramfs-tools/modules": "",
        **kernel_modules(DEBIAN_KERNEL),
        **running_kernel(DEBIAN_KERNEL, options),
        **firmware("systemd-boot 257.9-1~deb13u1", "systemd-stub 257.9-1~deb13u1"),
    }
