"""A trial that panics, with loaders that carry it in another way than Debian's GRUB."""

from __future__ import annotations

from .chains import BY_KERNEL_INSTALL, GRUB_WITH_ENTRIES, assert_same, become, everything
from .guest import Guest
from .test_grub_without_drop_ins import UPSTREAM
from .test_images import UKIFY
from .trials import assert_no_trial, document, for_the_next_boot, look, panic_in_the_trial, trial


def test_the_second_entry_of_systemd_boot_is_booted_once(guest: Guest) -> None:
    become(guest, BY_KERNEL_INSTALL)
    assert BY_KERNEL_INSTALL.backend == "systemd-boot"
    before = everything(guest)
    panic_in_the_trial(guest)
    assert trial(guest) is None
    assert_same(guest, before)
    assert guest.run("ls /sys/firmware/efi/efivars | grep LoaderEntryOneShot").stdout == ""


def test_grub_fills_the_word_in_the_entries_in_once(forky: Guest) -> None:
    become(forky, GRUB_WITH_ENTRIES)
    assert GRUB_WITH_ENTRIES.backend == "grub-bls"
    before = everything(forky)
    panic_in_the_trial(forky)
    assert trial(forky) is None
    assert_same(forky, before)
    assert for_the_next_boot(forky) == ""


def test_an_image_is_started_once_with_the_line_of_an_entry(guest: Guest) -> None:
    """Built by ukify; no entry is there but that of the trial."""
    become(guest, UKIFY)
    assert UKIFY.backend == "uki"
    before = everything(guest)
    panic_in_the_trial(guest)
    assert trial(guest) is None
    assert_same(guest, before)
    assert guest.run("ls /sys/firmware/efi/efivars | grep LoaderEntryOneShot").stdout == ""


def test_grub_fills_the_word_at_the_end_of_the_defaults_in_once(guest: Guest) -> None:
    guest.run(UPSTREAM, 300, check=True)
    assert document(guest, "rocmcfg status")["facts"]["boot_chain"]["loader"] == "grub-mkconfig"
    before = look(guest)
    panic_in_the_trial(guest)
    assert_no_trial(guest, before)
