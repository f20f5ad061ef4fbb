"""What is known to be so of a setting on a machine; and the verdicts that settings of every kind share: legal
values that do not do what people think, and hardware on which a name does nothing.

`plan`, `lint`, `explain` and `doctor` only word it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from rocmcfg.model.catalogue import Feature, Hardware, Named, Parameter, TrapKind, ValueTrap, Variable
from rocmcfg.model.facts import Machine
from rocmcfg.model.regex import search
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling, as_number


class About(Enum):
    """What a verdict says. Of the name: whether anything has or reads it. Of the value: what comes of it."""

    UNKNOWN_MODULE = "no such module"
    UNKNOWN = "nothing that is known has or reads the name"
    MISNAMED = "it is known what is written in place of the name"
    ABSENT = "kernels of the machine lack it"
    BUILD_ONLY = "read when software is compiled, never when it runs"
    DEPRECATED = "deprecated"
    ILLEGAL = "its reader refuses the value, or passes over it"
    OUT_OF_RANGE = "the reader takes the value, which has no meaning"
    OCTAL = "a leading 0 makes it another number"
    PRESENCE_ONLY = "meant as off, and any value switches it on"
    TRAP = "the value does not do what people think"
    UNDOES = "the opposite of what cures a known issue of this hardware"
    NO_EFFECT = "nothing on this hardware heeds it"
    TAINTS = "setting it taints the kernel"
    FEATURE_TAINTS = "it switches a feature on that taints the kernel"
    SIDE_EFFECT = "a mask that changes more than it is copied for"
    LOSES = "it switches a feature off that this hardware needs"
    DEFAULT = "what happens anyway"
    FIXED = "a workaround whose fix every kernel has"


OF_THE_NAME = frozenset(list(About)[: list(About).index(About.ILLEGAL)])
# With one of these there is nothing else to say of a value.
REFUSED = frozenset({About.ILLEGAL, About.OUT_OF_RANGE})


class Verdict(NamedTuple):
    """`holds` is True where it is so on the machine, None where that cannot be told; what is not so is no
    verdict. `why` is a sentence or a reason of the catalogue.

    `instead` is what to write, without a value where that is the writer's; `names`
    are what it is about: names that look alike, the ends of a range, a feature, what a mask changes.
    `kernels` are the releases that it is true of, `others` the rest of those that have the parameter.
    `strict`: the reader stops on an illegal value, others may pass over it.
    """

    about: About
    holds: bool | None = True
    why: str = ""
    instead: Spelling | None = None
    names: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    trap: ValueTrap | None = None
    sources: tuple[str, ...] = ()
    strict: bool = True

    @property
    def trap_kind(self) -> TrapKind | None:
        return self.trap.kind if self.trap is not None else None

    @property
    def is_grave(self) -> bool:
        """Say whether the verdict is a trap that is sure to do harm, or the opposite of what is meant."""
        return self.holds is True and self.trap_kind in GRAVE


GRAVE = ("dangerous", "inverted")
_SAID_OF_TRAPS: dict[TrapKind, str] = {
    "inverted": "does the opposite of what is meant",
    "dangerous": "is harmful",
    "default": "is what happens anyway",
    "obsolete": "is no longer needed",
    "misread": "is not what many take it for",
    "no_effect": "has no effect here",
    "limited": "is reached in part here",
}


def said_of(trap: ValueTrap) -> str:
    """Return what the value of a trap does, to be read behind the value."""
    return _SAID_OF_TRAPS[trap.kind] + (f": {trap.does}" if trap.does else "")


def meets(trap: ValueTrap, value: str | None) -> bool:
    return "*" in trap.values or (value is not None and any(is_one_of(value, word) for word in trap.values))


def is_one_of(value: str, word: str) -> bool:
    """Say whether a value is what a table says: a text, a number in any spelling, a range such as 4..9."""
    number = as_number(value)
    low, dots, high = word.partition("..")
    if dots and number is not None:
        return (as_number(low) or 0) <= number <= (as_number(high) or 0)
    return word in (value, value.lower()) or (number is not None and as_number(word) == number)


def trap_holds(trap: ValueTrap, machine: Machine) -> bool | None:
    """Say whether the value is a trap on the GPUs and kernels of the machine. Where no GPU is known, a trap
    on all GPUs but a few is taken to hold."""
    if machine.runs(trap.kernel) is False:
        return False
    acts_on = trap.acts_on
    common = not machine.gpus and acts_on is not None and acts_on == Hardware(not_gfx=acts_on.not_gfx)
    return True if common else machine.has(acts_on)


def traps_of(setting: Spelling, entry: Named, machine: Machine, beside: str = "") -> list[Verdict]:
    """The traps that the value meets, the gravest first. Where GPUs or kernels are not known, a grave trap
    hides the others that may not hold."""
    verdicts: list[Verdict] = []
    for trap in sorted(entry.traps, key=lambda trap: trap.kind not in GRAVE):
        if trap.asked or not meets(trap, setting.value):
            continue
        if trap.intended and search(trap.intended, beside):
            break
        holds, now = trap_holds(trap, machine), machine.runs(trap.kernel)
        graver = any(verdict.trap_kind in GRAVE for verdict in verdicts)
        unsure = holds is None or now is None
        if (
            holds is False
            or (unsure and (graver or trap.kind == "limited"))
            or (now is None and trap.kind == "default")
        ):
            continue
        verdicts.append(
            Verdict(About.TRAP, holds, trap.summary, trap.instead, trap=trap, sources=entry.sources)
        )
    return verdicts


def meanings(traps: Sequence[Verdict], entry: Parameter | Variable, machine: Machine) -> list[Verdict]:
    """The traps, behind the verdict that the name does nothing here: then the default is no news."""
    nothing = [] if any(trap.trap_kind == "no_effect" for trap in traps) else list(no_effect(entry, machine))
    return [*nothing, *(trap for trap in traps if not nothing or trap.trap_kind != "default")]


def taint(feature: Feature, machine: Machine) -> Iterator[Verdict]:
    holds = machine.runs(feature.taints) if feature.taints else False
    if holds is not False:
        yield Verdict(About.FEATURE_TAINTS, holds, feature.summary, names=(feature.name, feature.taints))


def loses(feature: Feature, machine: Machine) -> Iterator[Verdict]:
    """Say what does not work where the feature is off, and on which GPUs; nothing where no GPU is known."""
    gpus = [
        gpu
        for gpu in machine.named
        for hardware in feature.needed_on
        if hardware.covers(gpu.gfx or "", gpu.integrated)
    ]
    unsure = machine.gpus and any(machine.has(hardware) is None for hardware in feature.needed_on)
    if gpus or unsure:
        names = (feature.name, feature.needed_for, ", ".join(dict.fromkeys(gpu.gfx or "" for gpu in gpus)))
        holds = True if gpus else None
        yield Verdict(About.LOSES, holds, feature.summary, names=names, sources=feature.sources)


def no_effect(entry: Parameter | Variable | Feature, machine: Machine) -> Iterator[Verdict]:
    """Where no GPU is known, to act on graphics cards is the usual case, and nobody needs to be told."""
    acts_on, here = entry.acts_on, machine.has(entry.acts_on)
    if acts_on is None or here is True or (here is None and acts_on == Hardware(apu=False)):
        return
    holds = True if here is False else None
    yield Verdict(About.NO_EFFECT, holds, entry.summary, names=(acts_on.words(),), sources=entry.sources)
