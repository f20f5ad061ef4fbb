"""What the files of one host make of each other: kmod, systemd and GRUB read several as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.lint import together
from rocmcfg.lint.assignment import Assignment, What
from rocmcfg.lint.check import Checked
from rocmcfg.lint.kinds import Kind
from rocmcfg.lint.wording import Knowledge

Order = tuple[bool, int, bool, int]


def compare(checked: Sequence[Checked], knowledge: Knowledge) -> None:
    """Adds what the files of a host make of each other. /proc/cmdline came of one of the others, and keeps
    only the findings that none of them has."""

    def of(*kinds: Kind) -> list[Checked]:
        return [each for each in checked if each.kind in kinds and not each.file.startswith("/proc/")]

    boot = of(Kind.GRUB_DEFAULTS) or of(Kind.CMDLINE)
    running = [each for each in checked if each.file == "/proc/cmdline"]
    for group in (boot, of(Kind.MODPROBE), [e for e in of(Kind.ENVIRONMENT) if "/environment.d/" in e.file]):
        _overridden(group, knowledge)
    _beaten_by_command_line(of(Kind.MODPROBE), boot or running, knowledge)
    told = {(f.id, f.text) for each in of(*Kind) for f in each.findings}
    for each in running:
        each.findings = [f for f in each.findings if (f.id, f.text) not in told]


def _overridden(files: Sequence[Checked], knowledge: Knowledge) -> None:
    """Adds a finding to what another file of the list sets as well, and has the last word on. A loser within
    its own file has one."""
    found: dict[str, list[tuple[Order, Checked, Assignment]]] = {}
    # the last file that sets a carrier anew
    anew = {name: number for number, file in enumerate(files) for name in file.anew}
    for number, checked in enumerate(files):
        for key, last in _last(checked):
            kept = anew.get(last.where.carrier, number) <= number
            found.setdefault(key, []).append((_order(last, number, kept=kept), checked, last))
    for group in found.values():
        _, file, winner = max(group, key=lambda entry: entry[0])
        for _, checked, last in group:
            if last is not winner:
                checked.add(last, together.remark(last, winner, file.place(winner)), knowledge)
    for checked in files:
        checked.settle()


def _order(each: Assignment, number: int, *, kept: bool) -> Order:
    """A higher one is read later. Not `kept` is what a later file sets anew: it reaches nobody. What is put
    in front of an earlier file's value is read before it."""
    front = each.where.turn[1] < 0
    return kept, each.where.turn[0], not front, -number if front else number


def _beaten_by_command_line(
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
                checked.add(last, together.remark(last, winner, file.place(winner)), knowledge)
            told.add(key)
        checked.settle()


def _last(checked: Checked) -> Iterator[tuple[str, Assignment]]:
    """The assignment of each name that counts in the file, in what the file as a whole is read for."""
    found: dict[str, Assignment] = {}
    for each in together.in_turn(checked.assignments):
        if each.where.scope == "file" and not each.opaque and together.counts_once(each):
            found[together.key(each)] = each
    return iter(found.items())
