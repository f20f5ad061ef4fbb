"""The facts that two hosts are compared by, and what is known about each of them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from rocmcfg.model.catalogue import matches
from rocmcfg.model.difference import Weight
from rocmcfg.model.facts import Facts, Gpu
from rocmcfg.model.shape import NamedTuple, published

SEVERAL = " × "  # between the number and the value, where the values differ


class Advice(NamedTuple):
    """The value that AMD's guides ask for on some GPUs: exactly `value`, or one that does not have the text
    `without`. `cards` says whether it holds for GPUs that are no part of a processor, for those that are, or
    for both (None)."""

    gfx: tuple[str, ...]
    value: str
    source: str
    cards: bool | None = None
    without: str = ""

    def concerns(self, gpu: Gpu) -> bool:
        return self.cards in (None, not gpu.integrated) and matches(gpu.gfx or "", self.gfx)

    def allows(self, value: str) -> bool:
        return self.without not in value if self.without else value == self.value


class FactRow(NamedTuple):
    """What is known about one fact. `reader` says how it is read, and `path` from where. Of GPUs, it is read
    of those whose target is one of `gfx`, and only of `cards`, which are no part of a processor. Numbers may
    differ by the share `within`. `severity` is that of a difference, `why` says what the fact does, and `fix`
    what to do."""

    id: str
    name: str
    reader: str
    severity: Weight
    why: str
    fix: str
    sources: tuple[str, ...]
    of: Literal["host", "gpu"] = "host"
    path: str = ""
    unit: str = ""
    gfx: tuple[str, ...] = ()
    cards: bool = False
    within: float = 0.0
    advised: tuple[Advice, ...] = ()

    def concerns(self, gpu: Gpu) -> bool:
        return not (self.cards and gpu.integrated) and (not self.gfx or matches(gpu.gfx or "", self.gfx))


class FactGroup(NamedTuple):
    """What is known about facts that have many names of their own, such as parameters. `also` are patterns of
    names that count in addition to those of the catalogue. Of the names `near`, numbers may differ by the
    share `within`. `unset` says what to do with one that the other host does not have."""

    id: str
    name: str
    severity: Weight
    fix: str
    unset: str
    also: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    within: float = 0.0


class Reading(NamedTuple):
    """The value of a fact, or the reason why it cannot be told."""

    value: str = ""
    reason: str = ""


class GpuFacts(NamedTuple):
    """The facts of one GPU, by their ids. Two hosts are compared without its `address`."""

    address: str
    gfx: str | None
    values: Mapping[str, str]


class CannotBeTold(NamedTuple):
    """A fact that cannot be read on this host."""

    fact: str
    reason: str


_NONE: Mapping[str, str] = MappingProxyType({})


class ComparedFacts(NamedTuple):
    """The facts that hosts are compared by, by their ids and names. `ignore` are patterns of facts that are
    not compared, such as `packages.*`."""

    values: Mapping[str, str] = _NONE
    gpus: tuple[GpuFacts, ...] = ()
    parameters: Mapping[str, str] = _NONE
    arguments: Mapping[str, str] = _NONE
    variables: Mapping[str, str] = _NONE
    packages: Mapping[str, str] = _NONE
    ignore: tuple[str, ...] = ()

    def group(self, id: str) -> Mapping[str, str]:
        """Return the facts of a group by their names."""
        of_group: Mapping[str, str] = getattr(self, id)
        return of_group

    @property
    def tables(self) -> tuple[Mapping[str, str], ...]:
        """All facts: those of the host, of each GPU, and of each group."""
        groups = (self.parameters, self.arguments, self.variables, self.packages)
        return (self.values, *(gpu.values for gpu in self.gpus), *groups)

    @property
    def total(self) -> int:
        return sum(map(len, self.tables))


@published("facts *compared cannot_be_told")
class HostFacts(NamedTuple):
    """The facts of a host, for another host to be compared with. `facts` describe the machine."""

    facts: Facts
    compared: ComparedFacts
    cannot_be_told: tuple[CannotBeTold, ...]


class _Word(str):
    """A text for a template, in which `{value:q}` is quoted as a word of a command of a shell."""

    def __format__(self, spec: str) -> str:
        return shlex.quote(self) if spec == "q" else super().__format__(spec)


def step(template: str, **values: str) -> str:
    """Return what to do about a fact: the template with its values."""
    return template.format(**{name: _Word(value) for name, value in values.items()})


def counted_values(values: Iterable[str]) -> str:
    """Return the value that all devices have, or `7 × 16, 1 × 8`; empty without a value."""
    counts = Counter(values)
    if len(counts) <= 1:
        return next(iter(counts), "")
    rows = sorted(counts.items(), key=lambda row: (-row[1], _by_number(row[0])))
    return ", ".join(f"{number}{SEVERAL}{value}" for value, number in rows)


def _by_number(value: str) -> tuple[int, str]:
    number = re.match("[0-9]{1,9}", value)
    return int(number[0]) if number else 0, value
