"""A trial boot on a real Debian: GRUB carries it once, then it is confirmed, or forgotten."""

from __future__ import annotations

from .guest import Guest
from .test_apply_verify_rollback import APPLY, verify
from .trials import (
    IMAGES,
    PERMANENT,
    PLUMBING,
    TRY,
    Armed,
    arguments,
    assert_no_trial,
    document,
    for_the_next_boot,
    is_marked,
    newest,
    trial,
    wait_for_logins,
)


def test_one_boot_carries_the_trial_and_the_next_one_is_as_ever(armed: Armed, armed_guest: Guest) -> None:
    guest = armed_guest
    assert [(a["tool"], a["state"]) for a in armed.applied["activations"]] == [("update-grub", "done")]
    assert for_the_next_boot(guest).split() == armed.applied["trial"]["arguments"]
    code, checks = verify(guest)
    assert (code, checks["amdgpu.cwsr_enable"]["status"]) == (6, "pending_reboot")
    assert guest.run(["test", "-e", PERMANENT]).rc == 1
    assert guest.run(IMAGES, check=True).stdout == armed.before.images
    for refused in (APPLY, TRY):
        refusal = guest.run(f"{refused} --profile gfx1201")
        assert refusal.rc == 1
        assert "rocmcfg reject" in " ".join(refusal.stderr.split())

    guest.reboot()
    wait_for_logins(guest)
    assert guest.parameter("cwsr_enable") == "0"
    code, checks = verify(guest, user="nobody")
    assert (code, checks["amdgpu.cwsr_enable"]["running"]) == (0, "0")
    running = trial(guest)
    assert running is not None
    assert (running["stage"], running["profiles"]) == ("running", ["gfx1201"])
    assert set(armed.applied["trial"]["arguments"]) <= set(arguments(guest))
    assert "panic=10" in arguments(guest)
    assert for_the_next_boot(guest) == "", "GRUB has not taken the arguments out of its block"
    assert guest.run(IMAGES, check=True).stdout == armed.before.images

    guest.reboot()
    said = wait_for_logins(guest)
    assert guest.parameter("cwsr_enable") == "1"
    assert not is_marked(guest)
    assert_no_trial(guest, armed.before)
    tried = newest(guest)["trial"]
    assert tried["outcome"] == "not_confirmed", said
    assert tried["evidence"]["source"] == "journal", said


def test_a_confirmed_trial_stays_and_needs_no_other_reboot(armed: Armed, armed_guest: Guest) -> None:
    guest = armed_guest
    guest.reboot()
    wait_for_logins(guest)
    confirmed = document(guest, "rocmcfg confirm --yes")
    assert [(a["tool"], a["state"]) for a in confirmed["activations"]] == [("update-grub", "done")]
    assert not confirmed["reboot_required"]
    assert verify(guest)[0] == 0
    assert trial(guest) is None
    assert not document(guest, "rocmcfg status")["reboot_required"]
    assert guest.run(f"ls {' '.join(PLUMBING)}").stdout == ""

    guest.reboot()
    wait_for_logins(guest)
    assert guest.parameter("cwsr_enable") == "0"
    assert not is_marked(guest)
    assert "panic=10" not in arguments(guest)
    assert verify(guest)[0] == 0
    assert guest.run("bash -lc 'echo $ROCBLAS_USE_HIPBLASLT'", check=True).stdout == "0\n"

    guest.run("rocmcfg rollback --yes", 300, check=True)
    assert_no_trial(guest, armed.before)


def test_a_trial_that_is_rejected_before_its_boot_leaves_nothing(armed: Armed, armed_guest: Guest) -> None:
    rejected = document(armed_guest, "rocmcfg reject --yes")
    done = [(activation["tool"], activation["state"]) for activation in rejected["activations"]]
    assert done == [("grub-editenv", "done"), ("update-grub", "done")], "disarmed first"
    assert_no_trial(armed_guest, armed.before)
    assert newest(armed_guest)["trial"]["outcome"] == "rejected"
    assert "nothing to reject" in armed_guest.run("rocmcfg reject --yes", check=True).stdout.lower()
