"""Unified kernel images, signed or not.

All that makes them are Debian's packages; what makes them boot is the real systemd-boot and systemd-stub.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from . import qemu
from .chains import (
    ESP,
    LIKE,
    LINE,
    MODULES_OF_OTHER,
    OTHER,
    REMOVE_OTHER,
    SYSTEMD_BOOT,
    UKI_FILES,
    Chain,
    become,
    live,
)
from .guest import Guest

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
KEY, CERTIFICATE = "/etc/kernel/own.key", "/etc/kernel/own.pem"
SIGNED = UKIFY._replace(
    booted="bootctl status; bootctl status | grep 'Secure Boot: enabled'",
    change=(
        f"printf '[UKI]\\nSecureBootPrivateKey={KEY}\\nSecureBootCertificate={CERTIFICATE}\\n' "
        "> /etc/kernel/uki.conf",
        *UKIFY.change,
        f"sbsign --key {KEY} --cert {CERTIFICATE} --output {ESP}/EFI/BOOT/BOOTX64.EFI "
        "/usr/lib/systemd/boot/efi/systemd-bootx64.efi",
    ),
)


def test_addons_beside_images_of_ukify(guest: Guest) -> None:
    become(guest, UKIFY)
    live(guest, UKIFY)


def test_signed_addons_under_secure_boot(guest: Guest) -> None:
    """The firmware starts only what the key has signed that OVMF's package has for tests, and the stub loads
    no other addon. Whoever owns that key has named it in uki.conf."""
    firmware = qemu.firmware()
    assert firmware is not None
    variables = firmware.variables.with_name(firmware.variables.name.replace(".fd", ".snakeoil.fd"))
    keys = Path("/usr/share/ovmf/PkKek-1-snakeoil.key")  # its password: README.Debian of ovmf
    key = ["openssl", "rsa", "-in", str(keys), "-passin", "pass:snakeoil"]
    guest.write(KEY, subprocess.run(key, check=True, capture_output=True).stdout, 0o600)
    guest.put(keys.with_suffix(".pem"), CERTIFICATE)

    def enforce(guest: Guest) -> None:
        guest.shutdown()
        shutil.copyfile(variables, guest.work / "vars.fd")
        guest.start()

    become(guest, SIGNED, enforce)
    live(guest, SIGNED)
