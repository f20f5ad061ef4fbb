"""Legal values that do not do what people think, and hardware on which a name does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.lint.rules.machine import Machine
from rocmcfg.lint.verdict import Verdict, info, warning
from rocmcfg.model.catalogue import Hardware, ValueTrap
from rocmcfg.model.value import as_number
from rocmcfg.model.version import parse_range


def matches(trap: ValueTrap, value: str | None) -> bool:
    if "*" in trap.values:
        return True
    if value is None:
        return False
    number = as_number(value)
    return any(value == v or (number is not None and number == as_number(v)) for v in trap.values)


_GRAVE = ("dangerous", "inverted")


def value_traps(
    name: str,
    value: str | None,
    traps: Sequence[ValueTrap],
    sources: tuple[str, ...],
    machine: Machine,
    beside: str = "",
) -> Iterator[Verdict]:
    """`beside` are the words around the setting, which may tell what is meant by it."""
    grave = False
    for trap in sorted(traps, key=lambda trap: trap.kind not in _GRAVE):
        if trap.asked or not matches(trap, value):
            continue
        if trap.intended and re.search(trap.intended, beside):
            return
        here = _here(trap, machine)
        now = _on_kernels(trap, machine)
        unsure = here is None or now is None
        if here is False or now is False or (unsure and grave):  # of an unknown machine the worst matters
            continue
        if trap.kind == "default" and now is None:
            continue
        grave = grave or trap.kind in _GRAVE
        yield _verdict(name, value, trap, sources, machine, unsure=here is None)


def _here(trap: ValueTrap, machine: Machine) -> bool | None:
    """Where no GPU is known, what holds for all but a few is taken to hold."""
    if trap.on is None or (not machine.named and trap.on == Hardware(not_gfx=trap.on.not_gfx)):
        return True
    return machine.covered(trap.on)


def _on_kernels(trap: ValueTrap, machine: Machine) -> bool | None:
    """Whether it concerns a kernel of the machine; None where none is known."""
    if not trap.kernel:
        return True
    if not machine.kernels:
        return None
    wanted = parse_range(trap.kernel)
    return any(wanted.contains(kernel.version.numbers[:3]) for kernel in machine.kernels)


def _verdict(
    name: str, value: str | None, trap: ValueTrap, sources: tuple[str, ...], machine: Machine, *, unsure: bool
) -> Verdict:
    written = name if value is None else f"{name}={value}"
    why = trap.summary
    if trap.kernel:
        why += f" (kernel {trap.kernel})"
    if unsure and trap.on:
        why += f" That is so on {trap.on.words()}; no GPU is known here."
    instead = str(trap.instead) if trap.instead else None
    if trap.kind == "inverted" and not unsure:
        return warning(
            "RC7104",
            f"{written} does the opposite of what it is set for",
            why=why,
            instead=instead,
            sources=sources,
        )
    if trap.kind == "inverted":
        return info(
            "RC7104", f"{written} may do the opposite of what it is set for", why=why, sources=sources
        )
    if trap.kind == "dangerous" and not unsure:
        return warning("RC7109", f"{written} is harmful", why=why, instead=instead, sources=sources)
    if trap.kind == "dangerous":
        return info("RC7109", f"{written} is harmful on some GPUs", why=why, sources=sources)
    if trap.kind == "default":
        said = f"{written} is what happens anyway" + (" on some GPUs" if unsure else "")
        return info("RC7114", said, why=why, instead=None if unsure else "", sources=sources)
    if trap.kind == "obsolete":
        return info("RC7115", f"{written} is no longer needed", why=why, instead=instead, sources=sources)
    if trap.kind == "misread":
        said = f"{written} is not what many take it for"
        return info("RC7116", said, why=why, instead=instead, sources=sources)
    if unsure or trap.on is None:
        said = f"{written} does nothing on some {'GPUs' if unsure else 'hosts'}"
        return info("RC7113", said, why=why, instead=instead, sources=sources)
    said = f"{written} does nothing on {machine.gpu_names}"
    return info("RC7113", said, why=why, instead=instead or "", sources=sources)


def no_effect(
    name: str, acts_on: Hardware | None, sources: tuple[str, ...], machine: Machine, summary: str
) -> Iterator[Verdict]:
    """`summary` is the catalogue's sentence on the name."""
    if acts_on is None:
        return
    here = machine.covered(acts_on)
    if here is False:
        said = f"{name} does nothing on {machine.gpu_names}"
        why = f"It acts on {acts_on.words()} only. {summary}"
        yield info("RC7113", said, why=why, instead="", sources=sources)
    elif here is None and (acts_on.gfx or acts_on.not_gfx or acts_on.apu or acts_on.panel):
        # on graphics cards only: that is the usual case, and nobody needs to be told
        said = f"{name} acts on {acts_on.words()} only"
        yield info("RC7113", said, why=summary, sources=sources)
