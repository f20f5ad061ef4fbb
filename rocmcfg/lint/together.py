"""What several assignments make of each other: the later one of a name wins, and the earlier one is dead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rocmcfg.judging import names
from rocmcfg.lint.assignment import Assignment, What
from rocmcfg.lint.remark import Remark, info, warning
from rocmcfg.model.kargs import adds_up, canonical
from rocmcfg.model.spelling import same

_CLOSE = 12  # lines
Place = Callable[[Assignment], str]


def repeated(found: Sequence[Assignment], place: Place) -> Iterator[tuple[Assignment, Remark]]:
    """The loser of each pair, with why. `place` is a phrase for where an assignment stands."""
    groups: dict[tuple[str, str], list[Assignment]] = {}
    for each in in_turn(found):
        if each.where.scope and not each.opaque and counts_once(each):
            groups.setdefault((each.where.scope, key(each)), []).append(each)
    for group in groups.values():
        winner = group[-1]
        agreed = all(same(each.value, winner.value) for each in group)
        for each in group[:-1]:
            if agreed and each.where.turn[0] != winner.where.turn[0]:
                # of equal ones the needless one is that which fewer entries get
                yield winner, remark(winner, each, place(each))
                break
            if not _adds_words(each) or same(each.value, winner.value):
                yield each, remark(each, winner, place(winner))


def in_turn(found: Sequence[Assignment]) -> Sequence[Assignment]:
    """In the order in which they are read."""
    if len({each.where.turn for each in found}) < 2:
        return found
    return sorted(found, key=lambda each: each.where.turn)  # stable: equal ones stay in the text's order


def needless(
    found: Sequence[Assignment], line: Callable[[Assignment], int]
) -> Iterator[tuple[Assignment, Remark]]:
    """Variables that do nothing beside another one, where both stand close enough to be set together."""
    variables = [each for each in found if each.what is What.VARIABLE]
    written: dict[str, list[int]] = {}
    for each in variables:
        written.setdefault(f"{each.name}={each.value}", []).append(line(each))
    for each in variables:
        variable = names.variable(each.name)
        if variable is None or each.opaque or same(each.value, variable.default):
            continue
        for other, why in variable.beside.items():
            if any(abs(at - line(each)) <= _CLOSE for at in written.get(other, ())):
                said = f"{each.name}={each.value} adds nothing to {other}"
                yield each, info("RC7113", said, why, remove=True, sources=variable.sources)
                break


def key(each: Assignment) -> str:
    """Equal for assignments of which the last one wins."""
    return f"env {each.name}" if each.what is What.VARIABLE else canonical(each.name)


def counts_once(each: Assignment) -> bool:
    """Whether a second assignment takes the first one's effect, and we know enough to say so."""
    if each.what is What.VARIABLE:
        return names.variable(each.name) is not None
    if each.what is What.PARAMETER:
        return True
    argument = names.argument(each.name) if each.what is What.ARGUMENT else None
    return bool(argument and argument.values and not adds_up(each.name))


def _adds_words(each: Assignment) -> bool:
    """The kernel reads each `iommu=` in turn: another word takes nothing from the first."""
    argument = names.argument(each.name) if each.what is What.ARGUMENT else None
    return argument is not None and argument.words_join


def remark(loser: Assignment, winner: Assignment, where: str) -> Remark:
    # what the recovery entries alone get is not taken out: they would change
    first, later = loser.where, winner.where
    recovery = bool(first.carrier and later.carrier) and first.turn[0] < later.turn[0]
    if same(loser.value, winner.value):
        said = f"{loser.name} is set to the same value {where} as well"
        return info("RC7112", said, remove=not recovery)
    value = "without a value" if winner.value is None else f"to {winner.value}"
    said = f"{loser.name} is set {value} {where}, and that one wins"
    if recovery:
        why = (
            f"GRUB puts {later.carrier} behind {first.carrier}, whatever their order in the file. Recovery "
            f"entries get {first.carrier} alone, and with it this value."
        )
        return warning("RC7111", said, why=why)
    why = "Of two assignments the later one counts; keep the one that you mean."
    return warning("RC7111", said, why, remove=True)
