"""`rocmcfg verify`: desired, configured and running, per setting. Works without root."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer
from rocmcfg.model.report import OFFLINE, PASSES, Check, CheckStatus, VerificationReport


def verify(
    printer: Printer,
    profiles: tuple[str, ...] = opt.PROFILES,
    pid: int | None = opt.number(
        "--pid", metavar="N", help="Check the variables of a running process too.", takes="free"
    ),
    root: str = opt.ROOT,
) -> None:
    """Prove on the running kernel what was applied. Exit 0 in effect, 6 pending, 3 not."""
    from rocmcfg.workflow import verifying

    report = verifying.verify(hosts.open_host(printer, root), profiles, pid)
    printer.document(report.diagnostics, report)
    _show(printer, report)
    if report.exit_code:
        raise SystemExit(int(report.exit_code))


def _show(printer: Printer, report: VerificationReport) -> None:
    if not report.checks:
        printer.problems(report.diagnostics)
        return
    if report.trial is not None:
        printer.line(f"Trial (transaction {report.trial}); CONFIGURED is the boot after it.")
        printer.line()
    rows = [
        (c.name, c.desired or "-", c.configured or "-", c.running or "-", c.status.value.replace("_", " "))
        for c in report.checks
    ]
    printer.table(("SETTING", "DESIRED", "CONFIGURED", "RUNNING", "STATUS"), rows)
    shown = [c for c in report.checks if c.status not in PASSES or printer.verbose]
    if shown:
        printer.line()
    for (detail, source), names in _by_cause(shown, printer.verbose).items():
        if detail:
            printer.wrapped(f"{', '.join(names)}: {detail}", indent="")
        if source:
            printer.line(f"  source: {source}")
    printer.problems(report.diagnostics)
    printer.line()
    if any(c.target == "environment" and c.running is None for c in report.checks):
        printer.line("Variables reach new logins; what runs already keeps the old ones.")
    printer.wrapped(_verdict(report, printer.root_option), indent="")


def _by_cause(checks: Sequence[Check], verbose: bool) -> dict[tuple[str, str], list[str]]:
    """(detail, source) and the names that share them: one update-grub that is due is said once."""
    causes: dict[tuple[str, str], list[str]] = {}
    for check in checks:
        source = check.source if verbose or check.status is CheckStatus.OVERRIDDEN else ""
        causes.setdefault((check.detail, source), []).append(check.name)
    return causes


def _verdict(report: VerificationReport, option: str) -> str:
    wrong = [c for c in report.checks if c.status not in PASSES]
    total = len(report.checks)
    if not wrong:
        said = f"all {total} settings" if total > 1 else "the one setting"
        if any(c.detail == OFFLINE for c in report.checks):
            return f"Configured: {said}. What runs cannot be seen on an offline host."
        return f"In effect: {said}."
    if report.status == "pending":
        reboot = any(c.status is CheckStatus.PENDING_REBOOT for c in wrong)
        rest = f"reboot, then run `rocmcfg verify{option}` again" if reboot else "run what apply left to you"
        return f"Pending: {len(wrong)} of {total} settings. Next: {rest}."
    return f"Not in effect: {len(wrong)} of {total} settings. Next: read the lines above."
