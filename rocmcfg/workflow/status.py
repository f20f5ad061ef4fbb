"""One look at a host: what it is, what is in force, what is due."""

from __future__ import annotations

from dataclasses import dataclass

from rocmcfg.engine import receipt
from rocmcfg.engine.inventory import SetParameter, set_parameters
from rocmcfg.engine.journal import require_finished
from rocmcfg.engine.receipt import Receipt
from rocmcfg.engine.request import Request, command_line, from_document
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError
from rocmcfg.model.facts import Facts
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.report import VerificationReport
from rocmcfg.workflow.planning import collect_facts
from rocmcfg.workflow.verifying import verify


@dataclass(frozen=True, slots=True)
class Unnecessary:
    """A setting in force whose need is over. `command` applies the same again: it asks every condition anew
    and so drops it."""

    setting: str
    reason: str
    command: str


@dataclass(frozen=True, slots=True)
class Status:
    """`report` is None where the receipt cannot be read; `suggested` are profiles for the GPUs
    found, `issues` those that this host can run into."""

    facts: Facts
    report: VerificationReport | None
    profiles: tuple[str, ...]
    transaction: int | None
    reboot_required: bool
    suggested: tuple[str, ...]
    unnecessary: tuple[Unnecessary, ...]
    parameters: tuple[SetParameter, ...]
    issues: tuple[KnownIssue, ...]
    diagnostics: tuple[Diagnostic, ...]


def status(view: HostView, boot_backend: str = "") -> Status:
    """One look at the host. Never fails for what it merely cannot see."""
    from rocmcfg.doctor.exposure import exposed
    from rocmcfg.knowledge import catalogue, issues, profiles
    from rocmcfg.model.report import CheckStatus

    facts = collect_facts(view, boot_backend=boot_backend, ask_modinfo=False)
    problems: list[Diagnostic] = []
    report: VerificationReport | None = None
    known: Receipt | None = None
    try:
        known = receipt.load(view)
        report = verify(view)
        require_finished(view)
    except RocmcfgError as problem:
        problems += problem.diagnostics
    suggested: tuple[str, ...] = ()
    try:
        suggested = profiles.for_gpus(view, [gpu for gpu in facts.computing if gpu.gfx])
    except RocmcfgError as problem:
        problems += problem.diagnostics
    return Status(
        facts,
        report,
        known.profiles if known else (),
        known.transaction if known else None,
        report is not None and any(c.status is CheckStatus.PENDING_REBOOT for c in report.checks),
        suggested,
        _unnecessary(view, known, facts, problems),
        set_parameters(view, catalogue.load().modules(), facts.boot.loader),
        exposed(issues.load(), facts, catalogue.load()),
        (*problems, *(report.diagnostics if report else ())),
    )


def _unnecessary(
    view: HostView, known: Receipt | None, facts: Facts, problems: list[Diagnostic]
) -> tuple[Unnecessary, ...]:
    """Settings in force whose condition no longer holds on this host: a workaround that may go."""
    if known is None or known.request.get("unconditional"):
        return ()
    from rocmcfg.engine.conditions import decide
    from rocmcfg.knowledge import catalogue, profiles

    try:
        loaded = profiles.load(view, known.profiles)
    except RocmcfgError as problem:
        problems += problem.diagnostics
        return ()
    try:
        command = command_line(from_document(known.request))
    except TypeError:  # a receipt of another version, which knows more options
        command = command_line(Request(profiles=known.profiles))
    applied = {s.id for s in known.settings if s.profile}  # what --set asks for has no condition
    found = []
    for setting in (s for profile in loaded for s in profile.settings):
        if setting.id in applied and setting.when:
            decision = decide(setting.when, facts, catalogue.load())
            if decision.holds is False:
                found.append(Unnecessary(setting.id, decision.text, command))
    return tuple(found)
