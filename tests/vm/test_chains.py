"""Boot chains that are not Debian's own, made of Debian's parts: loaders and generators are the real ones.

What a distribution adds around them (its grub2-mkconfig, its hooks) is not shown.
"""

from __future__ import annotations

from .chains import LIKE, OTHER, Chain, become, live, texts
from .guest import Guest

ROOT = "root=LABEL=root ro console=ttyS0"
ESP = "/boot/efi"
SYSTEMD_BOOT = (
    f"rm -f {ESP}/EFI/BOOT/*",
    "bootctl install --no-variables",
    f"echo timeout 1 > {ESP}/loader/loader.conf",
)
MODULES_OF_OTHER = f"cp -al /usr/lib/modules/{LIKE} /usr/lib/modules/{OTHER}"
BY_KERNEL_INSTALL = Chain(
    "systemd-boot",
    "systemd-boot",
    "bootctl status",
    (
        *SYSTEMD_BOOT,
        f"echo '{ROOT}' > /etc/kernel/cmdline",
        "echo layout=bls > /etc/kernel/install.conf",
        f"kernel-install add {LIKE} /boot/vmlinuz-{LIKE}",
    ),
    f"{ESP}/loader/entries/*.conf /etc/kernel/cmdline",
    (MODULES_OF_OTHER, f"kernel-install add {OTHER} /boot/vmlinuz-{LIKE} /boot/initrd.img-{LIKE}"),
    (f"bootctl set-oneshot $(basename {ESP}/loader/entries/*-{OTHER}.conf)",),
    (f"kernel-install remove {OTHER}", f"rm -r /usr/lib/modules/{OTHER}"),
)
BY_HAND = Chain(
    "systemd-boot",
    "systemd-boot",
    "bootctl status",
    (
        *SYSTEMD_BOOT,
        "rm -f /etc/kernel/cmdline",
        f"cp /boot/vmlinuz-{LIKE} {ESP}/vmlinuz-linux; cp /boot/initrd.img-{LIKE} {ESP}/initramfs-linux.img",
        f"cp {ESP}/initramfs-linux.img {ESP}/initramfs-linux-fallback.img; mkdir -p {ESP}/loader/entries",
        # as the Arch wiki has them; without a line break at the end, as editors leave them
        f"printf 'title Arch Linux\\nlinux /vmlinuz-linux\\ninitrd /initramfs-linux.img\\noptions {ROOT}' "
        f"> {ESP}/loader/entries/arch.conf",
        "printf 'title Arch Linux (fallback)\\nlinux /vmlinuz-linux\\ninitrd /initramfs-linux-fallback.img\\n"
        f"options {ROOT}\\n' > {ESP}/loader/entries/arch-fallback.conf",
        f"echo default arch.conf >> {ESP}/loader/loader.conf",
    ),
    f"{ESP}/loader/entries/*.conf /etc/kernel/cmdline",
)
BLS = "/boot/loader/entries"
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
        f"echo '{ROOT}' > /etc/kernel/cmdline",
        "printf 'layout=bls\\nBOOT_ROOT=/boot\\n' > /etc/kernel/install.conf",
        f"kernel-install add {LIKE} /var/old/vmlinuz-{LIKE} /var/old/initrd.img-{LIKE}",
        # Fedora's 10_linux prints the command as well; Debian's knows nothing of entries
        "chmod -x /etc/grub.d/10_linux && "
        "printf '#!/bin/sh\\nprintf \"insmod blsuki\\\\nblscfg\\\\n\"\\n' > /etc/grub.d/09_entries && "
        "chmod +x /etc/grub.d/09_entries && rm -rf /etc/default/grub.d",
        f"grub-install --target=x86_64-efi --efi-directory={ESP} --removable --no-nvram",
        "grub-mkconfig -o /boot/grub/grub.cfg && grep ^blscfg /boot/grub/grub.cfg",
    ),
    f"{BLS}/*.conf /etc/kernel/cmdline /etc/default/grub",
    (MODULES_OF_OTHER, f"kernel-install add {OTHER} /var/old/vmlinuz-{LIKE} /var/old/initrd.img-{LIKE}"),
    (),  # the higher version is the default
    (f"kernel-install remove {OTHER}", f"rm -r /usr/lib/modules/{OTHER}"),
)
DRACUT = Chain(
    "grub",
    "dracut",
    "lsinitrd /boot/initrd.img-$(uname -r) | head -n 30",
    (
        "dpkg --purge --force-depends initramfs-tools initramfs-tools-core",
        "dpkg -i /srv/packages/dracut/*.deb",
        "echo 'add_drivers+=\" amdgpu \"' > /etc/dracut.conf.d/driver.conf",
        "dracut --regenerate-all --force && update-grub",
        "lsinitrd /boot/initrd.img-$(uname -r) | grep -q amdgpu.ko",
    ),
    "/etc/modprobe.d/* /etc/dracut.conf.d/*",
)


def test_entries_of_kernel_install_with_systemd_boot(guest: Guest) -> None:
    become(guest, BY_KERNEL_INSTALL)
    live(guest, BY_KERNEL_INSTALL)


def test_entries_of_kernel_install_with_a_newer_systemd_boot(forky: Guest) -> None:
    become(forky, BY_KERNEL_INSTALL)
    live(forky, BY_KERNEL_INSTALL)


def test_a_packaged_kernel_that_comes_after_the_apply(guest: Guest) -> None:
    """Another kernel for real: its package, and the hooks of Debian's systemd-boot that write its entry."""
    chain = BY_KERNEL_INSTALL._replace(
        install=("dpkg -i /srv/packages/kernel/*.deb",),
        choose=(),  # the newer one is the default
        remove=("dpkg --purge $(dpkg-query -f '${Package}\\n' -W 'linux-image-7*')",),
    )
    become(guest, chain)
    kernel = guest.run("uname -r", check=True).stdout
    live(guest, chain)
    assert guest.run("uname -r", check=True).stdout == kernel


def test_entries_written_by_hand(guest: Guest) -> None:
    become(guest, BY_HAND)
    fallback = f"{ESP}/loader/entries/arch-fallback.conf"
    before = texts(guest, fallback)
    live(guest, BY_HAND)
    assert texts(guest, fallback) == before


def test_grub_with_entries_on_a_boot_of_its_own(forky: Guest) -> None:
    become(forky, GRUB_WITH_ENTRIES)
    live(forky, GRUB_WITH_ENTRIES)


def test_images_of_dracut_get_and_lose_our_file(guest: Guest) -> None:
    become(guest, DRACUT)
    live(guest, DRACUT, "--via modprobe")
