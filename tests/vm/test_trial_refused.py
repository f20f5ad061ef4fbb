"""Where GRUB cannot write its environment block a trial would never end, so there is none."""

from __future__ import annotations

import json

from .guest import Guest
from .trials import TRY_GFX1201, assert_no_trial, look

_FILE = "truncate --size 400M /root/{kind} && losetup /dev/loop{number} /root/{kind}"
# What puts a file system on the loop device, and the device that it then is on.
_KINDS = {
    "btrfs": ("mkfs.btrfs --quiet /dev/loop0", "/dev/loop0"),
    "lvm": (
        "vgcreate --autobackup n boot /dev/loop1 && "
        "lvcreate --autobackup n --extents 100%FREE --name boot boot && "
        "mkfs.ext4 -q /dev/boot/boot",
        "/dev/boot/boot",
    ),
}


def test_boot_on_btrfs_or_lvm_is_refused_before_anything_is_written(guest: Guest) -> None:
    for number, (kind, (make, device)) in enumerate(_KINDS.items()):
        guest.run(_FILE.format(kind=kind, number=number), check=True)
        guest.run(make, 300, check=True)
        guest.run(f"mount {device} /mnt && cp -ax /boot/. /mnt && umount /mnt", 300, check=True)
        guest.run(f"mount {device} /boot", check=True)
        there = look(guest)
        said = guest.run(f"{TRY_GFX1201} --json", 300)
        assert said.rc == 1
        refused = {
            d["id"]: d["summary"] for d in json.loads(said.stdout)["diagnostics"] if d["severity"] == "error"
        }
        assert list(refused) == ["RC4307"]
        assert kind in refused["RC4307"]
        assert_no_trial(guest, there)
        guest.run("umount /boot", check=True)
    assert guest.run("ls -A /var/lib/rocmcfg").stdout == ""
