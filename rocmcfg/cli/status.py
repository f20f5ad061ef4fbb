"""Command `status`: show on one screen what this host is, which settings are in force, and what is due. It
works without root."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer
from rocmcfg.model.checks import PASSES, PENDING, VerificationReport
from rocmcfg.model.trial import Stage

if TYPE_CHECKING:
    from rocmcfg.change.trial.standing import TrialOnRecord
    from rocmcfg.model.facts import BootChain
    from rocmcfg.state.values import SetParameter
    from rocmcfg.workflow.status import Status


def status(printer: Printer, *, name_host: bool = opt.NAME_HOST, root: str = opt.ROOT) -> None:
    """Show this host and the settings in force."""
    from rocmcfg.workflow import status as workflow

    host = hosts.open_host(printer, root)
    hosts.name_host(printer, host, name_host)
    status = workflow.status(host)
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
    statuses = {c.name: c.status.words for c in (status.report.checks if status.report else ())}
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
    if parameter.untold:
        return "unknown"
    return "no value" if parameter.next_boot is None else parameter.next_boot or "empty"


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
        return to_run(status.report, root)
    if status.reboot_required:
        return [f"Next: reboot, then rocmcfg verify{root}"]
    return [f"Next: rocmcfg verify{root}"] if status.report.exit_code else []


def to_run(report: VerificationReport, root: str) -> list[str]:
    """Return the lines about the programs that must run before a reboot has an effect."""
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
    wrong = (f"{c.name} ({c.status.words})" for c in checks if c.status not in PASSES)
    return "; ".join(wrong) or f"in effect: all {len(checks)} settings"
