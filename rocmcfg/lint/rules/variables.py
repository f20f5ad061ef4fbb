"""Environment variables: whether anybody reads them, when, and what the value does."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.lint import names
from rocmcfg.lint.assignment import Assignment, Trust
from rocmcfg.lint.rules import traps
from rocmcfg.lint.rules.machine import Machine
from rocmcfg.lint.verdict import Verdict, info, warning
from rocmcfg.model.catalogue import Variable
from rocmcfg.model.value import same

_MEANT_AS_OFF = frozenset({"0", "false", "no", "off", "n", "disable", "disabled"})


def judge(found: Assignment, machine: Machine) -> Iterator[Verdict]:
    variable = names.variable(found.name)
    if variable is None:
        near = names.near_variable(found.name)
        if near:
            said = f"nothing reads {found.name}"
            why = f"Did you mean {near}?"
            yield warning("RC7102", said, why=why, instead=_renamed(near, found))
        return
    if variable.unknown:
        instead = _renamed(variable.instead.name, found) if variable.instead else ""
        said = f"nothing reads {found.name}"
        yield warning("RC7101", said, why=variable.summary, instead=instead, sources=variable.sources)
        return
    if variable.build_only:
        if not found.builds:
            said = f"{found.name} is read when software is compiled, and never when it runs"
            yield warning("RC7106", said, why=variable.summary, instead="", sources=variable.sources)
        return
    if found.opaque:
        yield from _name_only(found, variable)
        return
    yield from _value(found, variable, machine)


def _renamed(name: str, found: Assignment) -> str:
    return f"env.{name}" + (f"={found.value}" if found.value and not found.opaque else "")


def _name_only(found: Assignment, variable: Variable) -> Iterator[Verdict]:
    if variable.deprecated:
        said = f"{found.name} is deprecated: {variable.deprecated}"
        # which release reads it here is not known, and older ones know nothing else
        yield info("RC7107", said, why=variable.summary, sources=variable.sources)


def _value(found: Assignment, variable: Variable, machine: Machine) -> Iterator[Verdict]:
    sources, value = variable.sources, found.value
    if value is None:
        return
    if variable.presence_only:
        if value.lower() in _MEANT_AS_OFF:
            yield warning(
                "RC7105",
                f"{found.name}={value} switches it on: only its presence counts",
                why=f"{variable.summary} To switch it off, unset it.",
                instead="",
                sources=sources,
            )
        return
    if found.trust is not Trust.PROSE and not variable.takes(value):
        yield _illegal(found, variable)
        return
    verdicts = list(traps.value_traps(found.name, value, variable.traps, sources, machine))
    yield from verdicts
    if not any(v.id == "RC7113" for v in verdicts):
        yield from traps.no_effect(found.name, variable.acts_on, sources, machine, variable.summary)
    yield from _name_only(found, variable)
    if not any(v.id == "RC7114" for v in verdicts) and variable.default and same(value, variable.default):
        yield info(
            "RC7114",
            f"{found.name}={value} is the default",
            why=variable.summary,
            instead="",
            sources=sources,
        )


def _illegal(found: Assignment, variable: Variable) -> Verdict:
    written, reader = f"{found.name}={found.value}", variable.reader or "its reader"
    bare = (found.value or "").strip("\"'")
    said, literal = f"{written} is no value that {reader} takes", None
    if bare != found.value and variable.takes(bare):
        said = f"the quotes in {written} are part of the value, and {reader} takes none"
        literal = f"{found.name}={bare}"
    if variable.strict:
        return warning("RC7103", said, why=_takes(variable), literal=literal, sources=variable.sources)
    if literal is None:
        said = f"{written} is none of the values that are documented; {reader} may pass over it"
    return info("RC7103", said, why=_takes(variable), literal=literal, sources=variable.sources)


def _takes(variable: Variable) -> str:
    if variable.values:
        return f"It takes {', '.join(variable.values)}."
    return variable.summary
