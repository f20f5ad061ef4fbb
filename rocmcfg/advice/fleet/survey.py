"""Compare the hosts of a collection: how many are alike, who is odd, and what changed since an older one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.advice.fleet.collection import WORST, Collection
from rocmcfg.advice.fleet.endings import Endings
from rocmcfg.advice.fleet.host import Change, FaultShare, Fleet, Host, Odd, Share, Workaround
from rocmcfg.advice.fleet.reports import Fault, Kernel

_LEAST = 3  # hosts of which two are a majority
_DAY = 24 * 3600 * 10**9  # nanoseconds
_NO_VALUE = "not set"


def survey(
    collection: Collection,
    endings: Endings,
    following: Kernel | None = None,
    older: Collection | None = None,
    since: str = "",
) -> Fleet:
    """Return the fleet of a collection. `following` is the next kernel of every host, instead of the newest
    one that each has installed. `older` is a collection from earlier, and `since` says where it is."""
    hosts = [*collection.hosts()]
    if following is not None:
        hosts = [host._replace(following=following) for host in hosts]
    workarounds: dict[tuple[str, str], list[int]] = {}
    for at, host in enumerate(hosts):
        judged = endings.of(host.verified, host.machine, host.following)
        for ending in judged:
            counts = workarounds.setdefault((ending.setting, ending.ends_with), [0, 0])
            counts[0] += 1
            counts[1] += ending.by_next
        ending_now = tuple(ending.setting for ending in judged if ending.by_next)
        if ending_now:
            hosts[at] = host._replace(ending=ending_now)
    _mark_old(hosts)
    _mark_odd(hosts)
    vanished: tuple[str, ...] = ()
    if older is not None:
        before = {host.name: host for host in older.hosts()}
        for at, host in enumerate(hosts):
            changes = tuple(_changes(before.pop(host.name, None), host))
            if changes:
                hosts[at] = host._replace(changes=changes)
        vanished = tuple(before)
    return _counted(hosts, collection, workarounds, vanished, since)


def _counted(
    hosts: Sequence[Host],
    collection: Collection,
    workarounds: dict[tuple[str, str], list[int]],
    vanished: tuple[str, ...],
    since: str,
) -> Fleet:
    states = Counter(host.state for host in hosts)
    return Fleet(
        tuple(hosts),
        collection.used,
        tuple(collection.unused),
        tuple(Share(state, states[state]) for state in WORST if states[state]),
        _shares(host.kernel for host in hosts),
        _shares(host.machine.system for host in hosts),
        _shares(host.machine.rocm for host in hosts),
        _shares(host.gpus for host in hosts),
        _shares(name for host in hosts for name in dict.fromkeys(host.verified.profiles)),
        _shares(wrong for host in hosts for wrong in dict.fromkeys(host.verified.wrong)),
        _fault_shares(host.diagnosed.faults for host in hosts),
        _fault_shares(host.diagnosed.issues for host in hosts),
        tuple(
            Workaround(setting, ends_with, total, ending)
            for (setting, ends_with), (total, ending) in sorted(workarounds.items())
        ),
        _shares(what for host in hosts for what in dict.fromkeys(odd.what for odd in host.odd)),
        _shares(name for host in hosts for name in dict.fromkeys(host.machine.unnecessary)),
        _shares(what for host in hosts for what in dict.fromkeys(change.what for change in host.changes)),
        since,
        vanished,
    )


def _shares(values: Iterable[str]) -> tuple[Share, ...]:
    """Return how often each value occurs, the most frequent one first; an empty value does not count."""
    counts = Counter(filter(None, values))
    return tuple(Share(value, count) for value, count in sorted(counts.items(), key=lambda i: (-i[1], i[0])))


def _fault_shares(faults: Iterable[tuple[Fault, ...]]) -> tuple[FaultShare, ...]:
    counts: Counter[str] = Counter()
    texts: dict[str, Fault] = {}
    for of_host in faults:
        for fault in of_host:
            texts.setdefault(fault.id, fault)
        counts.update({fault.id for fault in of_host})
    return tuple(
        FaultShare(**texts[id]._asdict(), hosts=count)
        for id, count in sorted(counts.items(), key=lambda i: (-i[1], i[0]))
    )


def _mark_old(hosts: list[Host]) -> None:
    """Note which hosts have sent nothing for a day, or longer, while others have."""
    newest = max((host.time for host in hosts), default=0)
    for at, host in enumerate(hosts):
        days = (newest - host.time) // _DAY
        if host.time and days:
            number = "a day" if days == 1 else f"{days} days"
            problem = f"its newest document is {number} older than the newest of all"
            hosts[at] = host._replace(problems=(*host.problems, problem))


# -- who is odd -----------------------------------------------------------------------------------------


def _mark_odd(hosts: list[Host]) -> None:
    """Compare each host with those that have the same kinds of GPUs. What more than half of them have is
    usual. A setting that is not in effect is not odd, too."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for at, kinds in enumerate(_peers(hosts)):
        groups.setdefault(kinds, []).append(at)
    for places in groups.values():
        if len(places) >= _LEAST:
            _mark_odd_among(hosts, places)


def _peers(hosts: Sequence[Host]) -> Iterator[tuple[str, ...]]:
    """Yield the kinds of GPUs of each host. A host that shows no GPU is compared with the hosts that have its
    profiles: it may have lost them."""
    by_profiles: dict[tuple[str, ...], Counter[tuple[str, ...]]] = {}
    for host in hosts:
        if host.machine.gpus:
            kinds = tuple(sorted({*host.machine.gpus}))
            by_profiles.setdefault(host.verified.profiles, Counter())[kinds] += 1
    usual = {profiles: counts.most_common(1)[0][0] for profiles, counts in by_profiles.items()}
    for host in hosts:
        kinds = tuple(sorted({*host.machine.gpus}))
        yield kinds or usual.get(host.verified.profiles, ())


def _mark_odd_among(hosts: list[Host], places: Sequence[int]) -> None:
    aspects: dict[str, dict[int, str]] = {}
    with_settings = [at for at in places if hosts[at].verified.state != "unknown"]
    for at in places:
        host = hosts[at]
        for what, value in _aspects(host):
            aspects.setdefault(what, {})[at] = value
    settings = {name for at in with_settings for name, _ in hosts[at].verified.values}
    by_values: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for at in with_settings:
        values = hosts[at].verified.values
        value_of = by_values.setdefault(values, dict(values))
        for name in settings:
            aspects.setdefault(name, {})[at] = value_of.get(name) or _NO_VALUE
    odd: dict[int, list[Odd]] = {}
    for what, of_hosts in aspects.items():
        counts = Counter(of_hosts.values())
        usual, count = counts.most_common(1)[0]
        if len(counts) > 1 and len(of_hosts) >= _LEAST and count * 2 > len(of_hosts):
            for at, value in of_hosts.items():
                if value != usual:
                    odd.setdefault(at, []).append(Odd(what, value, usual))
    for at, several in odd.items():
        wrong = {text.partition(":")[0] for text in hosts[at].verified.wrong}
        hosts[at] = hosts[at]._replace(odd=tuple(oddity for oddity in several if oddity.what not in wrong))


def _aspects(host: Host) -> Iterator[tuple[str, str]]:
    machine = host.machine
    if machine.kernel is not None:
        yield "kernel", machine.kernel.release
    if machine.system:
        yield "system", machine.system
    if machine.system or machine.gpus:
        yield "GPUs", host.gpus or "none"
        yield "ROCm", machine.rocm or "none"
    yield from host.facts
    if host.state != "unknown":
        yield "profiles", ", ".join(host.verified.profiles) or "none"


# -- what changed ---------------------------------------------------------------------------------------


def _changes(before: Host | None, now: Host) -> Iterator[Change]:
    if before is None:
        yield Change("host", "", "new")
        return
    old = {**dict(_aspects(before)), "state": before.state.replace("_", " ")}
    new = {**dict(_aspects(now)), "state": now.state.replace("_", " ")}
    for what in ("state", *new):
        if what in old and old[what] != new[what] and (what, new[what]) != ("state", old[what]):
            yield Change(what, old.pop(what), new[what])
    for what, then, at_present in (
        ("fault", before.faults, now.faults),
        ("issue", before.issues, now.issues),
    ):
        if "doctor" in before.documents and "doctor" in now.documents:
            yield from (Change(what, "", id) for id in at_present if id not in then)
            yield from (Change(what, id, "") for id in then if id not in at_present)
