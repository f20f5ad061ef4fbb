"""Legal values that do not do what people think, and hardware on which a name does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.model.catalogue import Hardware, TrapKind, ValueTrap
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import Spelling, as_number

GRAVE = ("dangerous", "inverted")
# What a value of each kind does, as it stands behind the value.
SAID_OF_TRAPS: dict[TrapKind, str] = {
    "inverted": "does the opposite of what it is set for",
    "dangerous": "is harmful",
    "default": "is what happens anyway",
    "obsolete": "is no longer needed",
    "misread": "is not what many take it for",
    "no_effect": "has no effect here",
}


def meets(trap: ValueTrap, value: str | None) -> bool:
    if "*" in trap.values:
        return True
    number = as_number(value)
    return value is not None and any(
        value == one or (number is not None and number == as_number(one)) for one in trap.values
    )


def trap_holds(trap: ValueTrap, machine: Machine) -> bool | None:
    """Whether it is one on these GPUs and kernels; the range of kernels is told with it where none is known.
    Where no GPU is known, what holds for all but a few is taken to hold."""
    if machine.runs(trap.kernel) is False:
        return False
    acts_on = trap.acts_on
    common = not machine.gpus and acts_on is not None and acts_on == Hardware(not_gfx=acts_on.not_gfx)
    return True if common else machine.has(acts_on)


def traps_of(
    asked: Spelling,
    traps: Sequence[ValueTrap],
    sources: tuple[str, ...],
    machine: Machine,
    beside: str = "",
) -> list[Verdict]:
    """The gravest first. Of a machine that is not known the worst matters, and no more."""
    found: list[Verdict] = []
    for trap in sorted(traps, key=lambda trap: trap.kind not in GRAVE):
        if trap.asked or not meets(trap, asked.value):
            continue
        if trap.intended and re.search(trap.intended, beside):
            break
        holds, now = trap_holds(trap, machine), machine.runs(trap.kernel)
        graver = any(one.trap and one.trap.kind in GRAVE for one in found)
        unsure = holds is None or now is None
        if holds is False or (unsure and graver) or (now is None and trap.kind == "default"):
            continue
        found.append(Verdict(About.TRAP, holds, trap.summary, trap.instead, trap=trap, sources=sources))
    return found


def meanings(
    traps: Sequence[Verdict],
    acts_on: Hardware | None,
    summary: str,
    sources: tuple[str, ...],
    machine: Machine,
) -> Iterator[Verdict]:
    """The traps, behind the verdict that the name does nothing here: then the default is no news."""
    nothing = []
    if not any(one.trap and one.trap.kind == "no_effect" for one in traps):
        nothing = list(no_effect(acts_on, summary, sources, machine))
    yield from nothing
    yield from (one for one in traps if not nothing or not default_is_told(one))


def no_effect(
    acts_on: Hardware | None, summary: str, sources: tuple[str, ...], machine: Machine
) -> Iterator[Verdict]:
    """Where no GPU is known, to act on graphics cards is the usual case, and nobody needs to be told."""
    here = machine.has(acts_on)
    if acts_on is None or here is True or (here is None and acts_on == Hardware(apu=False)):
        return
    yield Verdict(
        About.NO_EFFECT, True if here is False else None, summary, names=(acts_on.words(),), sources=sources
    )


def default_is_told(verdict: Verdict) -> bool:
    return verdict.trap is not None and verdict.trap.kind == "default"
