"""`rocmcfg status`: one screen. What this host is, what is in force, what is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer

if TYPE_CHECKING:
    from rocmcfg.model.facts import Facts
    from rocmcfg.trial.standing import TrialOnRecord
    from rocmcfg.workflow.status import Status

_LATE = 600  # seconds: a health check and another rocmcfg may take a while


def status(
    printer: Printer,
    root: str = opt.ROOT,
    boot_backend: str = opt.BOOT_BACKEND,
) -> None:
    """Show GPUs, kernels, ROCm, boot chain, and what rocmcfg has in force."""
    from rocmcfg.workflow import status as workflow

    host = hosts.open_host(printer, root)
    found = workflow.status(host, boot_backend, host.root)
    printer.document(found.diagnostics, found)
    _show(printer, found)


def _show(printer: Printer, found: Status) -> None:
    from rocmcfg.cli.plan_view import host_rows
    from rocmcfg.model.request import root_option

    root = root_option(found.root)
    rows = host_rows(found.facts)
    if found.facts.container:
        rows.append(("Container", f"{found.facts.container}: the kernel is not ours to configure"))
    if found.trial is not None:
        rows += _trial(found, found.trial)
    elif found.report is None or found.report.record_lost:
        rows.append(("Profile", "cannot be told"))
    elif not found.report.checks:
        rows.append(("Profile", "none applied"))
    else:
        rows.append(
            ("Profile", f"{', '.join(found.profiles) or 'settings'} (transaction {found.transaction})")
        )
        rows.append(("State", _state(found)))
    rows += _issues(found)
    printer.pairs(rows, indent="")
    if printer.verbose and found.facts.boot.loader:
        printer.heading("Why this boot loader")
        for mark in found.facts.boot.loader.evidence:
            printer.line(f"  {mark}")
    if found.parameters:
        printer.heading("Driver parameters that are set, by anybody")
        rows_set = [(p.name, p.next_boot or "-", p.running or "-", p.source) for p in found.parameters]
        printer.table(("PARAMETER", "NEXT BOOT", "RUNNING", "FROM"), rows_set)
    if printer.verbose and found.issues:
        printer.heading("Known issues of this GPU, kernel and ROCm")
        printer.pairs([(issue.id, f"{issue.title} ({issue.confidence})") for issue in found.issues])
    if found.unnecessary:
        printer.heading("Applied, and not needed on this host any more")
        printer.pairs([(item.setting, item.reason) for item in found.unnecessary])
        printer.wrapped(f"Drop: sudo {found.unnecessary[0].command}", indent="  ")
        printer.wrapped("(asks every condition anew; --without SETTING leaves any one out)", indent="  ")
    printer.problems([d for d in found.diagnostics if d.severity.value != "info" or d in found.remarks])
    printer.line()
    _next(printer, found, root)


def _trial(found: Status, standing: TrialOnRecord) -> list[tuple[str, str]]:
    """What is tried, how it stands, and beside it what is applied for good."""
    from rocmcfg.cli.plan_view import duration
    from rocmcfg.model.trial import Stage

    tried = standing.trial
    name = ", ".join(tried.profiles) or ", ".join(s.spelled for s in (*tried.settings, *tried.kept))
    rows = [
        (
            "Profile",
            f"{', '.join(found.profiles) or 'settings'} (transaction {found.transaction})"
            if found.transaction
            else "none applied for good",
        )
    ]
    rows.append(("Trial", f"{name} (transaction {tried.transaction})"))
    if standing.stage is Stage.ARMED and not standing.waits:
        rows.append(("", "will not begin: the boot loader does not have its arguments any more"))
    elif standing.stage is Stage.ARMED:
        after = tried.terms.confirm_after
        alone = f", and confirms itself {duration(after)} later if all is well" if after else ""
        rows.append(("", f"waits for the next boot{alone}"))
    elif standing.stage is Stage.RUNNING:
        rows.append(("", f"is this boot, until the next one; {_state(found)}"))
        if standing.until is not None:
            rows.append(("", _by_itself(standing.until, standing.until_text)))
        rows += [("", f"did not confirm itself: {reason}") for reason in standing.withheld]
    elif standing.repeated:
        rows.append(("", "is over, and kexec handed its arguments on to this boot"))
    else:
        rows.append(("", "is over: the old configuration boots again"))
    return rows


def _by_itself(until: float, said: str | None) -> str:
    import time

    if until + _LATE > time.time():
        return f"confirms itself at {said} if all is well"
    return f"was to confirm itself at {said}: see systemctl status rocmcfg-trial"


def _next(printer: Printer, found: Status, root: str) -> None:
    if any(d.id == "RC4021" for d in found.diagnostics):
        printer.wrapped(f"Next: sudo rocmcfg recover{root}", indent="")
    elif found.trial is not None:
        steps = {
            "armed": "reboot, or sudo rocmcfg reject" if found.trial.waits else "sudo rocmcfg reject",
            "running": f"sudo rocmcfg confirm{root}, or sudo rocmcfg reject",
            "over": "sudo rocmcfg recover",
        }
        printer.wrapped(f"Next: {steps[found.trial.stage.value]}{root}", indent="")
    elif found.report is None or found.report.record_lost:
        pass  # the problem's own hint says what to do
    elif not found.report.checks:
        if found.reboot_required:
            printer.wrapped("A reboot is due: the running kernel still has what was taken back.", indent="")
        names = " --profile ".join(found.suggested)
        plan = f"Next: rocmcfg plan --profile {names}{root}"
        printer.wrapped(plan if names else _no_suggestion(found.facts), indent="")
    elif found.reboot_required and not _left_to_user(found):
        printer.wrapped(f"Next: reboot, then rocmcfg verify{root}", indent="")
    elif found.report.exit_code:
        printer.wrapped(f"Next: rocmcfg verify{root}", indent="")


def _left_to_user(found: Status) -> bool:
    """A tool is to be run before a reboot can do any good; verify says which."""
    from rocmcfg.model.report import CheckStatus

    checks = found.report.checks if found.report else ()
    return any(c.status is CheckStatus.PENDING_ACTIVATION for c in checks)


def _issues(found: Status) -> list[tuple[str, str]]:
    confirmed = [issue.id for issue in found.issues if issue.confidence == "confirmed"]
    reported = len(found.issues) - len(confirmed)
    if not found.issues:
        return []
    said = ", ".join(confirmed) + (f"{' and ' if confirmed else ''}{reported} reported" if reported else "")
    return [("Issues", f"known of this GPU, kernel and ROCm: {said}; `rocmcfg doctor` asks the log")]


def _state(found: Status) -> str:
    report = found.report
    if report is None:
        return "unknown"
    if not report.exit_code:
        return f"in effect: all {len(report.checks)} settings"
    from rocmcfg.model.report import PASSES

    wrong = [
        f"{c.name} ({c.status.value.replace('_', ' ')})" for c in report.checks if c.status not in PASSES
    ]
    return "; ".join(wrong)


def _no_suggestion(facts: Facts) -> str:
    if not facts.gpus:
        return "No AMD GPU was found, so there is nothing to suggest."
    return "No shipped profile is for this host's GPU; `rocmcfg profile new` starts one."
