"""Loaders whose entries are files, made of Debian's parts: systemd-boot, and GRUB as Fedora sets it up.

What a distribution adds around them (Fedora's grub2-mkconfig, grubby, hooks) is not shown.
"""

from __future__ import annotations

from .chains import BY_KERNEL_INSTALL, GRUB_WITH_ENTRIES, LINE, become, live
from .guest import Guest


def test_entries_of_a_newer_systemd_that_follow_the_running_line(forky: Guest) -> None:
    """Without /etc/kernel/cmdline kernel-install takes what the running kernel was told, ours with it."""
    chain = BY_KERNEL_INSTALL._replace(change=[one for one in BY_KERNEL_INSTALL.change if one != LINE])
    assert chain.backend == "systemd-boot"
    become(forky, chain)
    live(forky, chain)


def test_grub_with_entries_on_a_boot_of_its_own(forky: Guest) -> None:
    assert GRUB_WITH_ENTRIES.backend == "grub-bls"
    become(forky, GRUB_WITH_ENTRIES)
    live(forky, GRUB_WITH_ENTRIES)
