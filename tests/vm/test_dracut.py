"""Images that dracut builds in place of initramfs-tools: loaded by GRUB, and as unified kernel images."""

from __future__ import annotations

from .chains import (
    INSTALL_PACKAGED,
    LIKE,
    PACKAGED,
    REMOVE_PACKAGED,
    ROOT,
    SYSTEMD_BOOT,
    UKI_FILES,
    Chain,
    become,
    live,
)
from .guest import Guest

DRACUT_INSTEAD = (
    "dpkg --purge --force-depends initramfs-tools initramfs-tools-core",
    # compressing takes long under emulation, and the package's own postinst would build an image besides
    "mkdir -p /etc/dracut.conf.d && echo 'compress=\"cat\"' > /etc/dracut.conf.d/quick.conf",
    "INITRD=No dpkg -i /srv/packages/dracut/*.deb",
)
DRACUT = Chain(
    "grub",
    "dracut",
    "lsinitrd /boot/initrd.img-$(uname -r) | head -n 30",
    (
        *DRACUT_INSTEAD,
        "echo 'force_drivers+=\" amdgpu \"' > /etc/dracut.conf.d/driver.conf",
        "dracut --regenerate-all --force && update-grub",
        "lsinitrd /boot/initrd.img-$(uname -r) | grep -q amdgpu.ko",
    ),
    "/etc/modprobe.d/* /etc/dracut.conf.d/*",
)
UKI_OF_DRACUT = Chain(
    "uki",
    "systemd-stub",
    "bootctl status",
    (
        *DRACUT_INSTEAD,
        "dpkg -i /srv/packages/ukify/systemd-boot-efi_*.deb",
        *SYSTEMD_BOOT,
        f"echo 'kernel_cmdline=\"{ROOT}\"' > /etc/dracut.conf.d/line.conf",
        "printf 'layout=uki\\ninitrd_generator=dracut\\nuki_generator=dracut\\n' > /etc/kernel/install.conf",
        f"kernel-install add {LIKE} /boot/vmlinuz-{LIKE}",
    ),
    UKI_FILES,
    # under another name the same code would not do: an image that dracut builds has the modules of that name
    INSTALL_PACKAGED,
    REMOVE_PACKAGED,
    PACKAGED,
)


def test_images_of_dracut_get_and_lose_our_file(guest: Guest) -> None:
    become(guest, DRACUT)
    live(guest, DRACUT, "--via modprobe")


def test_addons_beside_images_of_dracut(guest: Guest) -> None:
    become(guest, UKI_OF_DRACUT)
    live(guest, UKI_OF_DRACUT)
