"""Trials that go wrong: the machine comes back as it was, by itself or after one power cycle."""

from __future__ import annotations

import time

from . import held
from .guest import Guest
from .trials import (
    TRY,
    Armed,
    arguments,
    assert_no_trial,
    is_marked,
    look,
    newest,
    panic_in_the_trial,
    wait_for_logins,
)


def test_a_panic_reboots_into_the_old_configuration_by_itself(guest: Guest) -> None:
    before = look(guest)
    panic_in_the_trial(guest)
    assert_no_trial(guest, before)


def test_a_boot_that_never_ends_takes_one_power_cycle(guest: Guest) -> None:
    """And the plug is pulled once more, while the boot after it takes the trial away."""
    held.stand_in(guest, "/usr/sbin/update-grub", held.FIRST_UNDO)
    before, line = look(guest), arguments(guest)
    guest.run(f"{TRY} --set karg.init=/bin/sh", 300, check=True)
    guest.shutdown()
    guest.power_on()
    wait_for_console(guest, "job control turned off")  # a shell in place of systemd waits for ever
    guest.power_cut()
    guest.start()
    held.wait(guest)
    guest.power_cut()
    guest.start()
    said = wait_for_logins(guest)
    assert arguments(guest) == line
    assert_no_trial(guest, before)
    assert newest(guest)["trial"]["outcome"] == "not_confirmed", said
    assert "Nothing to recover" in guest.run("rocmcfg recover", check=True).stdout


def test_where_grub_cannot_write_its_block_no_trial_is_begun(armed: Armed, armed_guest: Guest) -> None:
    """Seen before an apply it is refused; here it comes after. GRUB itself must not pass on then what it
    could not take out of the block."""
    guest = armed_guest
    guest.run("truncate --size 8192 /boot/grub/grubenv", check=True)  # the second half has no sectors
    guest.reboot()
    said = wait_for_logins(guest)
    assert "sparse file not allowed" in guest.console.read_text(errors="replace")
    assert not is_marked(guest)
    assert guest.parameter("cwsr_enable") == "1"
    assert_no_trial(guest, armed.before)
    assert newest(guest)["trial"]["outcome"] == "not_tried", said


def wait_for_console(guest: Guest, text: str, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while text not in guest.console.read_text(errors="replace"):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for “{text}”: {guest.console_tail()}"
        time.sleep(1)
