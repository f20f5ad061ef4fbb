"""rocmcfg-trial.service in a trial's boot: it keeps the settings, or says what speaks against it."""

from __future__ import annotations

from .guest import Guest
from .test_apply_verify_rollback import verify
from .trials import (
    PLUMBING,
    TRY_GFX1201,
    assert_no_trial,
    document,
    is_marked,
    look,
    newest,
    trial,
    wait_for_logins,
)

UNIT = "rocmcfg-trial.service"
RESET = "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!"


def test_it_keeps_the_settings_once_somebody_has_logged_in(guest: Guest) -> None:
    guest.run(f"{TRY_GFX1201} --confirm-after 30s", 300, check=True)
    guest.reboot()
    said = until_it_has_looked(guest)
    (why,) = withheld(guest)
    assert "no user has logged in" in why
    assert why in said

    log_in(guest)
    guest.run(["systemctl", "start", UNIT], check=True)
    assert "confirmed itself" in until_it_has_looked(guest)
    assert trial(guest) is None
    assert guest.run(f"ls {' '.join(PLUMBING)}").stdout == ""
    assert not document(guest, "rocmcfg status")["reboot_required"]
    assert verify(guest)[0] == 0
    confirming, tried = document(guest, "rocmcfg history")["transactions"]
    assert (confirming["trial"], tried["trial"]["outcome"]) == (None, "confirmed")


def test_a_failed_health_check_and_a_gpu_reset_withhold_it(guest: Guest) -> None:
    """And then the machine hangs: what the kernel said in that boot is the evidence."""
    before = look(guest)
    guest.run(f"{TRY_GFX1201} --confirm-after 30s --health-check 'test -e /root/healthy'", 300, check=True)
    guest.reboot()
    until_it_has_looked(guest)
    (why,) = withheld(guest)
    assert "test -e /root/healthy" in why

    guest.run("touch /root/healthy", check=True)
    guest.run(["sh", "-c", f"echo '<3>{RESET}' > /dev/kmsg; journalctl --sync"], check=True)
    guest.run(["systemctl", "start", UNIT], check=True)
    until_it_has_looked(guest)
    *_, why = withheld(guest)
    assert RESET in why
    assert "GPU reset begin!" in guest.run("rocmcfg status", check=True).stdout
    assert is_marked(guest)

    guest.power_cut()
    guest.start()
    said = wait_for_logins(guest)
    assert guest.parameter("cwsr_enable") == "1"
    assert_no_trial(guest, before)
    tried = newest(guest)["trial"]
    assert tried["outcome"] == "not_confirmed", said
    assert any(RESET in reason for reason in tried["withheld"])
    assert tried["evidence"]["source"] == "journal"
    assert any(RESET in line for line in tried["evidence"]["lines"])


def until_it_has_looked(guest: Guest) -> str:
    """Wait until the unit, started by the boot or anew, is done; returns what it said in this boot."""
    wait_for_logins(guest)
    ended = f"systemctl show -P ExecMainExitTimestampMonotonic {UNIT}"
    guest.run(f"while test $({ended}) = 0; do sleep 1; done", 600, check=True)  # a start sets it to 0
    return guest.run(["journalctl", "-b", "-u", UNIT, "-o", "cat"], check=True).stdout


def withheld(guest: Guest) -> list[str]:
    """Why the trial did not confirm itself, as `status` has it."""
    shown = trial(guest)
    assert shown is not None
    reasons: list[str] = shown["withheld"]
    return reasons


def log_in(guest: Guest) -> None:
    """A real login, over ssh."""
    key = "mkdir -p -m 700 /root/.ssh && ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519"
    guest.run(f"{key} && cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys", check=True)
    guest.run(["systemctl", "start", "ssh"], check=True)
    guest.run("ssh -o BatchMode=yes -o StrictHostKeyChecking=no root@127.0.0.1 true", 300, check=True)
