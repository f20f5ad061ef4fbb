"""A kernel that is installed later: is what we applied still right for it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic, Severity, warning
from rocmcfg.records.receipt import BadReceipt, Receipt, load
from rocmcfg.trial.record import InForce
from rocmcfg.workflow.applying import apply
from rocmcfg.workflow.planning import Approved

if TYPE_CHECKING:
    from rocmcfg.transaction.programs import Progress


def check_kernel(host: Host, release: str, progress: Progress) -> list[Diagnostic]:
    """For the hook of a kernel that was just installed: warn of what it lacks, withdraw what would keep its
    driver from loading. Raises Unreadable for a receipt that may be somebody else's; the hook fails for
    nothing, and the caller prints what is returned."""
    from rocmcfg.facts.kernels import read_kernels
    from rocmcfg.knowledge import catalogue
    from rocmcfg.planning.refusals import judged_on

    try:
        known = load(host)
    except BadReceipt as problem:
        return [replace(one, severity=Severity.WARNING) for one in problem.diagnostics]
    if known is None:
        return []
    modules = tuple(dict.fromkeys(s.module for s in known.settings if s.module))
    kernel = next((k for k in read_kernels(host, modules) if k.release == release), None)
    if kernel is None:
        return [warning("RC4040", f"kernel {release} is not installed here", hint="name one of /lib/modules")]
    said, harmful = judged_on(kernel, known, catalogue.load())
    return said + (_withdraw(host, known, harmful, release, progress) if harmful else [])


def _withdraw(
    host: Host, known: Receipt, harmful: Sequence[str], release: str, progress: Progress
) -> list[Diagnostic]:
    from rocmcfg.planning.refusals import request_without

    request = request_without(known, harmful)
    # what was approved, since nobody is asked here, and a profile's file may be anybody's
    approved = Approved(known.profiles, tuple(s for s in known.settings if s.id not in harmful))
    said = [
        warning(
            "RC4042",
            f"withdrew {', '.join(harmful)}: kernel {release} would not have loaded the driver",
            hint="see `rocmcfg history`; `rocmcfg rollback` brings it back",
        )
    ]
    try:
        apply(host, request, lambda _: True, progress, asks=False, approved=approved)
    except InForce:  # what the trial would fall back to must load on this kernel as well
        from rocmcfg.workflow.undoing import reject

        reject(host, lambda _: True, progress, force=True)
        apply(host, request, lambda _: True, progress, asks=False, approved=approved)
        ended = warning(
            "RC4043",
            f"the trial is ended: what it would fall back to had to be changed for kernel {release}",
            hint="reboot, then try it again",
        )
        said.insert(0, ended)
    host.log(f"kernel {release}: withdrew {', '.join(harmful)}, which would have stopped its driver")
    return said
