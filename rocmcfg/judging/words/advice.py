"""The parts of a verdict's wording: its sentences, and one piece of advice."""

from __future__ import annotations

from enum import Enum

from rocmcfg.judging.verdict import Verdict
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import cut
from rocmcfg.model.facts import Machine
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling

BUG_REPORTS = "maintainers may reject bug reports from a tainted kernel"


class Advice(Enum):
    """What to do about a setting, the firmest advice first."""

    TAKE_OUT = "remove it"
    UNNEEDED = "leave it out: it changes nothing here"
    CHANGE = "write something else instead"
    NOTE = "keep it, and know this about it"


class Words(NamedTuple):
    """The wording of a verdict. `summary` has no full stop. `why` consists of whole sentences, or is empty.
    `cure` says what to do, without a full stop. `instead` is the setting to write if the advice is to change
    it; its value is None if the author's value stays."""

    summary: str
    why: str
    advice: Advice
    cure: str
    instead: Spelling | None = None


class Case(NamedTuple):
    """A setting, the catalogue and the machine by which it is judged."""

    asked: Spelling
    known: Catalogue
    machine: Machine

    @property
    def name(self) -> str:
        """Return the name as a file spells it: without the scope that `--set` requires."""
        return self.asked.id if self.asked.kind in (Kind.PARAMETER, Kind.FEATURE) else self.asked.name

    @property
    def written(self) -> str:
        return self.name if self.asked.value is None else f"{self.name}={cut(self.asked.value)}"


def take_out(case: Case, summary: str, why: str, *, cure: str = "") -> Words:
    return Words(summary, why, Advice.TAKE_OUT, cure or f"leave {case.name} out")


def unneeded(case: Case, summary: str, why: str) -> Words:
    return Words(summary, why, Advice.UNNEEDED, f"leave {case.name} out")


def doubt(case: Case, summary: str, why: str, *, cure: str = "") -> Words:
    """Leave to the author what nobody else can know: the GPU, another reader, or what is wanted."""
    return Words(summary, why, Advice.NOTE, cure or f"leave {case.name} out unless you know why you want it")


def priced(case: Case, summary: str, why: str) -> Words:
    """Leave to the author whether what the setting gives is worth its price."""
    return doubt(case, summary, why, cure=f"keep {case.name} if what it gives is worth that")


def change(summary: str, why: str, instead: Spelling, *, cure: str = "") -> Words:
    return Words(summary, why, Advice.CHANGE, cure or f"write {instead}", instead)


def changed(verdict: Verdict, case: Case, summary: str, why: str) -> Words:
    """Advise to write the verdict's proposal, if it has one. A proposed name without a value is only
    mentioned: the author's value may mean something else under that name."""
    instead = verdict.instead
    if instead is None:
        return doubt(case, summary, why)
    if instead.value is None:
        return doubt(case, summary, why, cure=f"see {instead}")
    return change(summary, why, instead)


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def did_you_mean(near: list[str], otherwise: str) -> str:
    return f"did you mean {', '.join(near)}?" if near else otherwise
