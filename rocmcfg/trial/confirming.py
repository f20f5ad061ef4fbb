"""What has to hold before a trial is made permanent. Each raises where it does not."""

from __future__ import annotations

from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, error
from rocmcfg.model.plan import Plan
from rocmcfg.model.report import PASSES, VerificationReport
from rocmcfg.model.state import Kind
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal
from rocmcfg.transaction.recovery import ThirdPartyEdit, edited
from rocmcfg.trial import record


def the_trial(view: HostView) -> Trial:
    """The trial of this boot, with all that was agreed to."""
    found = record.load(view)
    if found is None:
        raise RocmcfgError(
            error("RC4320", "there is no trial to confirm", hint="`rocmcfg apply … --trial` begins one")
        )
    _require_running(view, found)
    if not found.approved:
        raise RocmcfgError(
            error(
                "RC4341",
                "an older rocmcfg began this trial, and did not put on record all that was agreed to",
                location=record.PATH,
                hint="end it with `rocmcfg reject`, then try it again",
            )
        )
    return found


def _require_running(view: HostView, found: Trial) -> None:
    stage = record.stage(view, found)
    if stage is Stage.ARMED:
        raise RocmcfgError(
            error(
                "RC4321",
                "the trial has not begun: this is still the boot before it",
                location=record.PATH,
                hint="reboot, look whether all is well, then confirm",
            )
        )
    if stage is Stage.OVER:
        raise RocmcfgError(
            error(
                "RC4322",
                "the trial is over: this boot has the old configuration again",
                location=record.PATH,
                hint="`rocmcfg recover` takes away what is left of it; `rocmcfg history` says how it ended",
            )
        )


def require_whole(view: HostView, found: Trial) -> None:
    """Its journal is there, and its files are as it wrote them: both are needed for the way back."""
    one = journal.read(view, found.transaction)
    if one is None or one.header.trial is None:
        raise RocmcfgError(
            error(
                "RC4335",
                "the trial's own journal is lost, so that nothing could take it back later",
                location=journal.folder(found.transaction),
                hint="`rocmcfg reject` takes away what is left of it; then apply, or try it again",
            )
        )
    foreign = edited(view, [one])
    if foreign:
        raise ThirdPartyEdit(foreign, ExitCode.ERROR)


def require_in_effect(report: VerificationReport) -> None:
    wrong = [check for check in report.checks if check.status not in PASSES]
    if wrong:
        raise RocmcfgError(
            *(
                error(
                    "RC4323",
                    f"{check.name} is not in effect, so that the trial proves nothing: {check.detail}",
                    detail=f"wanted {check.desired}, running {check.running}",
                    hint="see `rocmcfg verify`; `rocmcfg reject` ends the trial",
                )
                for check in wrong
            )
        )


def require_stays(made: Plan) -> None:
    """What was tried is what boots afterwards, also where the host has changed meanwhile."""
    beaten = [row for row in made.rows if row.outcome == "overridden" and row.setting.kind is not Kind.ENV]
    if beaten:
        raise RocmcfgError(
            *(
                error(
                    "RC4336",
                    f"{row.setting.id} would not stay: {row.source} sets {row.current} and wins",
                    location=row.source.partition(":")[0],
                    hint="take it out there, then confirm",
                )
                for row in beaten
            )
        )
