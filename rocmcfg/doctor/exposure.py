"""Which known issues a host can run into: from its facts alone, without any log."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.doctor import circumstances
from rocmcfg.doctor.circumstances import Options
from rocmcfg.doctor.log_facts import LogFacts
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.facts import Facts
from rocmcfg.model.issue import KnownIssue


def exposed(issues: Iterable[KnownIssue], host: Facts, known: Catalogue) -> tuple[KnownIssue, ...]:
    """Faults known of this host's GPUs, on its running kernel and ROCm, and not fixed there.

    Only what is certain: an issue with a condition that cannot be told is left out, for it would be shown to
    nearly everybody.
    """
    where = circumstances.circumstances(Options(), LogFacts(), host)
    found = []
    for issue in issues if host.gfx else ():
        if issue.kind != "fault" or issue.confidence == "unverified":
            continue
        if not (issue.gfx or issue.kernel or issue.rocm):
            continue
        if issue.several_gpus and len(host.computing) < 2:
            continue
        stated = circumstances.conditions(issue, where, 0)
        fixed = circumstances.fixes(issue, where, 0, known)
        if all(reason.met for reason in stated) and not any(reason.met is False for reason in fixed):
            found.append(issue)
    return tuple(found)
