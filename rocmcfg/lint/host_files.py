"""What the files of one host make of each other: kmod, systemd and GRUB read several as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.lint.assignment import Assignment, What
from rocmcfg.lint.check import Checked, Knowledge
from rocmcfg.lint.rules import together


def overridden(files: Sequence[Checked], knowledge: Knowledge) -> None:
    """Adds a finding to what a later file of the list sets as well. A loser within its own file has one."""
    winners: dict[str, tuple[Checked, Assignment]] = {}
    for checked in reversed(files):
        for key, last in _last(checked):
            if key in winners:
                file, winner = winners[key]
                checked.add(last, together.verdict(last, winner, file.place(winner)), knowledge)
            else:
                winners[key] = (checked, last)
        checked.settle()


def beaten_by_command_line(
    modprobe: Sequence[Checked], command_line: Sequence[Checked], knowledge: Knowledge
) -> None:
    """kmod reads the kernel command line after modprobe.d (libkmod-config.c), so an argument wins."""
    winners = {
        key: (checked, last)
        for checked in command_line
        for key, last in _last(checked)
        if last.what is What.PARAMETER
    }
    told: set[str] = set()
    for checked in reversed(modprobe):  # an earlier file's value lost to a later file already
        for key, last in _last(checked):
            if key in winners and key not in told:
                file, winner = winners[key]
                checked.add(last, together.verdict(last, winner, file.place(winner)), knowledge)
            told.add(key)
        checked.settle()


def _last(checked: Checked) -> Iterator[tuple[str, Assignment]]:
    """The assignment of each name that counts in the file."""
    found: dict[str, Assignment] = {}
    for each in checked.assignments:
        if each.scope and not each.opaque and together.counts_once(each):
            found[together.key(each)] = each
    return iter(found.items())
