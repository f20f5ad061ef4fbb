"""Environment variables: whether anybody reads them, when, and what the value does."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.judging import names
from rocmcfg.judging.traps import default_is_told, meanings, traps_of
from rocmcfg.judging.verdict import About, Verdict
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import Spelling, same

_MEANT_AS_OFF = frozenset({"0", "false", "no", "off", "n", "disable", "disabled"})


def of_the_name(asked: Spelling) -> Iterator[Verdict]:
    found = names.variable(asked.name)
    if found is None:
        near = names.near_variable(asked.name)
        if near:
            yield Verdict(About.UNKNOWN, instead=asked._replace(name=near), names=(near,))
    elif found.unknown:
        instead = found.instead._replace(value=asked.value or None) if found.instead else None
        yield Verdict(About.MISNAMED, why=found.summary, instead=instead, sources=found.sources)
    elif found.build_only:
        yield Verdict(About.BUILD_ONLY, why=found.summary, sources=found.sources)
    elif found.deprecated and not found.presence_only:
        # which release reads it here is not known, and older ones know nothing else
        yield Verdict(About.DEPRECATED, why=found.deprecated, instead=found.instead, sources=found.sources)


def of_the_value(asked: Spelling, machine: Machine) -> Iterator[Verdict]:
    found, value = names.variable(asked.name), asked.value
    if found is None or value is None:
        return
    if found.presence_only:
        if value.lower() in _MEANT_AS_OFF:
            yield Verdict(About.PRESENCE_ONLY, why=found.summary, sources=found.sources)
        return
    if not found.takes(value):
        takes = f"It takes {', '.join(found.values)}." if found.values else found.summary
        yield Verdict(About.ILLEGAL, why=takes, sources=found.sources, strict=found.strict)
        return
    traps = traps_of(asked, found.traps, found.sources, machine)
    yield from meanings(traps, found.acts_on, found.summary, found.sources, machine)
    if found.default and same(value, found.default) and not any(default_is_told(one) for one in traps):
        yield Verdict(About.DEFAULT, why=found.summary, sources=found.sources)
