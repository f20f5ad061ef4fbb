"""The nouns of a fleet: a host as its documents describe it, and how many hosts are alike."""

from __future__ import annotations

import time

from rocmcfg.advice.fleet.documents import Unused
from rocmcfg.advice.fleet.reports import Described, Diagnosed, Kernel, State, Verified, counted_gpus
from rocmcfg.model.shape import NamedTuple, published


class Odd(NamedTuple):
    """What differs from most hosts with the same GPUs. `usual` is the value of those."""

    what: str
    value: str
    usual: str


class Change(NamedTuple):
    """What differs from the older documents of a host. `before` or `now` is empty if there was nothing."""

    what: str
    before: str
    now: str


@published(
    "name state documents written profiles=verified.profiles kernel next_kernel system=machine.system",
    "rocm=machine.rocm gpus reboot_required=machine.reboot wrong=verified.wrong faults issues odd ending",
    "unnecessary=machine.unnecessary changes problems",
)
class Host(NamedTuple):
    """A host. `state` is `drifting` if a setting is not in effect, and `unknown` without a document of verify
    or status; `documents` are the commands whose documents were read, and `wrong` are the settings that are
    not in effect. `next_kernel` is the newest installed kernel if another one runs, and `ending` are the
    workarounds that the next kernel no longer needs. `written` is when the newest of its files was written
    (UTC), empty for the standard input. `problems` says which commands failed on the host, and
    which documents contradict each other. `facts` are those of a document of `facts`."""

    name: str
    documents: tuple[str, ...]
    verified: Verified
    machine: Described
    diagnosed: Diagnosed
    following: Kernel | None
    problems: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    odd: tuple[Odd, ...] = ()
    changes: tuple[Change, ...] = ()
    time: int = 0
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def written(self) -> str:
        seconds = self.time // 10**9
        return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds)) if seconds else ""

    @property
    def state(self) -> State:
        return self.verified.state

    @property
    def kernel(self) -> str:
        return self.machine.kernel.release if self.machine.kernel else ""

    @property
    def next_kernel(self) -> str:
        return self.following.release if self.following else ""

    @property
    def gpus(self) -> str:
        return counted_gpus(self.machine.gpus)

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(fault.id for fault in self.diagnosed.faults)

    @property
    def issues(self) -> tuple[str, ...]:
        return tuple(issue.id for issue in self.diagnosed.issues)


class Share(NamedTuple):
    """How many hosts have a value."""

    value: str
    hosts: int


class FaultShare(NamedTuple):
    """How many hosts have a fault class in their logs, or show a known issue, for which `layer`, `severity`
    and `step` are empty."""

    id: str
    title: str
    layer: str
    severity: str
    step: str
    hosts: int


class Workaround(NamedTuple):
    """A workaround: how many hosts have it in force, and on how many of those the next kernel ends it."""

    setting: str
    ends_with: str
    hosts: int
    ending: int


@published(
    "total documents since states kernels systems rocm gpus profiles wrong faults issues workarounds",
    "odd unnecessary changes vanished unused hosts",
)
class Fleet(NamedTuple):
    """Many hosts. `documents` is how many documents were used. Each list counts hosts, the most frequent
    value first; `odd` and `changes` count them by what differs. `since` is the older collection, empty
    without one, and `vanished` are the hosts that only that one has."""

    hosts: tuple[Host, ...]
    documents: int
    unused: tuple[Unused, ...]
    states: tuple[Share, ...]
    kernels: tuple[Share, ...]
    systems: tuple[Share, ...]
    rocm: tuple[Share, ...]
    gpus: tuple[Share, ...]
    profiles: tuple[Share, ...]
    wrong: tuple[Share, ...]
    faults: tuple[FaultShare, ...]
    issues: tuple[FaultShare, ...]
    workarounds: tuple[Workaround, ...]
    odd: tuple[Share, ...]
    unnecessary: tuple[Share, ...]
    changes: tuple[Share, ...]
    since: str = ""
    vanished: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return len(self.hosts)
