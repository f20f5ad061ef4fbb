"""A kernel that is installed later: is what we applied still right for it?"""

from __future__ import annotations

from dataclasses import replace

from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic, Severity, warning
from rocmcfg.planning.combine import named
from rocmcfg.records.receipt import BadReceipt, Receipt, load
from rocmcfg.trial.record import InForce
from rocmcfg.workflow.applying import apply
from rocmcfg.workflow.planning import Approved
from rocmcfg.workflow.undoing import Progress


def check_kernel(host: Host, release: str, progress: Progress) -> list[Diagnostic]:
    """For the hook of a kernel that was just installed: warn of what it lacks, withdraw what would keep its
    driver from loading. Raises Unreadable for a receipt that may be somebody else's; the hook fails for
    nothing, and the caller prints what is returned."""
    from rocmcfg.facts.kernels import read_kernels
    from rocmcfg.judging.judge import judge
    from rocmcfg.judging.verdict import About
    from rocmcfg.knowledge import catalogue
    from rocmcfg.model.machine import Machine
    from rocmcfg.model.spelling import parameter
    from rocmcfg.planning.wording import worded

    try:
        known = load(host)
    except BadReceipt as problem:
        return [replace(one, severity=Severity.WARNING) for one in problem.diagnostics]
    if known is None:
        return []
    modules = tuple(dict.fromkeys(s.module for s in known.settings if s.module))
    kernels = [k for k in read_kernels(host, modules) if k.release == release]
    if not kernels:
        return [warning("RC4040", f"kernel {release} is not installed here", hint="name one of /lib/modules")]
    machine = Machine(tuple(kernels))
    found: list[Diagnostic] = []
    harmful: list[str] = []
    for setting in known.settings:
        if not setting.parameter or setting.text is None:
            continue
        asked = parameter(setting.parameter, setting.text)
        verdicts = judge(asked, machine, catalogue.load())
        if any(verdict.about is About.ABSENT for verdict in verdicts):
            found.append(
                warning(
                    "RC4041",
                    f"kernel {release} has no {setting.parameter}: {setting.id} does nothing there",
                    hint=f"drop it with `rocmcfg apply … --without {setting.id}`",
                )
            )
        for verdict in verdicts:
            if verdict.about is About.ILLEGAL and verdict.holds:
                harmful.append(setting.id)
                told = worded(verdict, asked, "", catalogue.load(), machine)
                found += [told] if told is not None else []
    return found + (_withdraw(host, known, harmful, release, progress) if harmful else [])


def _withdraw(
    host: Host, known: Receipt, harmful: list[str], release: str, progress: Progress
) -> list[Diagnostic]:
    asked = known.request
    added = tuple(name for name in asked.with_ if not any(named(id, [name]) for id in harmful))
    request = asked._replace(
        with_=added,
        without=(*asked.without, *(id for id in harmful if not _set_by_hand(known, id))),
        set=tuple(s for s in asked.set if s.partition("=")[0] not in harmful),
    )
    left = tuple(s for s in known.settings if s.id not in harmful)
    approved = Approved(known.profiles, left)  # nobody is asked here, and a profile's file may be anybody's
    ended: list[Diagnostic] = []
    try:
        apply(host, request, lambda _: True, progress, asks=False, approved=approved)
    except InForce:  # what the trial would fall back to must load on this kernel as well
        from rocmcfg.workflow.trying import reject

        reject(host, lambda _: True, progress, force=True)
        apply(host, request, lambda _: True, progress, asks=False, approved=approved)
        ended = [
            warning(
                "RC4043",
                f"the trial is ended: what it would fall back to had to be changed for kernel {release}",
                hint="reboot, then try it again",
            )
        ]
    host.log(f"kernel {release}: withdrew {', '.join(harmful)}, which would have stopped its driver")
    return [
        *ended,
        warning(
            "RC4042",
            f"withdrew {', '.join(harmful)}: kernel {release} would not have loaded the driver",
            hint="see `rocmcfg history`; `rocmcfg rollback` brings it back",
        ),
    ]


def _set_by_hand(known: Receipt, id: str) -> bool:
    return any(s.id == id and not s.profile for s in known.settings)
