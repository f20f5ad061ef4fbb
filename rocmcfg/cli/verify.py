"""Command `verify`: compare the desired, configured and running value of each setting, and the host with the
golden one. It works without root."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import rocmcfg
from rocmcfg.advice.gate.answers import STYLES, answer
from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer, counted
from rocmcfg.cli.status import to_run
from rocmcfg.host.files import replace_callers_file
from rocmcfg.host.problems import Unwritable
from rocmcfg.model.checks import OFFLINE, PASSES, CheckStatus, VerificationReport
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, has_errors
from rocmcfg.model.request import Request

if TYPE_CHECKING:
    from rocmcfg.host.local import LocalHost
    from rocmcfg.model.difference import Difference

_MOST = 40  # differences without -v
_MATTERS = {
    "error": "Not as the golden host: jobs fail, or run otherwise",
    "warning": "Not as the golden host: another speed or behaviour",
    "info": "Not as the golden host: may explain other differences",
}


def verify(
    printer: Printer,
    *,
    profiles: tuple[str, ...] = opt.PROFILES,
    pid: int | None = opt.number(
        "--pid", metavar="N", help="Check the variables of a running process too.", takes="free"
    ),
    against: str = opt.text(
        "--against",
        metavar="FILE",
        help="Also compare this host with the golden host of FILE, which `facts --save` wrote.",
        takes="file",
    ),
    exit_style: str = opt.text(
        "--exit-style",
        help="Answer a monitor, scheduler or script in one line, with its exit code.",
        choices=STYLES,
    ),
    metrics: str = opt.text(
        "--metrics", metavar="FILE", help="Write metrics for Prometheus to FILE.", takes="file"
    ),
    features: str = opt.text(
        "--features", metavar="FILE", help="Write features for Kubernetes to FILE.", takes="file"
    ),
    name_host: bool = opt.NAME_HOST,
    root: str = opt.ROOT,
) -> None:
    """Check applied settings on the running kernel.

    Exit code 0: in effect; 6: pending; 3: not in effect, or not as the golden host.
    """
    if exit_style and printer.json:
        raise Misuse("--exit-style prints one line: leave --json out")
    report: VerificationReport | None = None
    failure: RocmcfgError | None = None
    try:
        host = hosts.open_host(printer, root)
        hosts.name_host(printer, host, name_host)
        verified = _verified(printer, host, profiles, pid)
        report = _compared(host, verified, against) if against else verified
    except RocmcfgError as problem:
        failure = problem
    unwritten = [*_write_for_others(root, report, metrics, features)] if metrics or features else []
    if exit_style:
        printer.problems(unwritten)  # the answer is about the host
        code, line = answer(exit_style, report, failure.diagnostics[0].summary if failure else "")
        printer.result(line)
        raise SystemExit(code)
    if failure is not None:
        raise RocmcfgError(*failure.diagnostics, *unwritten, exit_code=failure.exit_code)
    if unwritten:
        raise RocmcfgError(*unwritten)
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


def _compared(host: LocalHost, report: VerificationReport, against: str) -> VerificationReport:
    from rocmcfg.workflow import golden

    compared = golden.compare(host, against)
    return report._replace(
        golden=against,
        compared=compared.total,
        differences=compared.differences,
        # that nothing is applied is no news where facts are compared
        diagnostics=(*(d for d in report.diagnostics if d.id != "RC5002"), *compared.diagnostics),
    )


def _write_for_others(
    root: str, report: VerificationReport | None, metrics: str, features: str
) -> Iterator[Diagnostic]:
    """Write the files for Prometheus and Kubernetes, and yield why one cannot be written."""
    from rocmcfg.advice.gate import metrics as written

    info = {
        "version": rocmcfg.__version__,
        "kernel": os.uname().release if root == "/" else "",
        "profile": " ".join(report.profiles) if report is not None else "",
    }
    for path, text in (
        (metrics, written.metrics(report, info, time.time())),
        (features, written.features(report, info)),
    ):
        try:
            if path:
                replace_callers_file(path, text, mode=0o644)
        except Unwritable as problem:
            yield from problem.diagnostics


def _show_report(printer: Printer, report: VerificationReport, profiles: Sequence[str]) -> None:
    if report.checks:
        _show_checks(printer, report)
    printer.problems(report.diagnostics)
    _show_golden(printer, report)
    if not report.checks:
        return
    printer.line()
    if any(c.target == "environment" and c.running is None for c in report.checks):
        printer.paragraph("Variables take effect in new logins; running programs keep the old ones.")
    of_settings = report._replace(differences=None)
    printer.wrapped(_verdict(of_settings, printer.root_option), indent="")
    if (
        profiles and of_settings.status == "differences" and not has_errors(report.diagnostics)
    ):  # apply would end with the same errors
        named = " ".join(f"--profile {shlex.quote(name)}" for name in profiles)
        printer.to_copy("Next:", f"sudo rocmcfg apply {named}{printer.root_option}")


def _show_checks(printer: Printer, report: VerificationReport) -> None:
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
            c.status.words,
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


def _show_golden(printer: Printer, report: VerificationReport) -> None:
    """Print what differs from the golden host, what matters first, and what to do about each."""
    if report.differences is None:
        return
    readable = [each for each in report.differences if not each.reason]
    if not readable:
        unknown = len(report.differences)
        rest = f"; {unknown} of them unknown" if unknown else ""
        printer.line(f"As the golden host: {counted(report.compared or 0, 'fact')} compared{rest}.")
        return
    for weight, title in _MATTERS.items():
        of_weight = [each for each in readable if each.severity == weight]
        if of_weight:
            printer.heading(title)
        for each in of_weight if printer.verbose else of_weight[:_MOST]:
            _show_difference(printer, each)
        if len(of_weight) > _MOST and not printer.verbose:
            printer.line(f"  and {len(of_weight) - _MOST} more: -v and --json show all")
    printer.line()
    mattering = len(report.mattering)
    matter = f"{mattering} matter" if mattering else "none matters"
    differing = f"{counted(len(readable), 'difference')} in {counted(report.compared or 0, 'fact')}"
    printer.line(f"Compared with {report.golden}: {differing}; {matter}.")


def _show_difference(printer: Printer, each: Difference) -> None:
    where = f" ({', '.join(each.gpus)})" if each.gpus else ""
    golden = f"golden host: {each.golden or 'not set'}"
    printer.wrapped(f"{each.name}: {each.here or 'not set'}{where}; {golden}")
    if each.severity != "info" or printer.verbose:
        for text in filter(None, (each.why, f"help: {each.fix}")):
            printer.wrapped(text, indent="    ")


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
            return "\n".join([how_many, *to_run(report, option)])
        return f"{how_many} Next: reboot, then run `rocmcfg verify{option}` again."
    if all(c.status is CheckStatus.NOT_SET for c in wrong):
        return f"Not set on this host: {len(wrong)} of {total} settings."
    return f"Not in effect: {len(wrong)} of {total} settings; the lines above say why."
