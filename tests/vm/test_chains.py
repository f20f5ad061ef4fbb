"""Loaders whose entries are files, made of Debian's parts: systemd-boot, and GRUB as Fedora sets it up.

What a distribution adds around them (Fedora's grub2-mkconfig, grubby, hooks) is not shown.
"""

from __future__ import annotations

from .chains import (
    ESP,
    LIKE,
    LINE,
    MODULES_OF_OTHER,
    OTHER,
    REMOVE_OTHER,
    ROOT,
    SYSTEMD_BOOT,
    Chain,
    become,
    live,
)
from .guest import Guest

BY_KERNEL_INSTALL = Chain(
    "systemd-boot",
    "systemd-boot",
    "bootctl status",
    (
        *SYSTEMD_BOOT,
        LINE,
        "echo layout=bls > /etc/kernel/install.conf",
        f"kernel-install add {LIKE} /boot/vmlinuz-{LIKE}",
    ),
    f"{ESP}/loader/entries/*.conf /etc/kernel/cmdline",
    (MODULES_OF_OTHER, f"kernel-install add {OTHER} /boot/vmlinuz-{LIKE} /boot/initrd.img-{LIKE}"),
    REMOVE_OTHER,
)
PACKAGED = BY_KERNEL_INSTALL._replace(
    install=(
        "dpkg -i /srv/packages/kernel/linux-base_*.deb",  # which the image depends on beforehand
        "dpkg -i /srv/packages/kernel/linux-*-7.*.deb",
    ),
    remove=(
        "ln -sf /bin/true /usr/bin/linux-check-removal",  # which would not have the running kernel removed
        "dpkg --purge $(dpkg-query -f '${Package}\\n' -W 'linux-*-7.*')",
    ),
    other="\n7.",
)
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
BLS = "/boot/loader/entries"
LIKE_FEDORA = """#!/bin/sh
cat <<EOF
if [ -f \\${prefix}/user.cfg ]; then
  source \\${prefix}/user.cfg
fi
insmod blsuki
blscfg
EOF
"""
GRUB_WITH_ENTRIES = Chain(
    "grub-bls",
    "LABEL=root",
    "cat /proc/cmdline; test ! -e /boot/vmlinuz-*; test -d /boot/loader/entries",
    (
        # a /boot of its own, as Fedora has it
        "mkfs.ext4 -q -L boot /dev/vda3 && mount /dev/vda3 /mnt && mkdir /mnt/efi /mnt/grub",
        f"umount {ESP} && sed -i 's#^UUID=5243-4647#LABEL=boot /boot ext4 defaults 0 2\\n&#' /etc/fstab",
        "umount /mnt; systemctl daemon-reload",
        "mkdir /var/old && mv /boot/vmlinuz-* /boot/initrd.img-* /var/old",
        f"mount /boot && mount {ESP}",
        LINE,
        f"printf '%s' '{LIKE_FEDORA}' > /etc/grub.d/09_entries",
        "printf 'layout=bls\\nBOOT_ROOT=/boot\\n' > /etc/kernel/install.conf",
        f"kernel-install add {LIKE} /var/old/vmlinuz-{LIKE} /var/old/initrd.img-{LIKE}",
        # Fedora's 01_users and 10_linux print these; Debian's know nothing of entries
        "chmod -x /etc/grub.d/10_linux && chmod +x /etc/grub.d/09_entries && rm -rf /etc/default/grub.d",
        f"grub-install --target=x86_64-efi --efi-directory={ESP} --removable --no-nvram",
        "grub-mkconfig -o /boot/grub/grub.cfg && grep ^blscfg /boot/grub/grub.cfg",
    ),
    f"{BLS}/*.conf /etc/kernel/cmdline /etc/default/grub",
    (MODULES_OF_OTHER, f"kernel-install add {OTHER} /var/old/vmlinuz-{LIKE} /var/old/initrd.img-{LIKE}"),
    REMOVE_OTHER,
)


def test_a_packaged_kernel_with_systemd_boot(guest: Guest) -> None:
    """Another kernel for real: its package, and the hooks of Debian's systemd-boot that write its entry."""
    become(guest, PACKAGED)
    live(guest, PACKAGED)


def test_entries_of_a_newer_systemd_that_follow_the_running_line(forky: Guest) -> None:
    """Without /etc/kernel/cmdline kernel-install takes what the running kernel was told, ours with it."""
    chain = BY_KERNEL_INSTALL._replace(change=[one for one in BY_KERNEL_INSTALL.change if one != LINE])
    become(forky, chain)
    live(forky, chain)


def test_entries_written_by_hand(guest: Guest) -> None:
    become(guest, BY_HAND)
    live(guest, BY_HAND)


def test_grub_with_entries_on_a_boot_of_its_own(forky: Guest) -> None:
    become(forky, GRUB_WITH_ENTRIES)
    live(forky, GRUB_WITH_ENTRIES)
