"""What a trial's boot made of its settings. Light, as all that `rocmcfg verify` loads."""

from __future__ import annotations

from rocmcfg.host.view import HostView
from rocmcfg.model.report import Check, CheckStatus, VerificationReport
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.verify import verify_running
from rocmcfg.trial import record


def verify_trial(view: HostView, trial: Trial, stage: Stage, receipt: Receipt | None) -> VerificationReport:
    settings = (*trial.settings, *trial.kept)
    waits = stage is Stage.ARMED and record.waits(view, trial)
    checks = []
    for setting, found in zip(settings, verify_running(view, settings, receipt), strict=True):
        source = found.source if setting.adopted_from else "the trial's arguments"
        checks.append(_of_stage(found._replace(source=source), stage, waits=waits))
    return VerificationReport(trial.profiles, None, tuple(checks), (), trial=trial.transaction)


def _of_stage(found: Check, stage: Stage, *, waits: bool) -> Check:
    if stage is not Stage.ARMED:
        return found
    if waits:
        return found._replace(status=CheckStatus.PENDING_REBOOT, detail="the next boot tries it")
    detail = "the boot loader does not have it any more: reject the trial, or try anew"
    return found._replace(status=CheckStatus.DRIFT, detail=detail)
