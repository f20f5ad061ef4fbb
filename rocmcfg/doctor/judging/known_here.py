"""Which known issues a host can run into: from its facts alone, without any log."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.doctor.judging.conditions import conditions, fixes
from rocmcfg.doctor.judging.origin import Options, origin
from rocmcfg.doctor.reading.log_facts import LogFacts
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.facts import Facts
from rocmcfg.model.issue import KnownIssue


def known_here(issues: Iterable[KnownIssue], host: Facts, known: Catalogue) -> tuple[KnownIssue, ...]:
    """Faults known of this host's GPUs, on its running kernel and ROCm, and not fixed there.

    Only what is certain: an issue with a condition that cannot be told is left out, for it would be shown to
    nearly everybody.
    """
    where = origin(Options(), LogFacts(), host)
    found = []
    for issue in issues if host.gfx else ():
        if issue.kind != "fault" or issue.confidence == "unverified":
            continue
        if not (issue.gfx or issue.kernel or issue.rocm):
            continue
        if issue.several_gpus and len(host.computing) < 2:
            continue
        stated = conditions(issue, where, 0)
        fixed = fixes(issue, where, 0, known)
        if all(reason.met for reason in stated) and not any(reason.met is False for reason in fixed):
            found.append(issue)
    return tuple(found)
