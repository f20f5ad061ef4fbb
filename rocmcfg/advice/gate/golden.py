"""Compare the facts of a host with those of the golden host: what differs, what of it matters, what to do.
What is expected to differ between hosts, such as the addresses of GPUs, is not compared."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from rocmcfg.model.difference import WEIGHTS, Difference
from rocmcfg.model.facts import Gpu
from rocmcfg.model.host_facts import (
    SEVERAL,
    Advice,
    ComparedFacts,
    FactGroup,
    FactRow,
    GpuFacts,
    HostFacts,
    counted_values,
    step,
)
from rocmcfg.model.regex import regex
from rocmcfg.model.spelling import same

_NUMBER = regex(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)( ?\w*)")
_NOT_SHOWN = "this host does not show it"


def differences(
    golden: ComparedFacts, host: HostFacts, rows: Sequence[FactRow], groups: Mapping[str, FactGroup]
) -> tuple[Difference, ...]:
    """Return the differences; those that matter most come first. A fact that the golden host does not have is
    not compared, so that one can be deleted from its document."""
    reasons = {each.fact: each.reason for each in reversed(host.cannot_be_told)}
    differing: list[Difference] = []
    for row in rows:
        if row.of == "host":
            differing += _of_host(row, golden, host.compared, reasons)
        else:
            differing += _of_gpus(row, golden.gpus, host.compared.gpus, reasons)
    for group in groups.values():
        differing += _of_group(group, golden.group(group.id), host.compared.group(group.id), reasons)
    kept = (each for each in differing if not is_ignored(each.fact, golden.ignore))
    return tuple(sorted(kept, key=lambda each: (WEIGHTS.index(each.severity), bool(each.reason))))


def compared(
    golden: ComparedFacts, host: HostFacts, rows: Sequence[FactRow], groups: Mapping[str, FactGroup]
) -> int:
    """Return how many facts of the golden host `differences` compares: not those that are ignored, or that
    this rocmcfg does not know."""
    of_host, of_gpus = ({row.id for row in rows if row.of == what} for what in ("host", "gpu"))
    ids = [id for id in golden.values if id in of_host]
    ids += [id for gpu in golden.gpus for id in gpu.values if not of_gpus.isdisjoint(_kinds(id))]
    for group in groups:
        names = _of_both(group, golden.group(group), host.compared.group(group))
        ids += [f"{group}.{name}" for name in names if name in golden.group(group)]
    return sum(not is_ignored(id, golden.ignore) for id in ids)


def is_ignored(fact: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(fact, pattern) for pattern in patterns)


def advice(
    facts: ComparedFacts, gpus: Sequence[Gpu], rows: Sequence[FactRow]
) -> Iterator[tuple[FactRow, Advice, str]]:
    """Yield each fact that is not as AMD's guides ask for it, with the advice and its value."""
    by_address = {gpu.address: gpu for gpu in gpus}
    for row in rows:
        for advised in row.advised:
            if row.of == "host":
                values = [facts.values.get(row.id, "")] if any(map(advised.concerns, gpus)) else []
            else:
                concerned = (each for each in facts.gpus if advised.concerns(by_address[each.address]))
                values = [each.values.get(row.id, "") for each in concerned]
            wrong = [value for value in values if value and not advised.allows(value)]
            if wrong:
                yield row, advised, counted_values(wrong)


def _of_host(
    row: FactRow, golden: ComparedFacts, here: ComparedFacts, reasons: Mapping[str, str]
) -> Iterator[Difference]:
    wanted, value = golden.values.get(row.id), here.values.get(row.id, "")
    if wanted is not None and not _alike(wanted, value, row.within):
        yield _difference(row, row.id, wanted, value, (), reasons)


def _of_gpus(
    row: FactRow, golden: Sequence[GpuFacts], here: Sequence[GpuFacts], reasons: Mapping[str, str]
) -> Iterator[Difference]:
    """Compare how many GPUs of a target have which value. If the number of GPUs differs, which is itself a
    difference, only values that no GPU of the golden host has count."""
    ids = dict.fromkeys(
        id for gpu in golden for id in gpu.values if id == row.id or id.startswith(f"{row.id}.")
    )
    for id in ids:
        wanted, actual = _values(golden, id), _values(here, id)
        more = actual - wanted if len(golden) == len(here) else Counter(v for v in actual if v not in wanted)
        lost = len(golden) == len(here) and sum(actual.values()) < sum(wanted.values())
        if not more and not lost:
            continue
        where = (gpu.address for gpu in here if id in gpu.values and (gpu.gfx, gpu.values[id]) in more)
        expected, value = (counted_values(v for _, v in counter.elements()) for counter in (wanted, actual))
        yield _difference(row, id, expected, value, (*where,) if len(wanted) == 1 else (), reasons)


def _values(gpus: Sequence[GpuFacts], id: str) -> Counter[tuple[str | None, str]]:
    return Counter((gpu.gfx, gpu.values[id]) for gpu in gpus if id in gpu.values)


def _of_group(
    group: FactGroup, golden: Mapping[str, str], here: Mapping[str, str], reasons: Mapping[str, str]
) -> Iterator[Difference]:
    """Compare facts with names of their own."""
    if group.id in reasons:  # one remark, not one for each name
        if golden:
            name, count = f"{group.name}s", f"{len(golden)} known"
            yield Difference(group.id, name, group.severity, count, "", (), reasons[group.id])
        return
    for name in sorted(_of_both(group.id, golden, here)):
        wanted, value = golden.get(name), here.get(name)
        near = group.within if name in group.near else 0.0
        if wanted is not None and value is not None and (same(wanted, value) or _alike(wanted, value, near)):
            continue
        id = f"{group.id}.{name}"
        reason = reasons.get(id, "") if value is None else ""
        fix = step(group.unset if wanted is None else group.fix, name=name, value=wanted or "")
        title = f"{group.name} {name}"
        yield Difference(id, title, group.severity, wanted or "", value or "", (), reason, "", fix)


def _of_both(group: str, golden: Mapping[str, str], here: Mapping[str, str]) -> Set[str]:
    """Return the names that are compared. Of parameters, those count that both hosts have, since another
    kernel has others."""
    return golden.keys() & here.keys() if group == "parameters" else golden.keys() | here.keys()


def _kinds(id: str) -> tuple[str, str]:
    """Return the ids of a row that may have the fact of a GPU: `firmware.smc` is one of `firmware`."""
    return id, id.partition(".")[0]


def _difference(
    row: FactRow, id: str, golden: str, here: str, gpus: tuple[str, ...], reasons: Mapping[str, str]
) -> Difference:
    reason = "" if here else reasons.get(id) or reasons.get(row.id) or _NOT_SHOWN
    name = f"{row.name} {id.partition('.')[2]}".rstrip()
    fix = step(row.fix, value="VALUE" if SEVERAL in golden else golden, here=here)
    return Difference(id, name, row.severity, golden, here, gpus, reason, row.why, fix)


def _alike(golden: str, here: str, within: float) -> bool:
    """Return whether two values are the same, or numbers of one unit that differ by the share `within`."""
    if golden == here or not within:
        return golden == here
    pair = [_NUMBER.fullmatch(value) for value in (golden, here)]
    if pair[0] is None or pair[1] is None or pair[0][2] != pair[1][2]:
        return False
    wanted, number = float(pair[0][1]), float(pair[1][1])
    return abs(wanted - number) <= within * wanted
