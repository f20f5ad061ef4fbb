"""Unified kernel images.

All that makes them are Debian's packages; what makes them boot is the real systemd-boot and systemd-stub.
"""

from __future__ import annotations

from .chains import (
    ESP,
    LIKE,
    LINE,
    MODULES_OF_OTHER,
    OTHER,
    REMOVE_OTHER,
    SYSTEMD_BOOT,
    Chain,
    become,
    live,
)
from .guest import Guest

UKI_FILES = f"{ESP}/EFI/Linux/*.efi.extra.d/* /etc/kernel/cmdline"
UKIFY = Chain(
    "uki",
    "systemd-stub",
    "bootctl status",
    (
        "dpkg -i /srv/packages/ukify/*.deb",
        *SYSTEMD_BOOT,
        LINE,
        "printf 'layout=uki\\nuki_generator=ukify\\n' > /etc/kernel/install.conf",
        f"kernel-install add {LIKE} /boot/vmlinuz-{LIKE} /boot/initrd.img-{LIKE}",
    ),
    UKI_FILES,
    (MODULES_OF_OTHER, f"kernel-install add {OTHER} /boot/vmlinuz-{LIKE} /boot/initrd.img-{LIKE}"),
    REMOVE_OTHER,
)


def test_addons_beside_images_of_ukify(guest: Guest) -> None:
    become(guest, UKIFY)
    live(guest, UKIFY)
