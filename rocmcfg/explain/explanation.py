"""What `explain` says of one name: the nouns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rocmcfg.model.catalogue import Catalogue, TrapKind
from rocmcfg.model.facts import Machine
from rocmcfg.model.issue import Confidence, KnownIssue

ExplanationKind = Literal["parameter", "feature", "argument", "variable", "misnomer", "new", "kernel"]
Role = Literal["helps", "does_not_help", "unset"]


@dataclass(frozen=True, slots=True)
class Question:
    """`value` is what stood behind `=`, None where there was no `=`. `seen` says of a parameter's id whether
    sysfs of the running kernel has it, None where that cannot be told."""

    name: str
    value: str | None
    machine: Machine
    catalogue: Catalogue
    issues: tuple[KnownIssue, ...] = ()
    seen: Callable[[str], bool | None] = field(default=lambda _: None)


class OnKernel(NamedTuple):
    """A parameter on one kernel. `types` and `defaults` hold two where the neighbours of an unread build
    disagree; `asked` says that the kernel's own modinfo gave the type. `verdict` says why it
    refuses the value that was asked about, `doubt` why it may: one of its types does, or is a guess."""

    kernel: str
    present: bool | None
    types: tuple[str, ...]
    defaults: tuple[str, ...]
    permission: str
    taints: bool
    asked: bool
    reads_back: str
    verdict: str
    doubt: str = ""


class Bit(NamedTuple):
    """One named bit of a mask: what the value and the default make of it (True: on). `feature` is empty for a
    bit that no feature switches."""

    feature: str
    bit: int
    on: bool
    default: bool
    summary: str


class Meaning(NamedTuple):
    value: str
    text: str


class Caution(NamedTuple):
    """A value that does not do what people think. `hardware` and `kernel` say where, empty for everywhere;
    `here` is whether that is so on this host's GPUs and kernels, None where no GPU is known."""

    values: tuple[str, ...]
    kind: TrapKind
    summary: str
    instead: str
    hardware: str
    kernel: str
    here: bool | None


class Mention(NamedTuple):
    """A known issue that names it. `role`: helps, does_not_help, or unset (taking it away helps)."""

    issue: str
    title: str
    role: Role
    setting: str
    confidence: Confidence
    concerns: bool


class Explanation(NamedTuple):
    """`kind` is parameter, feature, argument, variable, misnomer, new (the host has it and the catalogue
    lacks it), or kernel (a GEMM kernel of ROCm). `instead` is set for a name that is not what it seems.

    `meaning` is what the value asked about does, `verdict` why it would not be taken. `unset` is what happens
    without it. `acts_on` says on which hardware it has an effect, `acts_here` whether this host has some.
    `compared` is the mask whose bits are listed, `default` the one that they are compared with, and
    `unnamed` the bits in which both differ and that have no name.
    """

    name: str
    kind: ExplanationKind
    summary: str
    remarks: tuple[str, ...] = ()
    instead: str = ""
    values: tuple[str, ...] = ()
    unit: str = ""
    unset: str = ""
    meaning: str = ""
    verdict: str = ""
    meanings: tuple[Meaning, ...] = ()
    acts_on: str = ""
    acts_here: bool | None = None
    gpus: tuple[str, ...] = ()
    traps: tuple[Caution, ...] = ()
    kernels: tuple[OnKernel, ...] = ()
    compared: int | None = None
    default: int | None = None
    bits: tuple[Bit, ...] = ()
    unnamed: int = 0
    issues: tuple[Mention, ...] = ()
    sources: tuple[str, ...] = ()
