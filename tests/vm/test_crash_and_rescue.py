"""What is left after a power cut, and the way out of a host that no longer boots far enough to be asked."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from .frozen import Frozen
from .guest import Guest
from .test_apply_verify_rollback import APPLY, snapshot

JOURNAL = "cat /var/lib/rocmcfg/transactions/*/journal.jsonl 2>/dev/null | grep -c ."


@pytest.mark.parametrize("lines", [6, 11])
def test_a_power_cut_in_the_middle_of_an_apply_is_undone_by_the_next_boot(guest: Guest, lines: int) -> None:
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
    guest.run("systemctl is-system-running --wait", 900)

    said = guest.run("journalctl -b -u rocmcfg-recover.service -o cat", check=True).stdout
    recovery, logins = (
        unit(guest, f"{name}.service") for name in ("rocmcfg-recover", "systemd-user-sessions")
    )
    assert recovery["Result"] == "success", said
    assert (
        0 < int(recovery["ExecMainExitTimestampMonotonic"]) < int(logins["ExecMainStartTimestampMonotonic"])
    )
    history = json.loads(guest.run("rocmcfg history --json", check=True).stdout)["transactions"]
    state = history[0]["state"] if history else "nothing"
    assert state in ("rolled_back", "committed", "nothing"), said
    if state == "rolled_back":
        assert "Rolled back: transaction" in said
    if state == "committed":  # the power went off just after it
        guest.run("rocmcfg rollback --yes", check=True, timeout=600)
    assert snapshot(guest) == files, f"the power cut found the transaction {state}: {said}"
    assert "Nothing to recover" in guest.run("rocmcfg recover", check=True).stdout
    if lines == 6:
        guest.run(f"{APPLY} --profile gfx1201", check=True, timeout=600)


def unit(guest: Guest, name: str) -> dict[str, str]:
    shown = guest.run(["systemctl", "show", name], check=True).stdout
    return dict(line.split("=", 1) for line in shown.splitlines())


def test_rolled_back_from_a_rescue_system(installed: Frozen, tmp_path: Path) -> None:
    """The host's disk is plugged into another Debian, which undoes the apply with the host's own tools."""
    host_disk = tmp_path / "host.qcow2"
    with Guest(installed) as host:
        files = snapshot(host)
        host.run(f"{APPLY} --profile gfx1201", check=True, timeout=600)
        host.save_disk(host_disk)

    with Guest(installed) as rescue:
        rescue.plug_in(host_disk)
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
