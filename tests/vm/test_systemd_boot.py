"""systemd-boot with entries of kernel-install, on Debian trixie's systemd 257: what GRUB has left behind is
still there, as after any change of loader."""

from __future__ import annotations

import json

from .guest import Guest
from .test_apply_verify_rollback import APPLY, parameters, verify

ENTRIES = "/boot/efi/loader/entries"
CMDLINE = "/etc/kernel/cmdline"
CHANGE_LOADER = (
    "rm -f /boot/efi/EFI/BOOT/*",
    "bootctl install --no-variables",
    f"echo 'root=LABEL=root ro console=ttyS0' > {CMDLINE}",
    "echo layout=bls > /etc/kernel/install.conf",
    "echo timeout 1 > /boot/efi/loader/loader.conf",
    "kernel-install add $(uname -r) /boot/vmlinuz-$(uname -r)",
)
SECOND = "6.99.0-second"
ADD_SECOND = (
    f"cp -al /usr/lib/modules/$(uname -r) /usr/lib/modules/{SECOND}",
    f"kernel-install add {SECOND} /boot/vmlinuz-$(uname -r) /boot/initrd.img-$(uname -r)",
)


def texts(guest: Guest) -> str:
    return guest.run(f"head -n 99 {ENTRIES}/*.conf {CMDLINE}", check=True).stdout


def test_entries_and_kernels_to_come_get_the_arguments_and_give_them_back(guest: Guest) -> None:
    for command in CHANGE_LOADER:
        guest.run(command, 300, check=True)
    guest.reboot()
    assert "systemd-boot" in guest.run("bootctl status", check=True).stdout
    before, values = texts(guest), parameters(guest)
    planned = json.loads(guest.run("rocmcfg plan --profile gfx1201 --any-gpu --json", check=True).stdout)
    assert texts(guest) == before, planned

    guest.run(f"{APPLY} --profile gfx1201", 300, check=True)
    assert verify(guest)[0] == 6
    for command in ADD_SECOND:
        guest.run(command, 300, check=True)
    guest.reboot()
    assert guest.parameter("cwsr_enable") == "0"
    code, checks = verify(guest)
    assert code == 0, checks

    guest.run(f"bootctl set-oneshot $(basename {ENTRIES}/*-{SECOND}.conf)", check=True)
    guest.reboot()
    selected = guest.run("bootctl status", check=True).stdout
    assert SECOND in selected
    assert guest.parameter("cwsr_enable") == "0"
    assert verify(guest)[0] == 0

    guest.run("rocmcfg rollback --yes", 300, check=True)
    assert "rocmcfg" not in texts(guest)
    guest.run(f"kernel-install remove {SECOND}", 300, check=True)
    assert texts(guest) == before
    guest.reboot()
    assert parameters(guest) == values
