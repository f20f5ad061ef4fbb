"""Kernel arguments that are no module parameter of ours: known ones, slips, parameters without module."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.judging import names, parameters
from rocmcfg.judging.traps import meets, traps_of
from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.model.catalogue import Catalogue, KernelArgument
from rocmcfg.model.facts import Machine
from rocmcfg.model.kargs import canonical
from rocmcfg.model.spelling import Spelling, parameter, same
from rocmcfg.model.state import Kind


def of_the_name(asked: Spelling, known: Catalogue) -> Iterator[Verdict]:
    trap = known.traps.get(f"{canonical(asked.name)}={asked.value}")
    if trap is not None:
        yield Verdict(About.MISNAMED, why=trap.summary, instead=trap.spelt(asked.value))
        return
    if names.argument(asked.name) is not None:
        return
    module, dot, rest = asked.name.strip('"').partition(".")
    if dot and rest:
        near_module = names.near_module(module)
        if near_module and f"{near_module}.{canonical(rest)}" in known.parameters:
            instead = parameter(f"{near_module}.{rest}", asked.value)
            yield Verdict(About.UNKNOWN_MODULE, instead=instead, names=(near_module,))
            return
    owner = "" if dot or asked.value is None else names.bare_parameter(f"{asked.name}={asked.value}")
    if owner:
        meant = parameter(f"{owner}.{asked.name}", asked.value)
        right = next(parameters.of_the_name(meant, Machine(), known), None)
        yield Verdict(About.MISNAMED, instead=right.instead if right and right.instead else meant)
        return
    near = names.near_argument(asked.name)
    if near is not None and asked.value is not None:
        meant = Spelling(Kind.KARG, near.name, asked.value)
        better = next(of_the_name(meant, known), None)
        right_value = legal(asked.value, near) is not False
        instead = meant if right_value else meant._replace(value=None)
        if better is not None and better.instead is not None:
            instead = better.instead
        # the drivers of others have arguments too: only a value that fits leaves no doubt
        yield Verdict(About.UNKNOWN, True if right_value else None, near.summary, instead, names=(near.name,))


def of_the_value(asked: Spelling, machine: Machine) -> Iterator[Verdict]:
    found = names.argument(asked.name)
    if found is None:
        return
    right = legal(asked.value, found)
    meant = next((t for t in found.traps if t.instead and meets(t, asked.value)), None)
    if right is False and meant is not None:
        yield Verdict(
            About.TRAP,
            why=meant.summary,
            instead=meant.instead,
            trap=meant,
            sources=found.sources,
            strict=False,
        )
        return
    traps = traps_of(asked, found.traps, found.sources, machine)
    yield from traps
    if traps:
        return
    if right is False:
        takes = f"{found.name} takes {', '.join(found.values)}." if found.values else found.summary
        yield Verdict(About.ILLEGAL, why=takes, sources=found.sources, strict=False)
    elif asked.value is not None and found.default and same(asked.value, found.default):
        yield Verdict(About.DEFAULT, why=found.summary, sources=found.sources)


def legal(value: str | None, argument: KernelArgument) -> bool | None:
    """None where some of several words are known: kernels learn new ones, and pass over the others."""
    if value is None:
        return argument.flag or not (argument.values or argument.pattern)
    if argument.values:
        strange = strange_words(value, argument)
        if not strange:
            return True
        if len(strange) < len(value.split(",")) and argument.words_join:
            return None
        if not argument.pattern:
            return False
    return not argument.pattern or re.fullmatch(argument.pattern, value) is not None


def strange_words(value: str, argument: KernelArgument) -> list[str]:
    """The kernel compares them as they are: capitals count (strncmp, as in parse_amd_iommu_options)."""
    words = value.split(",") if argument.words_join else [value]
    return [word for word in words if word not in argument.values]
