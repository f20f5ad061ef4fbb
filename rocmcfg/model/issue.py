"""Known issues: their signatures, the affected hosts, workarounds with their costs, and what does not
help."""

from __future__ import annotations

from typing import Literal

from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling
from rocmcfg.model.version import RocmRange, VersionRange

Strength = Literal["specific", "typical", "generic"]
Confidence = Literal["confirmed", "reported", "unverified"]
IssueKind = Literal["fault", "advice", "spelling"]
_TRACKED = regex(r"/issues/[0-9]+")


def cause(kind: IssueKind, confidence: Confidence) -> str:
    """Say how sure an issue is. Of a fault it is the cause that is confirmed, or that users report; the
    confidence of a profile's setting is another one: that it helps."""
    return f"cause {confidence}" if kind == "fault" else confidence


class Signature(NamedTuple):
    """A line of a log that is evidence for an issue.

    `pattern` is a regular expression without look-around and back-references, matched anywhere in a line.
    `strength`: a specific line alone identifies the issue; a typical one does so together with the issue's
    conditions; a generic one appears with many issues and other drivers, and only adds to another signature.
    `name` is set where the order of stages refers to it. `samples` are lines that the pattern must match.

    `beside` names another signature of the same issue, without which this one is only generic: a healthy
    program logs the name of the same kernel that faults elsewhere.
    """

    pattern: str
    strength: Strength
    samples: tuple[str, ...]
    name: str = ""
    beside: str = ""


class Workaround(NamedTuple):
    """A workaround. `unset` are variables to remove; `steps` are sentences about actions that rocmcfg does
    not perform itself (firmware, BIOS, sysfs). If all are empty, no parameter helps."""

    settings: tuple[Spelling, ...] = ()
    unset: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    profile: str = ""


class KnownIssue(NamedTuple):
    """A known issue. `kind`: fault (something breaks, and a log may show it), advice (a vendor's recommended
    settings), or spelling (a name or value that people get wrong; `lint` finds it).

    Conditions: `gfx` are names or patterns such as "gfx12*" (empty: any), `kernel` and `rocm` ranges (None:
    any), `firmware` a sentence, `several_gpus`: only where a host has more than one, `dkms`: only with AMD's
    DKMS driver. `stages` names signatures in the order in which a full failure shows them. `fixed_kernels`
    and `fixed_rocm` are ranges of releases with the fix, where that is known; `fixed_elsewhere`: a release of
    something else has it, such as PyTorch or firmware; `fixed_in` says so in words. `confidence` is in the
    cause or the fault, not in the cure: confirmed, reported, unverified.

    `lacks_fix` names the kernel's fix in the catalogue, which lists the stable series that got it; a range
    cannot express that. `fixed_by`: whether a fix in one of kernel and ROCm is enough (either), or both need
    their part of it (both). `has_fix` names a fix that the kernel has where the issue is.

    `pair`: a kernel and a ROCm that meet the conditions do not work together at all, whatever is set.
    """

    id: str
    kind: IssueKind
    title: str
    summary: str
    evidence: tuple[str, ...]
    confidence: Confidence
    gfx: tuple[str, ...] = ()
    kernel: VersionRange | None = None
    rocm: RocmRange | None = None
    firmware: str = ""
    signatures: tuple[Signature, ...] = ()
    stages: tuple[str, ...] = ()
    workaround: Workaround = Workaround()
    does_not_help: tuple[str, ...] = ()
    cost: str = ""
    fixed_in: str = ""
    fixed_kernels: VersionRange | None = None
    fixed_rocm: RocmRange | None = None
    fixed_elsewhere: bool = False
    notes: tuple[str, ...] = ()
    several_gpus: bool = False
    dkms: bool = False
    lacks_fix: str = ""
    has_fix: str = ""
    pair: bool = False
    fixed_by: Literal["either", "both"] = "either"

    @property
    def kernels_by_fix(self) -> tuple[str, ...]:
        """Return which kernels are affected where a fix decides that, in words."""
        if self.has_fix:
            return (f"with the fix {self.has_fix}",)
        return (f"without the fix {self.lacks_fix}",) if self.pair and self.lacks_fix else ()

    @property
    def has_release(self) -> bool:
        """Return whether a release of the kernel or of ROCm is known that ends the issue."""
        return bool(self.fixed_in and (self.lacks_fix or self.fixed_kernels or self.fixed_rocm))

    @property
    def tracker(self) -> str:
        """Return the first link of the evidence to an issue of a tracker; empty if there is none."""
        return next((url for url in self.evidence if _TRACKED.search(url)), "")
