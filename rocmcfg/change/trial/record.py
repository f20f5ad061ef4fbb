"""The trial on record, and how far it has come. `verify` reads this, so it loads nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry
from rocmcfg.model.checks import CheckStatus, VerificationReport
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal, receipt
from rocmcfg.records.receipt import Receipt, boot_id
from rocmcfg.records.steps import Event, Journal, JournalState, TrialEvent
from rocmcfg.state.values import trial_token

PATH = journal.TRIAL


class BadTrial(RocmcfgError):
    def __init__(self, reason: str) -> None:
        summary = f"the record of the trial cannot be used: {reason}"
        hint = "`rocmcfg reject` ends the trial and takes away what it wrote"
        super().__init__(error("RC4300", summary, location=PATH, hint=hint))


class TrialOnRecord(RocmcfgError):
    """Says that nothing else may be applied as long as a trial is on record."""


def require_none(view: HostView) -> None:
    trial = load(view)
    if trial is not None:
        raise TrialOnRecord(
            error(
                "RC4316",
                f"a trial (transaction {trial.transaction}) is {stage(view, trial).value}, and nothing else "
                "is applied meanwhile",
                location=PATH,
                hint="keep it with `rocmcfg confirm` in its boot, or end it with `rocmcfg reject`; "
                "then run the command again",
            )
        )


def load(view: HostView) -> Trial | None:
    """Return the trial; None where no trial is on record. Raises BadTrial, Untrusted, or Unreadable for want
    of rights."""
    journal.require_trusted(view)  # which a trial is nothing without
    journal.require_trusted(view, PATH)
    content = view.read(PATH)
    return None if content is None else receipt.parsed(Trial, content, PATH, BadTrial)


def stage(view: HostView, trial: Trial) -> Stage:
    """Return how far the trial has come, by the kernel command line and the boot id; on a disk that runs no
    kernel, by what the boot loader has for the next boot."""
    if trial_token(view) == trial.token:
        # kexec hands the old command line to the next kernel (kexec(8), --reuse-cmdline; Debian's
        # kexec-load), so that an earlier boot may have been the trial's already. Only root can tell.
        first = begun(events(view, trial))
        return Stage.RUNNING if first in ("", boot_id(view)) else Stage.OVER
    if not view.exists("/proc/cmdline"):
        return Stage.ARMED if waits(view, trial) else Stage.OVER
    return Stage.ARMED if trial.boot_id == boot_id(view) else Stage.OVER


def events(view: HostView, trial: Trial) -> tuple[TrialEvent, ...]:
    """Return what is noted of the trial in its journal; nothing without the right to read that."""
    try:
        transaction = journal.read(view, trial.transaction)
    except (Unreadable, journal.BadJournal):
        return ()
    return transaction.of(TrialEvent) if transaction is not None else ()


def begun(events: Iterable[TrialEvent]) -> str:
    """Return the id of the boot that was seen to be the trial's first; empty where none was."""
    return next((line.boot_id or "" for line in events if line.event is Event.BEGUN), "")


def waits(view: HostView, trial: Trial) -> bool:
    """Return whether the boot loader has the trial's arguments for the next boot; True also where only root
    may look."""
    loader = registry.trial(trial.boot_backend)
    try:
        return loader is not None and bool(loader.keeper(view).held(view))
    except Unreadable:
        return True


def verify_trial(view: HostView, trial: Trial, stage: Stage, receipt: Receipt | None) -> VerificationReport:
    from rocmcfg.state.verify import verify_running

    settings = (*trial.settings, *trial.kept)
    status, detail = CheckStatus.PENDING_REBOOT, "the next boot tries it"
    if stage is Stage.ARMED and not waits(view, trial):
        status = CheckStatus.DRIFT
        detail = "the boot loader does not have it any more: reject the trial, or try anew"
    checks = []
    for setting, running in zip(settings, verify_running(view, settings, receipt), strict=True):
        check = running if setting.adopted_from else running._replace(source="the trial's arguments")
        checks.append(check._replace(status=status, detail=detail) if stage is Stage.ARMED else check)
    return VerificationReport(trial.profiles, None, tuple(checks), (), trial=trial.transaction)


def newest(view: HostView) -> Journal | None:
    """Return the journal of the trial on record: nothing is applied after a trial but its confirmation. None
    where the newest transaction in force is no trial."""
    for transaction in journal.read_all(view):
        if transaction.state is JournalState.COMMITTED:
            return transaction if transaction.header.trial is not None else None
    return None
