"""Find assignments that override each other, in one file or in the files of one host: the later assignment of
a name counts, and the earlier one has no effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rocmcfg.advice.lint.assignment import Assignment, Unread, What
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.kinds import BOOT_ENTRIES, FileKind
from rocmcfg.advice.lint.remark import Remark, Spelt, info, warning
from rocmcfg.advice.lint.wording import Knowledge, spelled
from rocmcfg.judging import names
from rocmcfg.judging.words import Advice
from rocmcfg.model.diagnostic import cut
from rocmcfg.model.kargs import adds_up, canonical
from rocmcfg.model.spelling import Spelling, same

RUNNING = "/proc/cmdline"
_UNTIL_REBOOT = (
    "The running kernel has it, but no file here sets it. If the next boot has it too, the boot menu is old."
)


def repeated(
    assignments: Sequence[Assignment], place: Callable[[Assignment], str]
) -> Iterator[tuple[Assignment, Remark]]:
    """Yield each assignment that is overridden, with a remark. `place` returns a phrase for the place of an
    assignment."""
    overridden: set[tuple[int, int]] = set()
    for group in rivals(assignments):
        winner = group[-1]
        agreed = all(same(each.value, winner.value) for each in group)
        if agreed and group[0].where.turn[0] != winner.where.turn[0]:
            winner = group[0]  # of equal assignments, keep the one that most boot entries get
        for each in group:
            argument = names.argument(each.name) if each.what is What.ARGUMENT else None
            # the kernel reads each `iommu=` in turn: a second word does not override the first
            joins = argument is not None and argument.words_join
            if each is not winner and (not joins or same(each.value, winner.value)):
                overridden.add((each.start, each.stop))
                yield each, _remark(each, winner, place(winner))
    for each in assignments:
        if (each.start, each.stop) in overridden:
            continue
        if each.dropped >= 0:
            yield each, _dropped(each, place(each._replace(start=each.dropped)))
        elif each.unread is not None:
            yield each, _unread(each, each.unread, place(each._replace(start=each.unread.at)))


def in_turn(assignments: Sequence[Assignment]) -> Sequence[Assignment]:
    # the sort is stable: assignments with equal turns stay in the order of the text
    return sorted(assignments, key=lambda each: each.where.turn)


def rivals(assignments: Sequence[Assignment]) -> list[list[Assignment]]:
    """Return the groups of assignments of which only the last one counts, in the order of reading."""
    groups: dict[tuple[str | int, str], list[Assignment]] = {}
    for each in in_turn(assignments):
        together = each.where.scope or each.where.listed
        if together != -1 and not each.opaque and counts_once(each):
            groups.setdefault((together, key(spelled(each))), []).append(each)
    return list(groups.values())


def key(setting: Spelling) -> str:
    """Return a text that is equal for settings of which only the last one counts."""
    return canonical(setting.id)


def counts_once(each: Assignment) -> bool:
    """Return whether a second assignment of this name is known to cancel the effect of the first."""
    if each.what is What.VARIABLE:
        return names.variable(each.name) is not None
    if each.what is What.PARAMETER:
        return True
    argument = names.argument(each.name) if each.what is What.ARGUMENT else None
    return bool(argument and argument.values and not adds_up(each.name))


def _remark(loser: Assignment, winner: Assignment, where: str) -> Remark:
    # an assignment that only recovery entries get is not removed, because that would change them
    first, later = loser.where, winner.where
    recovery = bool(first.carrier and later.carrier) and first.turn[0] < later.turn[0]
    if same(loser.value, winner.value):
        summary = f"{loser.name} is set to the same value {where}"
        return info("RC7112", summary, advice=Advice.NOTE if recovery else Advice.TAKE_OUT)
    value = "without a value" if winner.value is None else f"to {winner.value or 'nothing'}"
    summary = f"{loser.name} is set {value} {where}, which takes precedence"
    if recovery:
        why = (
            f"GRUB puts {later.carrier} after {first.carrier}, whatever their order in the file. Recovery "
            f"entries only get {first.carrier}, and so this value."
        )
        return warning("RC7111", summary, why=why)
    why = "Of two assignments the later one counts; keep the one that you want."
    return warning("RC7111", summary, why, advice=Advice.TAKE_OUT)


def _dropped(loser: Assignment, where: str) -> Remark:
    setting = loser.name if loser.value is None else f"{loser.name}={cut(loser.value)}"
    summary = f"{setting} has no effect: it is dropped {where}"
    why = "The line there empties, unsets or replaces what holds it."
    return warning("RC7111", summary, why, advice=Advice.TAKE_OUT)


def _unread(each: Assignment, unread: Unread, where: str) -> Remark:
    setting = each.name if each.value is None else f"{each.name}={cut(each.value)}"
    summary = f"{setting} has no effect: {unread.because}, {where}"
    return warning("RC7111", summary, unread.rule, advice=Advice.TAKE_OUT)


def compare_files(checked: Sequence[Checked], knowledge: Knowledge) -> None:
    """Add findings on files of a host that override each other. Boot entries and /proc/cmdline were generated
    from the other files, and keep only findings that those do not have."""

    def of(*kinds: FileKind) -> list[Checked]:
        return [each for each in checked if each.kind in kinds and not each.file.startswith("/proc/")]

    boot = of(FileKind.GRUB_DEFAULTS) or of(FileKind.CMDLINE)
    running = [each for each in checked if each.file == RUNNING]
    environment = of(FileKind.ENVIRONMENT_D)
    for group in ([*of(FileKind.MODPROBE), *(boot or running)], environment):
        _overridden(group, knowledge)
    entries = of(*BOOT_ENTRIES)
    reported = {(f.remark.id, f.text) for each in of(*FileKind) if each not in entries for f in each.findings}
    for each in entries:
        each.findings = [f for f in each.findings if (f.remark.id, f.text) not in reported]
    reported |= {(f.remark.id, f.text) for each in entries for f in each.findings}
    for each in running:
        each.findings = [
            f._replace(remark=f.remark._replace(why=f"{f.remark.why} {_UNTIL_REBOOT}".strip()), spelt=Spelt())
            for f in each.findings
            if (f.remark.id, f.text) not in reported
        ]


def _overridden(files: Sequence[Checked], knowledge: Knowledge) -> None:
    """Add a finding to each assignment that another file of the list overrides. An assignment that a line of
    the same file overrides has its finding already."""
    candidates: dict[str, list[tuple[tuple[bool, bool, int, bool, int], Checked, Assignment]]] = {}
    # the last file that assigns a carrier without its earlier value
    anew = {name: number for number, file in enumerate(files) for name in file.anew}
    for number, checked in enumerate(files):
        # kmod reads the kernel command line after modprobe.d (libkmod-config.c)
        argument = checked.kind is not FileKind.MODPROBE
        for key, last in _last(checked):
            later, turn = last.where.turn
            kept = anew.get(last.where.carrier, number) <= number  # else a later file drops it
            front = turn < 0  # an argument put in front of an earlier file's value is read before that value
            read = kept, argument, later, not front, -number if front else number
            candidates.setdefault(key, []).append((read, checked, last))
    for group in candidates.values():
        read, file, winner = max(group, key=lambda entry: entry[0])
        if not read[0]:
            dropping = files[anew[winner.where.carrier]]
            file.add(winner, _dropped(winner, f"in {dropping.file}"), knowledge)
        for _, checked, last in group:
            if last is not winner:
                remark = _remark(last, winner, file.place(winner))
                checked.add(last, remark, knowledge)
                if not remark.remove:
                    file.needed.add((winner.start, winner.stop))
    for checked in files:
        checked.settle()


def _last(checked: Checked) -> Iterator[tuple[str, Assignment]]:
    """Yield the last assignment of each name, of those whose scope is the whole file."""
    last: dict[str, Assignment] = {}
    for each in in_turn(checked.assignments):
        if each.where.scope == "file" and not each.opaque and counts_once(each):
            last[key(spelled(each))] = each
    return iter(last.items())
