"""One look at a host: what it is, what is in force, what is due."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.backends import environment
from rocmcfg.doctor.judging.workarounds import IssueHere, issues_of
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, last
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.profile import Profile
from rocmcfg.model.published import published
from rocmcfg.model.state import CheckStatus, DesiredSetting, Overall, VerificationReport, command_line
from rocmcfg.records import receipt
from rocmcfg.records.journal import TRANSACTIONS, require_finished
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.reboot import due, has_unwanted
from rocmcfg.state.values import Running, SetParameter, next_boot_kargs, read_configured, set_parameters
from rocmcfg.trial import record as trial
from rocmcfg.trial.standing import TrialOnRecord, anything_left, trial_on_record
from rocmcfg.workflow.planning import collect_facts
from rocmcfg.workflow.verifying import verify


class Unnecessary(NamedTuple):
    """A setting in force whose need is over. `command` applies the same again without it."""

    setting: str
    reason: str
    command: str


@published(
    "facts",
    "profiles",
    "transaction",
    "status",
    "reboot_required",
    "suggested_profiles=suggested",
    "parameters",
    "others",
    "issues=issues.issue.id",
    "applied=applied_at",
    "unnecessary",
    "trial",
)
class Status(NamedTuple):
    """`report` is None where the receipt cannot be read; `suggested` are profiles for the GPUs found.
    `others` are known kernel arguments and variables, `settings` what rocmcfg applied, `applied_at` when
    (UTC). `remarks` are the diagnostics that are worth a line although nothing is wrong."""

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
    remarks: tuple[Diagnostic, ...] = ()
    trial: TrialOnRecord | None = None
    settings: tuple[DesiredSetting, ...] = ()
    applied_at: str = ""

    @property
    def status(self) -> Overall:
        return self.report.status if self.report else "differences"


def status(view: HostView, boot_backend: str = "") -> Status:
    """One look at the host. Never fails for what it merely cannot see."""
    from rocmcfg.knowledge import catalogue, profiles

    facts = collect_facts(view, boot_backend=boot_backend)
    problems: list[Diagnostic] = []
    report: VerificationReport | None = None
    known: Receipt | None = None
    tried: TrialOnRecord | None = None
    try:
        known = receipt.load(view)
        tried = trial_on_record(view)
        report = verify(view)
        require_finished(view)
    except RocmcfgError as problem:
        problems += problem.diagnostics
    if tried is None and not view.exists(trial.PATH) and anything_left(view):
        problems.append(
            warning(
                "RC4338",
                "something of a trial is on this host, and no record of it",
                location=trial.PATH,
                hint="`sudo rocmcfg reject` takes it away",
            )
        )
    suggested: tuple[str, ...] = ()
    try:
        suggested = profiles.for_gpus(view, [gpu for gpu in facts.computing if gpu.gfx])
    except RocmcfgError as problem:
        problems += problem.diagnostics
    parameters = set_parameters(view, catalogue.load().modules(), facts.boot.loader)
    if parameters:
        from rocmcfg.planning.refusals import foreign_trouble

        problems += foreign_trouble(read_configured(view, facts), facts, catalogue.load())
    unnecessary, remarks = _unnecessary(view, known, facts) if known else ((), ())
    reboot = any(c.status is CheckStatus.PENDING_REBOOT for c in (report.checks if report else ()))
    reboot = reboot or (tried is None and _reboot_due(view, known))
    if not reboot and known is None and view.hidden(TRANSACTIONS):
        said = "whether the running kernel still has what was taken back, only root can tell"
        remarks = (*remarks, info("RC5003", said, location=TRANSACTIONS, hint="run status as root"))
    return Status(
        facts,
        report,
        known.profiles if known else (),
        known.transaction if known else None,
        reboot,
        suggested,
        unnecessary,
        parameters,
        (*_arguments(view, facts), *_variables(view)),
        issues_of(view, facts, known.settings if known else ()),
        (*problems, *remarks, *(report.diagnostics if report else ())),
        remarks,
        tried,
        known.settings if known else (),
        written_at(view, receipt.PATH) if known else "",
    )


def _arguments(view: HostView, facts: Facts) -> Iterator[SetParameter]:
    """Of the kernel, for this boot or the next one, as far as some value of them harms or does nothing."""
    from rocmcfg.judging.names import argument

    def value(karg: Karg | None) -> str | None:
        return "set" if karg is not None and karg.value is None else karg and karg.value

    now, then = Running(view).kargs, next_boot_kargs(view, facts.boot.loader)
    for name in sorted({karg.name for karg in (*now, *then)}):
        known, booted, boots = argument(name), last(now, name), last(then, name)
        if known is not None and known.traps:
            source = (boots or booted or Karg(name)).source
            yield SetParameter(name, value(boots), source, value(booted), ())


def _variables(view: HostView) -> Iterator[SetParameter]:
    from rocmcfg.judging.names import variable

    found = {one.name: one for one in environment.for_everybody(view) if variable(one.name) is not None}
    for name, one in sorted(found.items()):
        yield SetParameter(name, one.value, one.source, None, ())


def written_at(view: HostView, path: str) -> str:
    """When a file was written: the journals, which say more, are root's."""
    from datetime import datetime, timezone

    found = view.state(path)
    if found is None:
        return ""
    return datetime.fromtimestamp(found.mtime_ns / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M")


def _reboot_due(view: HostView, known: Receipt | None) -> bool:
    """As apply tells it; of what does not run, nothing is due."""
    settings = known.settings if known else ()
    if Running(view).known:
        return due(view, settings, known, replaced=False)
    return has_unwanted(view, settings)


def _unnecessary(
    view: HostView, known: Receipt, facts: Facts
) -> tuple[tuple[Unnecessary, ...], tuple[Diagnostic, ...]]:
    """Settings in force whose condition no longer holds on this host: a workaround that may go. What
    --unconditional put there regardless is only remarked on."""
    from rocmcfg.judging.conditions import decide
    from rocmcfg.knowledge import catalogue

    request = known.request
    loaded, remarks = _applied(view, known)
    command = command_line(request._replace(unconditional=False), view.root)
    applied = {s.id for s in known.settings if s.profile}  # what --set asks for has no condition
    found: dict[str, Unnecessary] = {}
    for setting in (s for profile in loaded for s in profile.settings):
        if setting.id in applied and setting.when:
            decision = decide(setting.when, facts, catalogue.load())
            if decision.holds is False:
                found[setting.id] = Unnecessary(setting.id, decision.text, command)
    if not request.unconditional:
        return tuple(found.values()), tuple(remarks)
    remarks += [
        info(
            "RC2049",
            f"{one.setting} is applied with --unconditional, and not needed here",
            detail=one.reason,
            hint=f"to drop what is not needed: {one.command}",
        )
        for one in found.values()
    ]
    return (), tuple(remarks)


def _applied(view: HostView, known: Receipt) -> tuple[list[Profile], list[Diagnostic]]:
    """The profiles in force as they are now; a file by the path under which it was applied."""
    from rocmcfg.knowledge import profiles

    paths = [name for name in known.request.profiles if profiles.is_path(name)]
    labels = {profiles.label(path) for path in paths}
    loaded: list[Profile] = []
    remarks: list[Diagnostic] = []
    for name in (*paths, *(n for n in known.profiles if n not in labels)):
        try:
            loaded += profiles.load(view, [name])
        except RocmcfgError as problem:
            remarks.append(
                info(
                    "RC1015",
                    f"profile {name} can no longer be read; whether its settings are still needed "
                    "cannot be told",
                    detail=problem.diagnostics[0].summary,
                    hint="what it set stays in force; apply another profile, or `rocmcfg rollback`",
                )
            )
    return loaded, remarks
