"""Kernel arguments that are no parameter of ours: known ones, slips of them, parameters without module."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.lint import names
from rocmcfg.lint.assignment import Assignment, Trust
from rocmcfg.lint.rules import traps
from rocmcfg.lint.rules.machine import Machine
from rocmcfg.lint.verdict import Verdict, info, warning
from rocmcfg.model.catalogue import Catalogue, KernelArgument
from rocmcfg.model.kargs import canonical
from rocmcfg.model.value import same


def judge(found: Assignment, known: Catalogue, machine: Machine) -> Iterator[Verdict]:
    argument = names.argument(found.name)
    trap = known.traps.get(f"{canonical(found.name)}={found.value}")
    if trap is not None:
        written = f"{found.name}={found.value}"
        instead = str(trap.spelt(found.value))
        yield warning("RC7102", f"{written} is not what it seems", why=trap.summary, instead=instead)
    elif argument is not None:
        yield from _known(found, argument, machine)
    else:
        yield from _slip(found, known)


def _known(found: Assignment, argument: KernelArgument, machine: Machine) -> Iterator[Verdict]:
    sources = argument.sources
    written = found.name if found.value is None else f"{found.name}={found.value}"
    if found.opaque:
        return
    right = legal(found.value, argument)
    meant = next((t for t in argument.traps if t.instead and traps.matches(t, found.value)), None)
    if not right and meant is not None:
        said = f"{written} is not what it seems"
        yield warning("RC7102", said, why=meant.summary, instead=str(meant.instead), sources=sources)
        return
    verdicts = list(traps.value_traps(argument.name, found.value, argument.traps, sources, machine))
    yield from verdicts
    if verdicts or found.trust is Trust.PROSE:
        return
    if not right:
        yield warning(
            "RC7103",
            f"{written} is no value that the kernel knows; it ignores the argument",
            why=_takes(argument),
            sources=sources,
        )
    elif found.value is not None and argument.default and same(found.value, argument.default):
        yield info("RC7114", f"{written} is the default", why=argument.summary, instead="", sources=sources)


def legal(value: str | None, argument: KernelArgument) -> bool:
    if value is None:
        return argument.flag or not (argument.values or argument.pattern)
    if argument.values:
        words = value.split(",") if argument.words_join else [value]
        if any(word in argument.values for word in words):
            return True  # of a list one known word is enough: kernels learn new ones
        if not argument.pattern:
            return False
    return not argument.pattern or re.fullmatch(argument.pattern, value) is not None


def _takes(argument: KernelArgument) -> str:
    if argument.values:
        return f"{argument.name} takes {', '.join(argument.values)}."
    return argument.summary


def _slip(found: Assignment, known: Catalogue) -> Iterator[Verdict]:
    """Only what leaves no doubt: everybody's drivers have arguments, and none of them is ours to accuse."""
    module, dot, rest = found.name.strip('"').partition(".")
    if dot and rest:
        right = names.near_module(module)
        if right and f"{right}.{canonical(rest)}" in known.parameters:
            said = f"there is no module {module}; the argument reaches nobody"
            instead = f"{right}.{rest}" + ("" if found.value is None else f"={found.value}")
            yield warning("RC7102", said, why=f"The parameter is one of {right}.", instead=instead)
            return
    value = "" if found.value is None else f"={found.value}"
    if not dot and value and (owner := names.bare_parameter(f"{found.name}{value}")):
        said = f"{found.name} without its module reaches nobody on a kernel command line"
        yield warning("RC7102", said, instead=f"{owner}.{canonical(found.name)}{value}")
        return
    argument = names.near_argument(found.name)
    if argument is not None and found.value is not None and legal(found.value, argument):
        said = f"{found.name} is no argument of the kernel that is known here"
        why = f"{argument.name}={found.value} is one. {argument.summary}"
        yield warning("RC7102", said, why=why, instead=f"karg.{argument.name}={found.value}")
