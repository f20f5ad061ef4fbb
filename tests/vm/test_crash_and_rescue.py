"""What is left after a power cut, and the way out of a host that no longer boots far enough to be asked."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from .guest import Guest
from .test_apply_verify_rollback import APPLY, snapshot

JOURNAL = "cat /var/lib/rocmcfg/transactions/*/journal.jsonl 2>/dev/null | grep -c ."


@pytest.mark.parametrize("lines", [6, 11])
def test_a_power_cut_in_the_middle_of_an_apply_leaves_all_or_nothing(guest: Guest, lines: int) -> None:
    """The plug is pulled once the journal has so many lines: among the files, and in update-grub.

    That the old files and the old menu boot as before is shown elsewhere; here they only have to be there.
    """
    files = snapshot(guest)
    guest.begin(f"{APPLY} --profile gfx1201", timeout=600)
    deadline = time.monotonic() + 240
    while int(guest.run(JOURNAL).stdout or 0) < lines:
        assert time.monotonic() < deadline, "the apply never came so far"
    guest.power_cut()
    guest.start()

    history = json.loads(guest.run("rocmcfg history --json", check=True).stdout)["transactions"]
    state = history[0]["state"] if history else "nothing"
    if state == "unfinished":
        refused = guest.run(f"{APPLY} --profile gfx1201")
        assert (refused.rc, "rocmcfg recover" in refused.stderr) == (5, True)
    guest.run("rocmcfg recover", check=True, timeout=600)
    guest.run("rocmcfg recover", check=True, timeout=600)
    if state == "committed":
        guest.run("rocmcfg rollback --yes", check=True, timeout=600)
    assert snapshot(guest) == files, f"the power cut found the transaction {state}"


def test_rolled_back_from_a_rescue_system(installed_image: Path, tmp_path: Path) -> None:
    """The host's disk is mounted under another Debian, which undoes the apply with the host's own tools."""
    rescue_disk, host_disk = tmp_path / "rescue.qcow2", tmp_path / "host.qcow2"
    with Guest(installed_image) as host:
        files = snapshot(host)
        host.run(f"{APPLY} --profile gfx1201", check=True, timeout=600)
        host.save_disk(host_disk)
    with Guest(installed_image) as rescue:
        # Both disks are copies of one image and have the same UUIDs: this one boots by its device name.
        rescue.run(
            "echo GRUB_DISABLE_LINUX_UUID=true >> /etc/default/grub && update-grub", check=True, timeout=600
        )
        rescue.run("sed -i 's,^[^# ]*\\( / .*\\),/dev/vda2\\1,; / \\/boot\\/efi /d' /etc/fstab", check=True)
        rescue.save_disk(rescue_disk)

    with Guest(rescue_disk, extra_disk=host_disk) as rescue:
        rescue.run("mount /dev/vdb2 /mnt", check=True)
        assert "zz-rocmcfg.cfg" in rescue.run("ls /mnt/etc/default/grub.d", check=True).stdout
        undone = rescue.run("rocmcfg rollback --root /mnt --chroot --yes --json", check=True, timeout=900)
        assert [a["state"] for a in json.loads(undone.stdout)["activations"]] == ["done"]
        assert rescue.run("findmnt -R /mnt -n -o TARGET", check=True).stdout.split() == ["/mnt"]
        rescue.run("umount /mnt", check=True)
        rescue.shutdown()

    with Guest(host_disk) as host:
        assert host.parameter("cwsr_enable") == "1"
        assert snapshot(host) == files
