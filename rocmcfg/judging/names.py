"""Decide which names rocmcfg judges, and which known name a misspelt one means. Variables and kernel
arguments of other software are left alone."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable

from rocmcfg.knowledge import catalogue
from rocmcfg.model.catalogue import KernelArgument, Namespace, Variable
from rocmcfg.model.kargs import canonical
from rocmcfg.model.regex import regex

# People take the names in traps.toml for parameters of this module.
MODULE_OF_TRAPS = "amdgpu"
# Lengths of names, and how many slips such a name may have. In a shorter name a slip makes another name.
_SLIPS = ((8, 1), (16, 2))
_EVERYDAY = frozenset({"audio", "backlight", "benchmark", "discovery", "modeset", "rebar", "seamless"})
# Placeholders such as HSA_X and MIOPEN_XXX are not names.
_NAME = regex(r"(?!.*_(?:X+|FOO|BAR|NAME|VAR|VARIABLE|VALUE)$)[A-Z][A-Z0-9_]*[A-Z0-9]")
_INDEXED = regex(r"^(.+?)_\d+$")


@functools.cache
def modules() -> frozenset[str]:
    return frozenset(catalogue.load().modules())


def split_parameter(name: str) -> tuple[str, str] | None:
    """Return module and parameter of a name: ("amdgpu", "cwsr_enable") for `amdgpu.cwsr-enable`; None if no
    known module has such a parameter."""
    module, dot, parameter = canonical(name).partition(".")
    return (module, parameter) if dot and parameter and module in modules() else None


@functools.cache
def may_be_intended(name: str) -> bool:
    """Return whether the words next to a setting can show that its author wants what a trap warns about."""
    entry = catalogue.load().parameters.get(name) or argument(name) or variable(name)
    return entry is not None and any(trap.intended for trap in entry.traps)


def variable(name: str) -> Variable | None:
    """Return the entry of a variable, also for a name such as NAME_<n> if that form exists."""
    variables = catalogue.load().variables
    entry = variables.get(name)
    if entry is None and (indexed := _INDEXED.match(name)):
        base = variables.get(indexed[1])
        entry = base if base is not None and base.indexed else None
    space = None if entry is not None else namespace(name)
    if space is not None and name in space.names:
        return Variable(name, f"{space.reader} reads it; nothing more is known about it.", space.reader)
    return entry


def namespace(name: str) -> Namespace | None:
    """Return the library whose variables begin like this name, if all its names are known."""
    return next((space for space in catalogue.namespaces() if name.startswith(space.prefix)), None)


@functools.cache
def reads_not(name: str) -> Namespace | None:
    """Return the library that a name seems to belong to but that does not read it; None if that is not
    certain."""
    space = namespace(name)
    if space is None or not space.closed or variable(name) is not None or not _NAME.fullmatch(name):
        return None
    if any(fnmatch.fnmatchcase(name, other) for other in space.others):
        return None
    return None if _is_built(name, space.prefix, space.built) else space


def _is_built(name: str, prefix: str, built: frozenset[str]) -> bool:
    words = name.removeprefix(prefix).split("_")
    return not {words[0], words[-1]}.isdisjoint(built)


@functools.cache
def is_stray(name: str) -> bool:
    """Return whether a name looks like a variable of ROCm, but nothing is known to read it. Another program
    may."""
    if variable(name) is not None or not _NAME.fullmatch(name):
        return False
    built = frozenset(word for space in catalogue.namespaces() for word in space.built)
    return any(
        name.startswith(prefix) and not _is_built(name, prefix, built)
        for prefix in catalogue.shared_prefixes()
    )


@functools.cache
def argument(name: str) -> KernelArgument | None:
    """Return the entry of a kernel argument; `-` and `_` in its name are the same."""
    arguments = catalogue.load().arguments
    return arguments.get(name) or next(
        (a for a in arguments.values() if canonical(a.name) == canonical(name)), None
    )


@functools.cache
def near_argument(name: str) -> KernelArgument | None:
    """Return the argument that `name` means, if it is one slip away from it."""
    candidates = [a.name for a in catalogue.load().arguments.values() if a.values or a.pattern]
    near = nearest(name, candidates, 1) if len(name) > 3 else ""
    return argument(near) if near else None


@functools.cache
def near_module(name: str) -> str:
    """Return the module that the part of an argument before its first dot means; empty if there is none."""
    return "" if canonical(name) in modules() else nearest(canonical(name), sorted(modules()), 1)


@functools.cache
def misspelt_parameter(name: str) -> str:
    """Return the parameter that `name` means if its module is misspelt, as in `andgpu.gttsize`; empty for any
    other name."""
    module, dot, parameter = canonical(name).strip('"').partition(".")
    near = near_module(module) if dot and parameter and module.isidentifier() else ""
    return f"{near}.{parameter}" if near and f"{near}.{parameter}" in catalogue.load().parameters else ""


@functools.cache
def concerns_argument(name: str) -> bool:
    """Return whether rocmcfg judges an argument: it is known, or may be a slip of a known name."""
    module, dot, _ = name.partition(".")
    if argument(name) is not None or near_argument(name) is not None or (dot and near_module(module)):
        return True
    trapped = canonical(name) in {trap.partition("=")[0] for trap in catalogue.load().traps if "=" in trap}
    return trapped or (not dot and bool(bare_parameter(f"{name}=1")))


def mentions_anything(text: str) -> bool:
    """Return whether a text holds a word with which a known name begins. Most large texts do not."""
    knowledge = catalogue.load()
    prefixes = {f"{name.partition('_')[0]}_" for name in knowledge.variables if "_" in name}
    prefixes |= {space.prefix for space in catalogue.namespaces()}
    marks = {*modules(), *prefixes, *knowledge.variables, *knowledge.arguments, *knowledge.traps, "amd"}
    return any(mark in text for mark in marks)


@functools.cache
def near_variable(name: str) -> str:
    """Return the variable that `name` means, if it is a slip away from it; empty if it may be another
    name."""
    if variable(name) is not None or not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
        return ""
    words = name.split("_")
    space = namespace(name)
    variables = [v.name for v in catalogue.load().variables.values() if not v.unknown]
    candidates = [v for v in variables if v.partition("_")[0] in (words[0], "")]
    candidates += sorted(space.names) if space else []
    swapped = [c for c in candidates if len(words) > 2 and sorted(c.split("_")) == sorted(words)]
    return swapped[0] if swapped else nearest(name, candidates)


def concerns(name: str) -> bool:
    """Return whether rocmcfg judges a variable: it is known, a slip of a known one, in the namespace of a
    library that does not read it, or begins like a variable of ROCm."""
    judged = variable(name) is not None or bool(near_variable(name)) or reads_not(name) is not None
    return judged or is_stray(name)


def nearest(name: str, candidates: Iterable[str], allowed: int = -1) -> str:
    """Return the nearest candidate within a slip or two, else an empty text. A name that differs in a digit
    is another name. `allowed` is the number of slips; by default it depends on the length of the name."""
    if allowed < 0:
        allowed = max((slips for length, slips in _SLIPS if len(name) >= length), default=0)
    digits = re.sub(r"\D", "", name)
    neighbours = [
        (distance, candidate)
        for candidate in candidates
        if abs(len(candidate) - len(name)) <= allowed
        and re.sub(r"\D", "", candidate) == digits
        and 0 < (distance := slips(name, candidate, allowed)) <= allowed
    ]
    return min(neighbours)[1] if neighbours else ""


def slips(a: str, b: str, limit: int) -> int:
    """Count the letters that were added, lost, exchanged or swapped with their neighbour; at most
    `limit` + 1."""
    same = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[same:], b[same:]
    if not (a or b) or limit == 0 or abs(len(a) - len(b)) > limit:
        return limit + 1 if a or b else 0
    rests = [(a[1:], b), (a, b[1:]), (a[1:], b[1:])]
    if a[:2] == b[1::-1]:
        rests.append((a[2:], b[2:]))
    return 1 + min(slips(*rest, limit - 1) for rest in rests)


def bare_parameter(text: str) -> str:
    """Return the module of a `NAME=VALUE` that can only be a parameter of it; empty if it may be anything."""
    name, equals, value = text.strip().partition("=")
    plain = canonical(name)
    if not equals or not value or not re.fullmatch(r"[\w.,:;@%+/-]+", value) or not _is_distinct(plain):
        return ""
    knowledge = catalogue.load()
    if plain in knowledge.traps:
        return MODULE_OF_TRAPS
    return next((p.module for p in knowledge.parameters.values() if p.name == plain), "")


def _is_distinct(name: str) -> bool:
    """Return whether a name is distinctive. Any software may use `audio`, `debug` or `timeout_period`."""
    common = re.compile(r"(?:timeout|debug|test|max|use|user|num|sched|send|no)_|[a-z]{1,4}$")
    return bool(re.search(r"[a-z]{5}", name)) and not common.match(name) and name not in _EVERYDAY
