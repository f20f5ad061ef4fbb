"""What has to hold before a trial is made permanent."""

from __future__ import annotations

from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, error, fail
from rocmcfg.model.plan import Plan, RowOutcome
from rocmcfg.model.report import PASSES
from rocmcfg.model.state import Kind
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal, receipt
from rocmcfg.transaction.recovery import ThirdPartyEdit, edited
from rocmcfg.trial import record


def proven(view: HostView) -> Trial:
    """The trial of this boot, with all that was agreed to. Raises where there is none, where this boot is not
    the trial's, where nothing could take it back later, or where the kernel does not have its values."""
    found = record.load(view)
    if found is None:
        raise fail("RC4320", "there is no trial to confirm", hint="`rocmcfg apply … --trial` begins one")
    stage = record.stage(view, found)
    if stage is Stage.ARMED:
        raise fail(
            "RC4321",
            "the trial has not begun: this is still the boot before it",
            location=record.PATH,
            hint="reboot, look whether all is well, then confirm",
        )
    if stage is Stage.OVER:
        raise fail(
            "RC4322",
            "the trial is over: this boot has the old configuration again",
            location=record.PATH,
            hint="`rocmcfg recover` takes away what is left of it; `rocmcfg history` says how it ended",
        )
    if not found.approved:
        raise fail(
            "RC4341",
            "an older rocmcfg began this trial, and did not put on record all that was agreed to",
            location=record.PATH,
            hint="end it with `rocmcfg reject`, then try it again",
        )
    one = journal.read(view, found.transaction)
    if one is None or one.header.trial is None:
        raise fail(
            "RC4335",
            "the trial's own journal is lost, so that nothing could take it back later",
            location=journal.folder(found.transaction),
            hint="`rocmcfg reject` takes away what is left of it; then apply, or try it again",
        )
    foreign = edited(view, [one])
    if foreign:
        raise ThirdPartyEdit(foreign, ExitCode.ERROR)
    journal.require_finished(view)
    _require_in_effect(view, found)
    return found


def _require_in_effect(view: HostView, found: Trial) -> None:
    report = record.verify_trial(view, found, Stage.RUNNING, receipt.load(view))
    wrong = [
        error(
            "RC4323",
            f"{check.name} is not in effect, so that the trial proves nothing: {check.detail}",
            detail=f"wanted {check.desired}, running {check.running}",
            hint="see `rocmcfg verify`; `rocmcfg reject` ends the trial",
        )
        for check in report.checks
        if check.status not in PASSES
    ]
    if wrong:
        raise RocmcfgError(*wrong)


def require_stays(made: Plan) -> None:
    """What was tried is what boots afterwards, also where the host has changed meanwhile."""
    beaten = [
        error(
            "RC4336",
            f"{row.setting.id} would not stay: {row.source} sets {row.current} and wins",
            location=row.source.partition(":")[0],
            hint="take it out there, then confirm",
        )
        for row in made.rows
        if row.outcome is RowOutcome.OVERRIDDEN and row.setting.kind is not Kind.ENV
    ]
    if beaten:
        raise RocmcfgError(*beaten)
