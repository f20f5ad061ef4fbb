"""Select the lines of a log to show, with their count and place, for an issue or a fault class; and report
parameters that the driver refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from rocmcfg.advice.doctor.judging.faults import FaultMatch
from rocmcfg.advice.doctor.judging.match import Match
from rocmcfg.advice.doctor.reading.hits import Group, Hits
from rocmcfg.advice.doctor.reading.log_facts import LogFacts, Said
from rocmcfg.advice.doctor.reading.probes import Role
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.judging.judge import of_the_name
from rocmcfg.knowledge.kernel_names import KernelName, decode
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Machine
from rocmcfg.model.issue import Strength
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.spelling import parameter

_UNKNOWN = regex(r"^(\w+): unknown parameter '([^']+)' ignored$")
_ILLEGAL = regex(r"^(\w+): '([^']*)' invalid for parameter '([^']+)'$")


@published("log", "line", "last_line", "count=times", "more", "text", "strength")
class LogLines(NamedTuple):
    """Lines that differ only in numbers, shown as one. `more`: there are more than were counted."""

    log: str
    line: int
    last_line: int
    times: int
    more: bool
    text: str
    strength: Literal[Strength, ""] = ""


def of_match(match: Match, scanner: Scanner) -> tuple[LogLines, ...]:
    """Return the lines of a match, those of the strongest signatures first."""
    return tuple(_lines(match.hits, scanner).values())


def of_fault(match: FaultMatch, scanner: Scanner) -> tuple[LogLines, ...]:
    """Return the lines of a fault class, in the order of the log."""
    return tuple(_of_group(group, scanner, match.full) for group in match.groups)


def of_role(role: Role, hits: Sequence[Hits], scanner: Scanner) -> tuple[LogLines, ...]:
    """Return the lines that probes of a role found, in the order of the log, whether or not an issue explains
    them."""
    groups = _lines([hit for hit in hits if hit.probe.role == role], scanner)
    return tuple(groups[position] for position in sorted(groups))


def kernel_names(evidence: Sequence[LogLines]) -> tuple[KernelName, ...]:
    """Return the GEMM kernels that the lines name, decoded, each once."""
    return tuple({name.name: name for lines in evidence if (name := decode(lines.text)) is not None}.values())


def _lines(hits: Sequence[Hits], scanner: Scanner) -> dict[int, LogLines]:
    """Return each group of lines by the position of its first line. A group that several probes found is
    there once."""
    groups: dict[int, LogLines] = {}
    for hit in hits:
        strength = hit.probe.signature.strength if hit.probe.signature else ""
        for group in hit.groups:
            groups.setdefault(group.first, _of_group(group, scanner, hit.full, strength))
    return groups


def _of_group(group: Group, scanner: Scanner, full: bool, strength: Literal[Strength, ""] = "") -> LogLines:
    log, line = scanner.place(group.first)
    _, last = scanner.place(group.last)
    return LogLines(log, line, last, group.count, full, group.text, strength)


def refused_parameters(log: LogFacts, scanner: Scanner, catalogue: Catalogue) -> Iterator[Diagnostic]:
    for statement in log.illegal_values:
        if match := _ILLEGAL.match(statement.text):
            module, value, name = match.groups()
            summary = f"{module} did not load: {name}={value} is not a legal value"
            hint = (
                f"see `rocmcfg explain {name}` for legal values; `rocmcfg lint` finds the file that sets it"
            )
            yield error("RC8131", summary, location=_place(statement, scanner), hint=hint)
    for statement in log.unknown_parameters:
        if match := _UNKNOWN.match(statement.text):
            yield unknown_parameter(match[1], match[2], _place(statement, scanner), catalogue)


def _place(statement: Said, scanner: Scanner) -> str:
    name, line = scanner.place(statement.position)
    return f"{name}:{line}"


def unknown_parameter(module: str, name: str, place: str, catalogue: Catalogue) -> Diagnostic:
    """Return the diagnostic on a parameter that the kernel ignores, with the name to write instead, if that
    is known."""
    from rocmcfg.judging.words import words

    setting, anybody = parameter(f"{module}.{name}"), Machine()
    verdict = next(of_the_name(setting, anybody, catalogue), None)
    summary = f"the kernel ignores {module}.{name}: there is no such parameter"
    hint, why = "remove it; `rocmcfg lint` finds the file that sets it", ""
    if verdict is not None:
        worded = words(verdict, setting, catalogue, anybody)
        stop = "" if worded.cure.endswith("?") else ";"
        hint, why = f"{worded.cure}{stop} `rocmcfg lint` finds the file that sets it", verdict.why
    return warning("RC8130", summary, location=place, detail=why, hint=hint)
