"""`rocmcfg status`: one screen. What this host is, what is in force, what is due.
`rocmcfg verify`: desired, configured and running, per setting. Works without root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer
from rocmcfg.model.checks import OFFLINE, PASSES, PENDING, CheckStatus, VerificationReport
from rocmcfg.model.diagnostic import has_errors
from rocmcfg.model.request import Request

if TYPE_CHECKING:
    from rocmcfg.change.trial.standing import TrialOnRecord
    from rocmcfg.model.facts import BootChain
    from rocmcfg.state.values import SetParameter
    from rocmcfg.workflow.status import Status


def status(printer: Printer, *, root: str = opt.ROOT) -> None:
    """Show this host, and what is in force."""
    from rocmcfg.workflow import status as workflow

    found = workflow.status(hosts.open_host(printer, root))
    printer.document(found.diagnostics, found)
    _show(printer, found)


def _show(printer: Printer, found: Status) -> None:
    from rocmcfg.cli.plan_view import host_rows

    rows = host_rows(found.facts)
    if found.facts.container:
        rows.append(("Container", f"{found.facts.container}: its kernel is the host's to configure"))
    if found.trial is not None:
        rows += _trial(found, found.trial)
    elif found.report is None or found.report.record_lost:
        rows.append(("Profile", "cannot be told"))
    elif not found.report.checks:
        rows.append(("Profile", "none applied"))
    else:
        rows += [("Profile", _applied(found)), ("State", _state(found))]
    printer.pairs(rows + _issues(found, printer.root_option), indent="")
    if printer.verbose:
        _show_loaders(printer, found.facts.boot)
    printer.section("Applied", _reasons(found))
    _show_others(printer, found)
    unnecessary = [(item.setting, item.reason) for item in found.unnecessary]
    printer.section("Applied, and not needed on this host any more", unnecessary)
    if unnecessary:
        printer.wrapped(f"Drop: sudo {found.unnecessary[0].command}")
        printer.wrapped("(asks every condition anew; --without SETTING leaves any one out)")
    printer.problems(
        [d for d in found.diagnostics if d.severity.value != "info" or d.id in ("RC5003", "RC5005")]
    )
    printer.line()
    for text in _next(found, printer.root_option):
        printer.wrapped(text, indent="")


def _show_loaders(printer: Printer, boot: BootChain) -> None:
    """What speaks for each loader of which there is a trace, and what against it."""
    if boot.candidates:
        printer.heading("Why this boot loader" if boot.loader else "Which boot loader")
    for one in boot.candidates:
        verdict = "" if one is boot.loader else " (not chosen)"
        printer.line(f"  {one.title}{verdict}" if len(boot.candidates) > 1 else f"  {one.title}")
        for mark in one.evidence:
            printer.line(f"    for: {mark}")
        for reason in boot.against(one):
            printer.wrapped(f"against: {reason}", indent="    ")


def _reasons(found: Status) -> list[tuple[str, str]]:
    """What rocmcfg applied: how each stands, and why it is there."""
    stands = {c.name: c.status.value.replace("_", " ") for c in (found.report.checks if found.report else ())}
    rows = []
    for one in found.settings:
        why = one.because or ("asked for with --set" if not one.profile else f"profile {one.profile}")
        rows.append((one.spelled, f"{stands.get(one.id, 'not checked')}: {why}"))
    return rows


def _show_others(printer: Printer, found: Status) -> None:
    """What somebody else sets, with parameters that no kernel has."""
    ours = {one.parameter or one.name for one in found.settings}
    others = [p for p in (*found.parameters, *found.others) if p.name not in ours]
    if not others:
        return
    printer.heading("Also set on this host")
    cells = [(p.name, _next_boot(p), p.running or "-", p.source) for p in others]
    printer.table(("SETTING", "NEXT BOOT", "RUNNING", "FROM"), cells)
    printer.said(f"What they do: rocmcfg lint{printer.root_option}")


def _next_boot(parameter: SetParameter) -> str:
    return "cannot be told" if parameter.untold else parameter.next_boot or "-"


def _applied(found: Status) -> str:
    what = ", ".join(found.profiles) or ", ".join(one.spelled for one in found.settings)
    return f"{what or 'settings'} (transaction {found.transaction}, {found.applied_at})"


def _trial(found: Status, standing: TrialOnRecord) -> list[tuple[str, str]]:
    """What is tried, how it stands, and beside it what is applied for good."""
    from datetime import timedelta

    from rocmcfg.model.trial import Stage

    tried = standing.trial
    name = ", ".join(tried.profiles) or ", ".join(s.spelled for s in (*tried.settings, *tried.kept))
    if standing.stage is Stage.ARMED and not standing.waits:
        said = ["will not begin: the boot loader does not have its arguments any more"]
    elif standing.stage is Stage.ARMED:
        after = tried.terms.confirm_after
        alone = f", and confirms itself {timedelta(seconds=after)} later if all is well" if after else ""
        said = [f"waits for the next boot{alone}"]
    elif standing.stage is Stage.RUNNING:
        said = [f"is this boot, until the next one; {_state(found)}"]
        if standing.until is not None:
            said.append(f"its time to confirm itself, if all is well: {standing.until_text}")
        said += [f"did not confirm itself: {reason}" for reason in standing.withheld]
    else:
        said = ["is over: the old configuration boots again"]
    return [
        ("Profile", _applied(found) if found.transaction else "none applied for good"),
        ("Trial", f"{name} (transaction {tried.transaction})"),
        *(("", text) for text in said),
    ]


def _next(found: Status, root: str) -> list[str]:
    """What to do; nothing where the hint of a problem says it. `root`: the option for the same host."""
    if {d.id for d in found.diagnostics} & {"RC4016", "RC4021", "RC3017", "RC5001"}:
        return []  # whose hint is the next step
    if found.trial is not None:
        steps = {
            "armed": "reboot, or sudo rocmcfg reject" if found.trial.waits else "sudo rocmcfg reject",
            "running": f"sudo rocmcfg confirm{root}, or sudo rocmcfg reject",
            "over": "sudo rocmcfg recover",
        }
        return [f"Next: {steps[found.trial.stage.value]}{root}"]
    if found.report is None or found.report.record_lost:
        return []
    if not found.report.checks:
        due = "A reboot is due: the running kernel still has what was taken back."
        step = "No AMD GPU was found, so there is nothing to suggest."
        if found.suggested:
            sudo, loader = "sudo " if found.facts.boot.hidden else "", found.facts.boot.loader
            what = f"--profile {' --profile '.join(found.suggested)}{root}"
            step = f"Next: {sudo}rocmcfg plan {what}"
            if loader and loader.renders and not loader.supported:  # a plan would be refused
                step = f"Next: rocmcfg render --format {loader.renders} {what}\nThen: rocmcfg verify {what}"
        elif found.facts.gpus:
            step = f"No shipped profile is for this host's GPU; `rocmcfg profile new{root}` starts one."
        return [due, step] if found.reboot_required else [step]
    if found.report.program_due:
        return _to_run(found.report, root)
    if found.reboot_required:
        return [f"Next: reboot, then rocmcfg verify{root}"]
    return [f"Next: rocmcfg verify{root}"] if found.report.exit_code else []


def _to_run(report: VerificationReport, root: str) -> list[str]:
    reboots = any(c.status in PENDING and c.target != "environment" for c in report.checks)
    inside, rest = " inside that host" if root else "", ", then a reboot" if reboots else ""
    due = f"Due: {' and '.join(report.program_due)}{inside}{rest}."
    return [due, f"Next: {report.again}"] if report.again else [due]


def _issues(found: Status, root: str) -> list[tuple[str, str]]:
    from rocmcfg.cli.doctor import STATES

    counts = Counter[str](one.state for one in found.issues)
    said = ", ".join(f"{counts[state]} {title.lower()}" for state, title in STATES.items() if counts[state])
    return [("Issues", f"{said}: rocmcfg issues{root}")] if said else []


def _state(found: Status) -> str:
    if found.report is None:
        return "unknown"
    checks = found.report.checks
    wrong = (f"{c.name} ({c.status.value.replace('_', ' ')})" for c in checks if c.status not in PASSES)
    return "; ".join(wrong) or f"in effect: all {len(checks)} settings"


def verify(
    printer: Printer,
    *,
    profiles: tuple[str, ...] = opt.PROFILES,
    pid: int | None = opt.number(
        "--pid", metavar="N", help="Check the variables of a running process too.", takes="free"
    ),
    root: str = opt.ROOT,
) -> None:
    """Prove on the running kernel what is applied.

    Exit 0 in effect, 6 pending, 3 not.
    """
    from rocmcfg.workflow import verifying

    host = hosts.open_host(printer, root)
    if profiles:
        profiles = hosts.understood(printer, host, Request(profiles)).profiles
    report = verifying.verify(host, profiles, pid)
    printer.document(report.diagnostics, report)
    _show_report(printer, report, profiles)
    if report.exit_code:
        raise SystemExit(int(report.exit_code))


def _show_report(printer: Printer, report: VerificationReport, profiles: Sequence[str]) -> None:
    if not report.checks:
        printer.problems(report.diagnostics)
        return
    if report.trial is not None:
        printer.line(f"Trial (transaction {report.trial}); CONFIGURED is the boot after it.")
        printer.line()
    rows = [
        (
            c.name,
            c.desired or "-",
            c.configured or "-",
            c.running or ("new logins" if c.target == "environment" and c.status in PASSES else "-"),
            c.status.value.replace("_", " "),
        )
        for c in report.checks
    ]
    printer.table(("SETTING", "DESIRED", "CONFIGURED", "RUNNING", "STATUS"), rows)
    shown = [c for c in report.checks if c.status not in PASSES or printer.verbose]
    if shown:
        printer.line()
    causes: dict[tuple[str, str], list[str]] = {}  # one update-grub that is due for several is said once
    for check in shown:
        source = check.source if printer.verbose or check.status is CheckStatus.OVERRIDDEN else ""
        causes.setdefault((check.detail, source), []).append(check.name)
    for (detail, source), names in causes.items():
        if detail:
            printer.wrapped(f"{', '.join(names)}: {detail}", indent="")
        if source:
            printer.said(f"{', '.join(names)}: set by {source}" if not detail else f"  set by {source}")
    printer.problems(report.diagnostics)
    printer.line()
    if any(c.target == "environment" and c.running is None for c in report.checks):
        printer.said("Variables reach new logins; what runs already keeps the old ones.")
    printer.wrapped(_verdict(report, printer.root_option), indent="")
    if (
        profiles and report.status == "differences" and not has_errors(report.diagnostics)
    ):  # apply has them too
        named = " ".join(f"--profile {name}" for name in profiles)
        printer.to_copy("Next:", f"sudo rocmcfg apply {named}{printer.root_option}")


def _verdict(report: VerificationReport, option: str) -> str:
    wrong = [c for c in report.checks if c.status not in PASSES]
    total = len(report.checks)
    if not wrong:
        said = f"all {total} settings" if total > 1 else "the one setting"
        if any(c.detail == OFFLINE for c in report.checks):
            return f"Configured: {said}. What runs cannot be seen on an offline host."
        return f"In effect: {said}."
    if report.status == "pending":
        said = f"Pending: {len(wrong)} of {total} settings."
        if report.program_due:
            return "\n".join([said, *_to_run(report, option)])
        return f"{said} Next: reboot, then run `rocmcfg verify{option}` again."
    return f"Not in effect: {len(wrong)} of {total} settings; the lines above say why."
