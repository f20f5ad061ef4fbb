"""What goes into a report, before it is text. Nothing here is redacted yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocmcfg.facts.hardware import Hardware
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Facts
from rocmcfg.model.issue import KnownIssue
from rocmcfg.state.configured import SetParameter


@dataclass(frozen=True, slots=True)
class ReportedMatch:
    """A known issue that the log or the host speaks for. `score` from 0 to 1."""

    issue: KnownIssue
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of one log that the report shows. `left_out` counts those that it does not."""

    source: str
    lines: tuple[str, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """`parameters` come with their defaults; `variables` are name, value and source. `arguments` are those of
    the running kernel that concern a GPU; `other_arguments` counts the rest, which a report has no use for.
    `profiles` and `state` are what rocmcfg has in force. `elsewhere` describes the machine that wrote the
    logs, where it is another one."""

    version: str
    facts: Facts
    hardware: Hardware
    parameters: tuple[tuple[SetParameter, str], ...]
    arguments: tuple[str, ...]
    other_arguments: int
    variables: tuple[tuple[str, str, str], ...]
    profiles: tuple[str, ...]
    state: str
    elsewhere: str
    matches: tuple[ReportedMatch, ...]
    checks: tuple[Diagnostic, ...]
    excerpts: tuple[Excerpt, ...]
    packages: Mapping[str, str]
