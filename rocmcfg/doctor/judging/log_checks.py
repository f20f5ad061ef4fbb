"""What a log says of settings and software without any failure: parameters that the driver did not take."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.doctor.host_checks.software import driver_and_rocm
from rocmcfg.doctor.reading.log_facts import LogFacts, Said
from rocmcfg.doctor.reading.scan import Scanner
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, error, warning

_UNKNOWN = re.compile(r"^(\w+): unknown parameter '([^']+)' ignored$")
_ILLEGAL = re.compile(r"^(\w+): '([^']*)' invalid for parameter '([^']+)'$")


def check(log: LogFacts, scanner: Scanner, known: Catalogue) -> Iterator[Diagnostic]:
    for said in log.illegal_values:
        if match := _ILLEGAL.match(said.text):
            module, value, name = match.groups()
            yield error(
                "RC8131",
                f"{module} did not load: {name}={value} is no legal value",
                location=_place(said, scanner),
                hint=f"`rocmcfg explain {name}` shows what is; `rocmcfg lint` finds the file that sets it",
            )
    for said in log.unknown_parameters:
        if match := _UNKNOWN.match(said.text):
            yield unknown_parameter(match[1], match[2], _place(said, scanner), known)
    if log.dkms:
        yield from driver_and_rocm(log.dkms, log.rocm, "the log")


def _place(said: Said, scanner: Scanner) -> str:
    name, line = scanner.place(said.position)
    return f"{name}:{line}"


def unknown_parameter(module: str, name: str, place: str, known: Catalogue) -> Diagnostic:
    """What to write in its place, as far as anybody can tell."""
    from rocmcfg.judging.judge import of_the_name
    from rocmcfg.judging.verdict import About
    from rocmcfg.model.facts import Machine
    from rocmcfg.model.spelling import parameter

    verdict = next(of_the_name(parameter(f"{module}.{name}"), Machine(), known), None)
    hint = "remove it; `rocmcfg lint` finds the file that sets it"
    if verdict is not None and verdict.about is About.MISNAMED and verdict.instead is not None:
        given = "" if verdict.instead.value is not None else "=…"
        hint = f"{verdict.why} Write --set {verdict.instead}{given}".lstrip()
    elif verdict is not None and verdict.names:
        near = verdict.names[0]
        hint = f"is {near} meant? `rocmcfg explain {near}` tells what it does"
    return warning(
        "RC8130", f"the kernel ignores {module}.{name}: there is no such parameter", location=place, hint=hint
    )
