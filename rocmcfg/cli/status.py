"""Command `status`: show on one screen what this host is, which settings are in force, and what is due.
Command `verify`: compare the desired, configured and running value of each setting. Both work without
root."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import rocmcfg
from rocmcfg.advice.gate.answers import STYLES, answer
from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.host.files import replace_callers_file
from rocmcfg.model.checks import OFFLINE, PASSES, PENDING, CheckStatus, VerificationReport
from rocmcfg.model.diagnostic import RocmcfgError, has_errors
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Stage

if TYPE_CHECKING:
    from rocmcfg.change.trial.standing import TrialOnRecord
    from rocmcfg.host.local import LocalHost
    from rocmcfg.model.facts import BootChain
    from rocmcfg.state.values import SetParameter
    from rocmcfg.workflow.status import Status


def status(printer: Printer, *, root: str = opt.ROOT) -> None:
    """Show this host and the settings in force."""
    from rocmcfg.workflow import status as workflow

    status = workflow.status(hosts.open_host(printer, root))
    printer.document(status.diagnostics, status)
    _show(printer, status)


def _show(printer: Printer, status: Status) -> None:
    from rocmcfg.cli.plan_view import host_rows

    rows = host_rows(status.facts)
    if status.facts.container:
        rows.append(("Container", f"{status.facts.container}: configure the kernel on the container's host"))
    if status.trial is not None:
        rows += _trial(status, status.trial)
    elif status.report is None or status.report.record_lost:
        rows.append(("Profile", "unknown"))
    elif not status.report.checks:
        rows.append(("Profile", "none applied"))
    else:
        rows += [("Profile", _applied(status)), ("State", _state(status))]
    rows += [("Crashes", "saved (rocmcfg crashes list)")] if status.black_box else []
    printer.pairs(rows + _issues(status, printer.root_option), indent="")
    if printer.verbose:
        _show_loaders(printer, status.facts.boot)
    printer.section("Applied", _reasons(status))
    _show_others(printer, status)
    tries = [(f"{each.ended[:10]}  try {each.name}", each.sentence) for each in status.tries or ()]
    printer.section("Measured here with `rocmcfg try`", tries)
    unnecessary = [(item.setting, item.reason) for item in status.unnecessary]
    printer.section("Applied, but no longer needed on this host", unnecessary)
    if unnecessary:
        printer.wrapped(f"Drop: sudo {status.unnecessary[0].command}")
        printer.wrapped("(checks every condition again; --without SETTING drops one)")
    printer.problems(
        [d for d in status.diagnostics if d.severity.value != "info" or d.id in ("RC5003", "RC5005")]
    )
    printer.line()
    for text in _next(status, printer.root_option):
        printer.wrapped(text, indent="")


def _show_loaders(printer: Printer, boot: BootChain) -> None:
    """Print what speaks for and against each boot loader of which there is a trace."""
    if boot.candidates:
        printer.heading("Why this boot loader" if boot.loader else "Which boot loader")
    for candidate in boot.candidates:
        verdict = "" if candidate is boot.loader else " (not chosen)"
        printer.line(f"  {candidate.title}{verdict}" if len(boot.candidates) > 1 else f"  {candidate.title}")
        for mark in candidate.evidence:
            printer.line(f"    for: {mark}")
        for reason in boot.against(candidate):
            printer.wrapped(f"against: {reason}", indent="    ")


def _reasons(status: Status) -> list[tuple[str, str]]:
    """Return a row for each setting that rocmcfg applied: its name, its status and the reason for it."""
    statuses = {c.name: _words(c.status) for c in (status.report.checks if status.report else ())}
    rows = []
    for setting in status.settings:
        why = setting.because or (
            "requested with --set" if not setting.profile else f"profile {setting.profile}"
        )
        rows.append((setting.spelled, f"{statuses.get(setting.id, 'not checked')}: {why}"))
    return rows


def _show_others(printer: Printer, status: Status) -> None:
    """Print the settings that rocmcfg did not make, including parameters that no kernel has."""
    ours = {setting.parameter or setting.name for setting in status.settings}
    others = [p for p in (*status.parameters, *status.others) if p.name not in ours]
    if not others:
        return
    printer.heading("Also set on this host")
    cells = [(p.name, _next_boot(p), p.running or "-", p.source) for p in others]
    printer.table(("SETTING", "NEXT BOOT", "RUNNING", "FROM"), cells)
    printer.paragraph(f"What they do: rocmcfg lint{printer.root_option}")
    if status.may_be_taken_over:
        printer.to_copy("To move yours into a profile:", f"rocmcfg take-over --dry-run{printer.root_option}")


def _next_boot(parameter: SetParameter) -> str:
    return "unknown" if parameter.untold else parameter.next_boot or "-"


def _applied(status: Status) -> str:
    what = ", ".join(status.profiles) or ", ".join(setting.spelled for setting in status.settings)
    return f"{what or 'settings'} (transaction {status.transaction}, {status.applied_at})"


def _trial(status: Status, standing: TrialOnRecord) -> list[tuple[str, str]]:
    """Return the rows about a trial and its stage, and about the permanently applied profile."""
    from datetime import timedelta

    tried = standing.trial
    name = ", ".join(tried.profiles) or ", ".join(s.spelled for s in (*tried.settings, *tried.kept))
    if standing.stage is Stage.ARMED and not standing.waits:
        rows = ["will not start: the boot loader no longer has its arguments"]
    elif standing.stage is Stage.ARMED:
        after = tried.terms.confirm_after
        alone = f", and confirms itself {timedelta(seconds=after)} later if all is well" if after else ""
        rows = [f"waits for the next boot{alone}"]
    elif standing.stage is Stage.RUNNING:
        rows = [f"is this boot, until the next one; {_state(status)}"]
        if standing.until is not None:
            rows.append(f"due to confirm itself at {standing.until_text}, if all is well")
        rows += [f"did not confirm itself: {reason}" for reason in standing.withheld]
    else:
        rows = ["is over: the old configuration boots again"]
    return [
        ("Profile", _applied(status) if status.transaction else "none applied permanently"),
        ("Trial", f"{name} (transaction {tried.transaction})"),
        *(("", text) for text in rows),
    ]


def _next(status: Status, root: str) -> list[str]:
    """Return the next steps; none if the hint of a diagnostic says what to do. `root`: the option for the
    same host."""
    if {d.id for d in status.diagnostics} & {"RC4016", "RC4021", "RC3017", "RC5001"}:
        return []  # the hint of that diagnostic is the next step
    if status.trial is not None:
        steps = {
            "armed": "reboot, or sudo rocmcfg reject" if status.trial.waits else "sudo rocmcfg reject",
            "running": f"sudo rocmcfg confirm{root}, or sudo rocmcfg reject",
            "over": "sudo rocmcfg recover",
        }
        return [f"Next: {steps[status.trial.stage.value]}{root}"]
    if status.report is None or status.report.record_lost:
        return []
    if not status.report.checks:
        due = "A reboot is due: the running kernel still has the values that were rolled back."
        step = "No AMD GPU was found, so there is nothing to suggest."
        if status.suggested:
            sudo, loader = "sudo " if status.facts.boot.hidden else "", status.facts.boot.loader
            options = f"--profile {' --profile '.join(status.suggested)}{root}"
            step = f"Next: {sudo}rocmcfg plan {options}"
            if loader and loader.renders and not loader.supported:  # a plan would be refused
                render = f"rocmcfg render --format {loader.renders} {options}"
                step = f"Next: {render}\nThen: rocmcfg verify {options}"
            elif status.facts.container:  # where a plan is refused
                step = f"Next: rocmcfg env {options}"
        elif status.facts.gpus:
            step = f"No shipped profile fits this host's GPU; `rocmcfg profile new{root}` creates one."
        return [due, step] if status.reboot_required else [step]
    if status.report.program_due:
        return _to_run(status.report, root)
    if status.reboot_required:
        return [f"Next: reboot, then rocmcfg verify{root}"]
    return [f"Next: rocmcfg verify{root}"] if status.report.exit_code else []


def _to_run(report: VerificationReport, root: str) -> list[str]:
    reboots = any(c.status in PENDING and c.target != "environment" for c in report.checks)
    inside, rest = " inside that host" if root else "", ", then a reboot" if reboots else ""
    due = f"Due: {' and '.join(report.program_due)}{inside}{rest}."
    return [due, f"Next: {report.again}"] if report.again else [due]


def _issues(status: Status, root: str) -> list[tuple[str, str]]:
    from rocmcfg.cli.issues import STATES

    counts = Counter[str](issue.state for issue in status.issues)
    counted_states = ", ".join(
        f"{counts[state]} {title.lower()}" for state, title in STATES.items() if counts[state]
    )
    return [("Issues", f"{counted_states}: rocmcfg issues{root}")] if counted_states else []


def _state(status: Status) -> str:
    if status.report is None:
        return "unknown"
    checks = status.report.checks
    wrong = (f"{c.name} ({_words(c.status)})" for c in checks if c.status not in PASSES)
    return "; ".join(wrong) or f"in effect: all {len(checks)} settings"


def verify(
    printer: Printer,
    *,
    profiles: tuple[str, ...] = opt.PROFILES,
    pid: int | None = opt.number(
        "--pid", metavar="N", help="Check the variables of a running process too.", takes="free"
    ),
    exit_style: str = opt.text(
        "--exit-style", help="Answer a monitor or scheduler with its exit code, in one line.", choices=STYLES
    ),
    metrics: str = opt.text(
        "--metrics", metavar="FILE", help="Write metrics for Prometheus to FILE.", takes="file"
    ),
    features: str = opt.text(
        "--features", metavar="FILE", help="Write features for Kubernetes to FILE.", takes="file"
    ),
    root: str = opt.ROOT,
) -> None:
    """Check applied settings on the running kernel.

    Exit code 0: in effect; 6: pending; 3: not in effect.
    """
    if exit_style and printer.json:
        raise Misuse("--exit-style prints one line: leave --json out")
    report: VerificationReport | None = None
    failure: RocmcfgError | None = None
    try:
        host = hosts.open_host(printer, root)
        report = _verified(printer, host, profiles, pid)
    except RocmcfgError as problem:
        failure = problem
    if metrics or features:
        _write_for_others(root, report, metrics, features)
    if exit_style:
        code, line = answer(exit_style, report, failure.diagnostics[0].summary if failure else "")
        printer.result(line)
        raise SystemExit(code)
    if failure is not None:
        raise failure
    assert report is not None
    printer.document(report.diagnostics, report)
    _show_report(printer, report, profiles)
    if report.exit_code:
        raise SystemExit(int(report.exit_code))


def _verified(
    printer: Printer, host: LocalHost, profiles: tuple[str, ...], pid: int | None
) -> VerificationReport:
    from rocmcfg.workflow import verifying

    if profiles:
        profiles = hosts.understood(printer, host, Request(profiles)).profiles
    return verifying.verify(host, profiles, pid)


def _write_for_others(root: str, report: VerificationReport | None, metrics: str, features: str) -> None:
    from rocmcfg.advice.gate import metrics as written

    info = {
        "version": rocmcfg.__version__,
        "kernel": os.uname().release if root == "/" else "",
        "profile": " ".join(report.profiles) if report is not None else "",
    }
    if metrics:
        replace_callers_file(metrics, written.metrics(report, info, time.time()))
    if features:
        replace_callers_file(features, written.features(report, info))


def _show_report(printer: Printer, report: VerificationReport, profiles: Sequence[str]) -> None:
    if not report.checks:
        printer.problems(report.diagnostics)
        return
    if report.trial is not None:
        printer.line(f"Trial (transaction {report.trial}); CONFIGURED shows the boot after it.")
        printer.line()
    unread = any(diagnostic.id == "RC5007" for diagnostic in report.diagnostics)
    rows = [
        (
            c.name,
            c.desired or "-",
            c.configured or ("?" if unread and c.target == "cmdline" else "-"),
            c.running or ("new logins" if c.target == "environment" and c.status in PASSES else "-"),
            _words(c.status),
        )
        for c in report.checks
    ]
    printer.table(("SETTING", "DESIRED", "CONFIGURED", "RUNNING", "STATUS"), rows)
    shown = [c for c in report.checks if c.status not in PASSES or printer.verbose]
    if shown:
        printer.line()
    causes: dict[tuple[str, str], list[str]] = {}  # a program that is due for several settings is shown once
    for check in shown:
        source = check.source if printer.verbose or check.status is CheckStatus.OVERRIDDEN else ""
        causes.setdefault((check.detail, source), []).append(check.name)
    for (detail, source), names in causes.items():
        if detail:
            printer.wrapped(f"{', '.join(names)}: {detail}", indent="")
        if source:
            printer.paragraph(f"{', '.join(names)}: set by {source}" if not detail else f"  set by {source}")
    for check in report.checks:
        if check.undoes:
            overridden = check.status is CheckStatus.OVERRIDDEN
            value = check.configured if overridden else check.desired
            printer.paragraph(f"{check.name}={value} undoes the cure of {check.undoes}")
    printer.problems(report.diagnostics)
    printer.line()
    if any(c.target == "environment" and c.running is None for c in report.checks):
        printer.paragraph("Variables take effect in new logins; running programs keep the old ones.")
    printer.wrapped(_verdict(report, printer.root_option), indent="")
    if (
        profiles and report.status == "differences" and not has_errors(report.diagnostics)
    ):  # apply would end with the same errors
        named = " ".join(f"--profile {name}" for name in profiles)
        printer.to_copy("Next:", f"sudo rocmcfg apply {named}{printer.root_option}")


def _words(status: CheckStatus) -> str:
    return "unknown" if status is CheckStatus.CANNOT_BE_TOLD else status.value.replace("_", " ")


def _verdict(report: VerificationReport, option: str) -> str:
    wrong = [c for c in report.checks if c.status not in PASSES]
    total = len(report.checks)
    if not wrong:
        how_many = f"all {total} settings" if total > 1 else "the one setting"
        if any(c.detail == OFFLINE for c in report.checks):
            return f"Configured: {how_many}. The running values of an offline host cannot be seen."
        return f"In effect: {how_many}."
    if report.status == "pending":
        how_many = f"Pending: {len(wrong)} of {total} settings."
        if report.program_due:
            return "\n".join([how_many, *_to_run(report, option)])
        return f"{how_many} Next: reboot, then run `rocmcfg verify{option}` again."
    if all(c.status is CheckStatus.NOT_SET for c in wrong):
        return f"Not set on this host: {len(wrong)} of {total} settings."
    return f"Not in effect: {len(wrong)} of {total} settings; the lines above say why."
