"""Describe a host at a glance: what it is, what is in force, and what is due."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

from rocmcfg.advice.doctor.judging.workarounds import IssueHere, holding, issues_of
from rocmcfg.change.planning.foreign import foreign_trouble
from rocmcfg.change.trial import record as trial
from rocmcfg.change.trial.standing import TrialOnRecord, anything_left, trial_on_record
from rocmcfg.files import environment
from rocmcfg.host.state_dir import BLACK_BOX
from rocmcfg.host.view import HostView, Snapshot
from rocmcfg.judging.conditions import decide
from rocmcfg.judging.names import argument, variable
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.checks import CheckStatus, Overall, VerificationReport
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, warning
from rocmcfg.model.experiment import TryRow
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, last
from rocmcfg.model.profile import Profile
from rocmcfg.model.request import command_line
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.records import receipt
from rocmcfg.records.journal import require_finished
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.reboot import due, has_unwanted
from rocmcfg.state.values import Running, SetParameter, next_boot_kargs, read_configured, set_parameters
from rocmcfg.workflow.planning import collect_facts
from rocmcfg.workflow.tried import measured_here, under_way
from rocmcfg.workflow.verifying import verify


class Unnecessary(NamedTuple):
    """A setting in force that is no longer needed. `command` applies everything again without it."""

    setting: str
    reason: str
    command: str


@published(
    "facts profiles transaction status reboot_required suggested_profiles=suggested parameters others",
    "issues=issues.issue.id applied=applied_at unnecessary trial tries?",
)
class Status(NamedTuple):
    """The state of a host. `report` is None if the receipt cannot be read; `suggested` are profiles for the
    GPUs found. `others` are known kernel arguments and variables, `settings` are what rocmcfg applied, and
    `applied_at` is when (UTC). `may_be_taken_over` says whether `rocmcfg take-over` can move something,
    `black_box` whether crashes of GPUs are saved. `tries` are the newest answers that `rocmcfg try` gave this
    user here; left out without any."""

    facts: Facts
    report: VerificationReport | None
    profiles: tuple[str, ...]
    transaction: int | None
    reboot_required: bool
    suggested: tuple[str, ...]
    unnecessary: tuple[Unnecessary, ...]
    parameters: tuple[SetParameter, ...]
    others: tuple[SetParameter, ...]
    issues: tuple[IssueHere, ...]
    diagnostics: tuple[Diagnostic, ...]
    trial: TrialOnRecord | None = None
    settings: tuple[DesiredSetting, ...] = ()
    applied_at: str = ""
    may_be_taken_over: bool = False
    black_box: bool = False
    tries: tuple[TryRow, ...] | None = None

    @property
    def status(self) -> Overall:
        return self.report.status if self.report else "differences"


def status(view: HostView) -> Status:
    """Return the state of the host. Never fail only because something cannot be seen."""
    view = Snapshot(view)
    facts = collect_facts(view)
    problems: list[Diagnostic] = []
    report: VerificationReport | None = None
    applied: Receipt | None = None
    tried: TrialOnRecord | None = None
    try:
        applied = receipt.load(view)
        tried = trial_on_record(view)
        problems += under_way(view)
        report = verify(view)
        require_finished(view)
    except RocmcfgError as problem:
        problems += problem.diagnostics
    if tried is None and not view.exists(trial.PATH) and anything_left(view):
        summary = "parts of a trial were found on this host, but there is no record of it"
        hint = "remove them with `sudo rocmcfg reject`"
        problems.append(warning("RC4338", summary, location=trial.PATH, hint=hint))
    suggested: tuple[str, ...] = ()
    try:
        suggested = profiles.for_gpus(view, [gpu for gpu in facts.computing if gpu.gfx])
    except RocmcfgError as problem:
        problems += problem.diagnostics
    parameters = set_parameters(view, catalogue.load().modules(), facts.boot.loader)
    if parameters:
        problems += foreign_trouble(read_configured(view, facts), facts, catalogue.load())
    loaded, unread = _applied_profiles(view, applied) if applied else ((), ())
    problems += unread
    unnecessary = _unnecessary(view, applied, facts, loaded) if applied else ()
    reboot = any(c.status is CheckStatus.PENDING_REBOOT for c in (report.checks if report else ()))
    reboot = reboot or (tried is None and _reboot_due(view, applied))
    return Status(
        facts,
        report,
        applied.profiles if applied else (),
        applied.transaction if applied else None,
        reboot,
        suggested,
        unnecessary,
        parameters,
        (*_arguments(view, facts), *_variables(view)),
        issues_of(view, facts, holding(applied.settings, report) if applied else ()),
        (*problems, *(report.diagnostics if report else ())),
        tried,
        applied.settings if applied else (),
        written_at(view, receipt.PATH) if applied else "",
        bool(parameters) and tried is None and _can_take_over(view, facts, applied),
        view.exists(BLACK_BOX),
        measured_here(view, os.environ) or None,
    )


def _can_take_over(view: HostView, facts: Facts, applied: Receipt | None) -> bool:
    from rocmcfg.change.planning.taking_over import take_out

    return not facts.container and bool(take_out(view, facts, catalogue.load(), applied).moved)


def _arguments(view: HostView, facts: Facts) -> Iterator[SetParameter]:
    """Yield the kernel arguments, of this boot or the next one, that can do harm or can have no effect."""

    def value(karg: Karg | None) -> str | None:
        bare = karg is not None and karg.value is None and not karg.untold
        return "set" if bare else karg and karg.value

    now, then = Running(view).kargs, next_boot_kargs(view, facts.boot.loader)
    for name in sorted({karg.name for karg in (*now, *then)}):
        row, booted, boots = argument(name), last(now, name), last(then, name)
        if row is not None and row.traps:
            source = (boots or booted or Karg(name)).source
            untold = boots is not None and boots.untold
            yield SetParameter(name, value(boots), source, value(booted), (), untold)


def _variables(view: HostView) -> Iterator[SetParameter]:
    assignments = {
        assignment.name: assignment
        for assignment in environment.for_everybody(view)
        if variable(assignment.name) is not None
    }
    for name, assignment in sorted(assignments.items()):
        yield SetParameter(name, assignment.value, assignment.source, None, (), assignment.value is None)


def written_at(view: HostView, path: str) -> str:
    """Return when a file was written. The journals say more, but only root may read them."""
    state = view.state(path)
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(state.mtime_ns // 10**9)) if state else ""


def _reboot_due(view: HostView, applied: Receipt | None) -> bool:
    """Return whether a reboot is due, by the same rules as apply. On a disk that runs no kernel, only
    settings that are no longer wanted count."""
    settings = applied.settings if applied else ()
    return (
        due(view, settings, applied, replaced=False) if Running(view).known else has_unwanted(view, settings)
    )


def _applied_profiles(view: HostView, applied: Receipt) -> tuple[Sequence[Profile], Sequence[Diagnostic]]:
    """Return the applied profiles as they are now, and a warning for each that can no longer be read."""
    # Files, as the user named them.
    paths = [name for name in applied.request.profiles if profiles.is_path(name)]
    labels = {profiles.label(path) for path in paths}
    loaded: list[Profile] = []
    unread = []
    for name in (*paths, *(name for name in applied.profiles if name not in labels)):
        try:
            loaded += profiles.load(view, [name])
        except RocmcfgError as problem:
            summary = (
                f"profile {name} is applied, but can no longer be read ({problem.diagnostics[0].summary})"
            )
            hint = (
                "make the profile readable: until then, rocmcfg cannot tell whether its settings "
                "are still needed. They stay applied"
            )
            unread.append(warning("RC1015", summary, hint=hint))
    return loaded, unread


def _unnecessary(
    view: HostView, applied: Receipt, facts: Facts, loaded: Sequence[Profile]
) -> tuple[Unnecessary, ...]:
    """Return the settings in force whose condition no longer holds on this host: workarounds that can be
    removed. Settings applied with --unconditional are left out."""
    of_profiles = {s.id for s in applied.settings if s.profile}  # settings of --set have no condition
    command = command_line(applied.request, view.root)
    unnecessary: dict[str, Unnecessary] = {}
    for setting in (s for profile in loaded for s in profile.settings):
        if setting.id in of_profiles and setting.when and not applied.request.unconditional:
            decision = decide(setting.when, facts, catalogue.load())
            if decision.holds is False:
                unnecessary[setting.id] = Unnecessary(setting.id, decision.text, command)
    return tuple(unnecessary.values())
