"""The plug is pulled in the middle: afterwards there is no trial, or a whole one."""

from __future__ import annotations

from . import held
from .guest import Guest
from .test_apply_verify_rollback import verify
from .trials import (
    TRY_GFX1201,
    assert_no_trial,
    for_the_next_boot,
    is_marked,
    look,
    newest,
    trial,
    wait_for_logins,
)


def test_there_is_no_trial_or_a_whole_one_after_a_power_cut(guest: Guest) -> None:
    held.stand_in(guest, "/usr/sbin/update-grub", held.ON_REQUEST)
    held.stand_in(guest, "/usr/bin/grub-editenv", held.ON_REQUEST)
    guest.run("sync", check=True)
    before = look(guest)

    # In update-grub: nothing has been armed yet.
    held.request(guest, "update-grub")
    guest.begin(TRY_GFX1201, 600)
    held.wait(guest)
    assert for_the_next_boot(guest) == ""
    guest.power_cut()
    guest.start()
    said = wait_for_logins(guest)
    assert not is_marked(guest), said
    assert_no_trial(guest, before)

    # Right after arming, before rocmcfg's journal says that all of it is done. GRUB reads ext4 without the
    # file system's own journal: it may see the old menu for half a minute, and then there is no trial. Here
    # it sees the new one.
    held.request(guest, "grub-editenv")
    guest.begin(TRY_GFX1201, 600)
    held.wait(guest)
    assert "amdgpu.cwsr_enable=0" in for_the_next_boot(guest)
    guest.run("fsfreeze --freeze / && fsfreeze --unfreeze /", check=True)
    guest.power_cut()
    guest.start()
    said = wait_for_logins(guest)
    assert is_marked(guest), said
    assert guest.parameter("cwsr_enable") == "0"
    assert newest(guest)["state"] == "committed", said
    running = trial(guest)
    assert running is not None
    assert running["stage"] == "running"
    assert verify(guest)[0] == 0

    # In the update-grub of `confirm`: the menu that this boot began with may be the old or the new one.
    held.request(guest, "update-grub")
    guest.begin("rocmcfg confirm --yes", 600)
    held.wait(guest)
    guest.power_cut()
    guest.start()
    said = wait_for_logins(guest)
    assert not is_marked(guest), said
    assert_no_trial(guest, before)
