"""What the words of a verdict are made of: sentences, and one piece of advice."""

from __future__ import annotations

from enum import Enum

from rocmcfg.judging.verdict import Verdict
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import cut
from rocmcfg.model.facts import Machine
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling

BUG_REPORTS = "maintainers may turn a bug report away"


class Advice(Enum):
    """What to do about a setting, the plainest first."""

    TAKE_OUT = "take it out"
    UNNEEDED = "it changes nothing here: leave it out"
    CHANGE = "write something else in its place"
    NOTE = "leave it, and know this about it"


class Words(NamedTuple):
    """What a verdict says. `summary` has no full stop; `why` are sentences, or empty; `cure` is what to do,
    without a full stop. `instead` is what to write where the advice is to change the setting; its value is
    None where the author's stays."""

    summary: str
    why: str
    advice: Advice
    cure: str
    instead: Spelling | None = None


class Case(NamedTuple):
    """A setting, and what it is judged by."""

    asked: Spelling
    known: Catalogue
    machine: Machine

    @property
    def name(self) -> str:
        """The name as it stands in a file: without the scope that `--set` wants before it."""
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


def change(summary: str, why: str, instead: Spelling, *, cure: str = "") -> Words:
    return Words(summary, why, Advice.CHANGE, cure or f"write {instead}", instead)


def changed(verdict: Verdict, case: Case, summary: str, why: str) -> Words:
    """Advise what the verdict proposes, if it does. A name without a value is worth a look, and not to be
    written: its value may mean something else there."""
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
