"""Entries of systemd-boot that somebody wrote by hand, and those of a kernel that came as a package."""

from __future__ import annotations

from .chains import (
    BY_KERNEL_INSTALL,
    ESP,
    INSTALL_PACKAGED,
    LIKE,
    OTHER,
    PACKAGED,
    REMOVE_PACKAGED,
    ROOT,
    SYSTEMD_BOOT,
    Chain,
    become,
    live,
)
from .guest import Guest

BY_HAND = Chain(
    "systemd-boot",
    "systemd-boot",
    "bootctl status",
    (
        *SYSTEMD_BOOT,
        f"cp /boot/vmlinuz-{LIKE} {ESP}/vmlinuz-linux; cp /boot/initrd.img-{LIKE} {ESP}/initramfs-linux.img",
        f"cp {ESP}/initramfs-linux.img {ESP}/initramfs-linux-fallback.img; mkdir -p {ESP}/loader/entries",
        # as the Arch wiki has them; without a line break at the end, as editors leave them
        f"printf 'title Arch Linux\\nlinux /vmlinuz-linux\\ninitrd /initramfs-linux.img\\noptions {ROOT}' "
        f"> {ESP}/loader/entries/arch.conf",
        "printf 'title Arch Linux (fallback)\\nlinux /vmlinuz-linux\\ninitrd /initramfs-linux-fallback.img\\n"
        f"options {ROOT}\\n' > {ESP}/loader/entries/arch-fallback.conf",
        f"echo default arch.conf >> {ESP}/loader/loader.conf",
    ),
    f"{ESP}/loader/entries/*.conf",
    (
        # a second kernel, by an entry that is a copy of the first, as people do it
        f"sed s/vmlinuz-linux/vmlinuz-{OTHER}/ {ESP}/loader/entries/arch.conf > {ESP}/loader/entries/z.conf",
        f"cp {ESP}/vmlinuz-linux {ESP}/vmlinuz-{OTHER}",
        f"sed -i s/arch.conf/z.conf/ {ESP}/loader/loader.conf",
    ),
    (
        f"rm {ESP}/loader/entries/z.conf {ESP}/vmlinuz-{OTHER}",
        f"sed -i s/z.conf/arch.conf/ {ESP}/loader/loader.conf",
    ),
    "z.conf",
)


def test_a_packaged_kernel_with_systemd_boot(guest: Guest) -> None:
    """Another kernel for real: its package, and the hooks of Debian's systemd-boot that write its entry."""
    packaged = BY_KERNEL_INSTALL._replace(install=INSTALL_PACKAGED, remove=REMOVE_PACKAGED, other=PACKAGED)
    become(guest, packaged)
    live(guest, packaged)


def test_entries_written_by_hand(guest: Guest) -> None:
    become(guest, BY_HAND)
    live(guest, BY_HAND)
