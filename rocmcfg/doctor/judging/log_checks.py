"""What a log says of settings and software without any failure: parameters that the driver did not take."""

from __future__ import annotations

import re

from rocmcfg.doctor.host_checks.software import driver_and_rocm
from rocmcfg.doctor.reading.log_facts import LogFacts, Said
from rocmcfg.doctor.reading.scan import Scanner
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.value import closest

_UNKNOWN = re.compile(r"^(\w+): unknown parameter '([^']+)' ignored$")
_ILLEGAL = re.compile(r"^(\w+): '([^']*)' invalid for parameter '([^']+)'$")


def check(log: LogFacts, scanner: Scanner, known: Catalogue) -> list[Diagnostic]:
    found = []
    for said in _once(log.illegal_values):
        match = _ILLEGAL.match(said.text)
        if match:
            found.append(_illegal(match[1], match[3], match[2], _place(said, scanner)))
    for said in _once(log.unknown_parameters):
        match = _UNKNOWN.match(said.text)
        if match:
            found.append(_unknown(match[1], match[2], _place(said, scanner), known))
    if log.dkms:
        found += driver_and_rocm(log.dkms, log.rocm, "the log")
    return found


def _once(said: tuple[Said, ...]) -> list[Said]:
    return list({one.text: one for one in reversed(said)}.values())[::-1]


def _place(said: Said, scanner: Scanner) -> str:
    name, line = scanner.place(said.position)
    return f"{name}:{line}"


def _illegal(module: str, name: str, value: str, place: str) -> Diagnostic:
    return error(
        "RC8131",
        f"{module} did not load: {name}={value} is no legal value",
        location=place,
        hint=f"`rocmcfg explain {name}` shows what is; `rocmcfg lint` finds the file that sets it",
    )


def _unknown(module: str, name: str, place: str, known: Catalogue) -> Diagnostic:
    """What to write in its place: the trap that we know, else the nearest name."""
    trap = known.traps.get(name)
    near = closest(name, [p.name for p in known.parameters.values() if p.module == module])
    if trap is not None:
        hint = f"{trap.summary} Write --set {trap.instead}=…"
    elif near:
        hint = f"is {near[0]} meant? `rocmcfg explain {near[0]}` tells what it does"
    else:
        hint = "remove it; `rocmcfg lint` finds the file that sets it"
    return warning(
        "RC8130", f"the kernel ignores {module}.{name}: there is no such parameter", location=place, hint=hint
    )
