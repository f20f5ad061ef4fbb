"""The life of settings on a boot chain, which is the same on all of them: planned, applied, in effect after a
reboot, on a kernel that was installed since as well, and taken back to what was there before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .guest import Guest
from .test_apply_verify_rollback import APPLY, parameters, verify

SETTING = "gfx1201"
ESP = "/boot/efi"
OTHER = "99.0-other"  # a kernel of the same code under another name: what installs one is what counts
LIKE = "$(uname -r)"
ROOT = "root=LABEL=root ro console=ttyS0"
SYSTEMD_BOOT = (
    f"rm -f {ESP}/EFI/BOOT/*",
    "bootctl install --no-variables",
    f"echo timeout 1 > {ESP}/loader/loader.conf",
)
LINE = f"echo '{ROOT}' > /etc/kernel/cmdline"
UKI_FILES = f"{ESP}/EFI/Linux/*.efi.extra.d/* /etc/kernel/cmdline"
MODULES_OF_OTHER = f"cp -al /usr/lib/modules/{LIKE} /usr/lib/modules/{OTHER}"
REMOVE_OTHER = (f"kernel-install remove {OTHER}", f"rm -r /usr/lib/modules/{OTHER}")
PACKAGED = "\n7."  # what `uname -r` prints of the kernel that comes as a package
INSTALL_PACKAGED = (
    "dpkg -i /srv/packages/kernel/linux-base_*.deb",  # which the image depends on beforehand
    "dpkg -i /srv/packages/kernel/linux-*-7.*.deb",
)
REMOVE_PACKAGED = (
    "ln -sf /bin/true /usr/bin/linux-check-removal",  # which would not have the running kernel removed
    "dpkg --purge $(dpkg-query -f '${Package}\\n' -W 'linux-*-7.*')",
)
# All that may be touched, the EFI system partition with it. Each boot writes the first two that are left out,
# and an image that was built anew is another one.
LEFT_OUT = "! -name random-seed ! -name grubenv ! -path '/boot/initrd.img-*'"
EVERYTHING = (
    f"find /etc /boot -type f {LEFT_OUT} -exec sha256sum {{}} + | sort -k 2; "
    "find /etc /boot -type l -printf '%p -> %l\\n' | sort"
)
# What the firmware and the loader started, as each of them tells.
BOOTED = "echo; uname -r; cat /proc/cmdline; bootctl status 2>/dev/null | grep -A 3 '^ *Current'"


class Chain(NamedTuple):
    """`change` are commands that turn Debian's GRUB into this chain, `booted` one whose output holds `name`
    after a reboot. `files` are patterns of what holds our arguments after an apply. `install` and `remove` do
    so with another kernel, which is the default then; what the boot says of itself holds `other`."""

    backend: str
    name: str
    booted: str
    change: Sequence[str]
    files: str
    install: Sequence[str] = ()
    remove: Sequence[str] = ()
    other: str = OTHER


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


def run_all(guest: Guest, commands: Sequence[str]) -> None:
    for command in commands:
        guest.run(command, 1800, check=True)


def everything(guest: Guest) -> list[str]:
    return guest.run(EVERYTHING, 300, check=True).stdout.splitlines()


def assert_same(guest: Guest, before: list[str]) -> None:
    different = sorted({*before} ^ {*everything(guest)})
    assert not different, different


def become(guest: Guest, chain: Chain, reboot: Callable[[Guest], object] = Guest.reboot) -> None:
    """Change the guest's boot chain, and show that it boots by it, that its EFI system partition is a real
    one, and that rocmcfg recognises the chain."""
    run_all(guest, chain.change)
    reboot(guest)
    assert chain.name in guest.run(chain.booted, check=True).stdout
    assert guest.run(f"findmnt --noheadings --output FSTYPE {ESP}", check=True).stdout == "vfat\n"
    before = everything(guest)
    planned = guest.run(f"rocmcfg plan --profile {SETTING} --any-gpu --json", check=True)
    assert json.loads(planned.stdout)["boot_backend"] == chain.backend
    assert_same(guest, before)


def in_effect(guest: Guest) -> None:
    assert guest.parameter("cwsr_enable") == "0"
    code, checks = verify(guest)
    assert code == 0, checks


def live(guest: Guest, chain: Chain, how: str = "") -> None:
    """A guest that boots by the chain, from the apply to the reboot after the rollback."""
    before, values = everything(guest), parameters(guest)
    guest.run(f"{APPLY} --profile {SETTING} {how}", 1800, check=True)
    assert ours(guest, chain)
    assert verify(guest)[0] == 6
    again = guest.run(f"{APPLY} --profile {SETTING} {how}", 900, check=True)
    assert "nothing was changed" in again.stdout
    guest.reboot()
    in_effect(guest)
    if chain.install:
        assert chain.other not in guest.run(BOOTED).stdout
        run_all(guest, chain.install)
        guest.reboot()
        assert chain.other in guest.run(BOOTED).stdout
        in_effect(guest)
    guest.run("rocmcfg rollback --yes", 1800, check=True)
    assert ours(guest, chain) == []
    run_all(guest, chain.remove)
    assert_same(guest, before)
    guest.reboot()
    assert parameters(guest) == values


def ours(guest: Guest, chain: Chain) -> list[str]:
    """The files of the chain that hold something of rocmcfg's."""
    return guest.run(f"grep -ls rocmcfg {chain.files}").stdout.splitlines()
