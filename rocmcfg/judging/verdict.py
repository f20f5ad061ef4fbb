"""Define verdicts on a setting, and judge what settings of every kind have in common: legal values that do
not do what people think, and hardware on which a name does nothing.

`plan`, `lint`, `explain` and `doctor` only word verdicts; none of them judges.
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
    """The subject of a verdict: whether anything has or reads the name, or what the value does."""

    UNKNOWN_MODULE = "no such module"
    UNKNOWN = "nothing is known to have or read the name"
    MISNAMED = "people write the name for another one, which is known"
    ABSENT = "kernels of the machine do not have it"
    BUILD_ONLY = "read when software is compiled, never when it runs"
    DEPRECATED = "deprecated"
    ILLEGAL = "its reader refuses or ignores the value"
    OUT_OF_RANGE = "the reader accepts the value, which has no meaning"
    OCTAL = "a leading 0 makes it another number"
    PRESENCE_ONLY = "meant as off, but any value turns it on"
    TRAP = "the value does not do what people think"
    UNDOES = "the opposite of the cure of a known issue on this hardware"
    NO_EFFECT = "nothing on this hardware uses it"
    TAINTS = "setting it taints the kernel"
    FEATURE_TAINTS = "it turns on a feature that taints the kernel"
    SIDE_EFFECT = "a mask that changes more than people copy it for"
    LOSES = "it turns off a feature that this hardware needs"
    DEFAULT = "the default"
    FIXED = "a workaround for a fault that every kernel has fixed"


OF_THE_NAME = frozenset(list(About)[: list(About).index(About.ILLEGAL)])
# After one of these verdicts nothing more is said about a value.
REFUSED = frozenset({About.ILLEGAL, About.OUT_OF_RANGE})


class Verdict(NamedTuple):
    """A verdict on a setting.

    `holds` is True if the verdict is true on the machine, and None if that cannot be determined; there is no
    verdict that is false. `why` is a sentence, or a reason from the catalogue. `instead` is the setting to
    write, without a value if the author's stays. `names` are the subjects of the verdict: similar names, the
    ends of a range, a feature, the effects of a mask. `kernels` are the releases on which it is true,
    `others` the remaining releases that have the parameter. `strict`: the reader stops at an illegal value;
    other readers may ignore it.
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
        """Whether the verdict is a trap that certainly does harm, or the opposite of what is meant."""
        return self.holds is True and self.trap_kind in GRAVE


GRAVE = ("dangerous", "inverted")
_SAID_OF_TRAPS: dict[TrapKind, str] = {
    "inverted": "does the opposite of what is meant",
    "dangerous": "is harmful",
    "default": "is the default anyway",
    "obsolete": "is no longer needed",
    "misread": "is often misunderstood",
    "no_effect": "has no effect here",
    "limited": "is only partly reached here",
    "costly": "has a price",
    "debugging": "is for debugging alone",
}


def said_of(trap: ValueTrap) -> str:
    """Return the words that follow a trap's value in a sentence, such as "has no effect here"."""
    return _SAID_OF_TRAPS[trap.kind] + (f": {trap.does}" if trap.does else "")


def meets(trap: ValueTrap, value: str | None) -> bool:
    return "*" in trap.values or (value is not None and any(is_one_of(value, word) for word in trap.values))


def is_one_of(value: str, word: str) -> bool:
    """Return whether a value matches a word of a table: a text, a number in any spelling, or a range such as
    4..9."""
    number = as_number(value)
    low, dots, high = word.partition("..")
    if dots and number is not None:
        return (as_number(low) or 0) <= number <= (as_number(high) or 0)
    return word in (value, value.lower()) or (number is not None and as_number(word) == number)


def trap_holds(trap: ValueTrap, machine: Machine) -> bool | None:
    """Return whether the value is a trap on the GPUs and kernels of the machine. If no GPU is known, a trap
    on all GPUs but a few is assumed to hold."""
    if machine.runs(trap.kernel) is False:
        return False
    acts_on = trap.acts_on
    common = not machine.gpus and acts_on is not None and acts_on == Hardware(not_gfx=acts_on.not_gfx)
    return True if common else machine.has(acts_on)


def traps_of(setting: Spelling, entry: Named, machine: Machine, beside: str = "") -> list[Verdict]:
    """Return the traps that the value falls into, the gravest first. If GPUs or kernels are unknown, a grave
    trap hides the traps that may not hold."""
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
        if now is None and trap.kind in GRAVE:
            holds = None
        verdicts.append(
            Verdict(About.TRAP, holds, trap.summary, trap.instead, trap=trap, sources=entry.sources)
        )
    return verdicts


def meanings(traps: Sequence[Verdict], entry: Parameter | Variable, machine: Machine) -> list[Verdict]:
    """Return the traps, after the verdict that the name does nothing here, if it does nothing. In that case
    the trap of writing the default is left out."""
    nothing = [] if any(trap.trap_kind == "no_effect" for trap in traps) else list(no_effect(entry, machine))
    return [*nothing, *(trap for trap in traps if not nothing or trap.trap_kind != "default")]


def taint(feature: Feature, machine: Machine) -> Iterator[Verdict]:
    holds = machine.runs(feature.taints) if feature.taints else False
    if holds is not False:
        yield Verdict(About.FEATURE_TAINTS, holds, feature.summary, names=(feature.name, feature.taints))


def loses(feature: Feature, machine: Machine) -> Iterator[Verdict]:
    """Yield what stops working on which GPUs when the feature is off; nothing if no GPU is known."""
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
    """Yield a verdict if the name does nothing on the machine's GPUs. If no GPU is known, there is none for a
    name that acts on graphics cards, which is the usual case."""
    acts_on, here = entry.acts_on, machine.has(entry.acts_on)
    if acts_on is None or here is True or (here is None and acts_on == Hardware(apu=False)):
        return
    holds = True if here is False else None
    yield Verdict(About.NO_EFFECT, holds, entry.summary, names=(acts_on.words(),), sources=entry.sources)
