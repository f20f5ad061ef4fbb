"""Read the record of the trial, and determine how far the trial has come. `verify` uses this module, so it
imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry
from rocmcfg.model.checks import CheckStatus, VerificationReport
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.experiment import boots_name
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal, receipt
from rocmcfg.records.receipt import Receipt, boot_id
from rocmcfg.records.steps import Event, Journal, JournalState, TrialEvent
from rocmcfg.state.values import trial_token

PATH = journal.TRIAL


class BadTrial(RocmcfgError):
    def __init__(self, reason: str) -> None:
        summary = f"the record of the trial cannot be used: {reason}"
        hint = "end the trial with `rocmcfg reject`, which also removes what it wrote"
        super().__init__(error("RC4300", summary, location=PATH, hint=hint))


class TrialOnRecord(RocmcfgError):
    """Say that nothing else may be applied while a trial is on record."""


def require_none(view: HostView) -> None:
    trial = load(view)
    if trial is not None:
        what, keep = (
            f"transaction {trial.transaction}",
            "keep it with `rocmcfg confirm` in the trial boot, or ",
        )
        if trial.terms.of_try is not None:
            what, keep = f"a boot of try {boots_name(trial.terms.of_try)}", ""
        raise TrialOnRecord(
            error(
                "RC4316",
                f"a trial ({what}) is {stage(view, trial).value}, and nothing else can be applied meanwhile",
                location=PATH,
                hint=f"{keep}end it with `rocmcfg reject`; then run the command again",
            )
        )


def load(view: HostView) -> Trial | None:
    """Return the trial, or None if no trial is on record. Raise BadTrial, Untrusted, or Unreadable if the
    user may not read it."""
    journal.require_trusted(view)  # a trial needs the journals
    journal.require_trusted(view, PATH)
    content = view.read(PATH)
    return None if content is None else receipt.parsed(Trial, content, PATH, BadTrial)


def stage(view: HostView, trial: Trial) -> Stage:
    """Return how far the trial has come, from the kernel command line and the boot id. On a disk that runs no
    kernel, use what the boot loader has for the next boot."""
    if trial_token(view) == trial.token:
        # kexec hands the old command line to the next kernel (kexec(8), --reuse-cmdline; Debian's
        # kexec-load), so an earlier boot may already have been the trial boot. Only root can find out.
        first = begun(events(view, trial))
        return Stage.RUNNING if first in ("", boot_id(view)) else Stage.OVER
    if not view.exists("/proc/cmdline"):
        return Stage.ARMED if waits(view, trial) else Stage.OVER
    return Stage.ARMED if trial.boot_id == boot_id(view) else Stage.OVER


def events(view: HostView, trial: Trial) -> tuple[TrialEvent, ...]:
    """Return what the trial's journal records about it, or nothing if the user may not read the journal."""
    try:
        transaction = journal.read(view, trial.transaction)
    except (Unreadable, journal.BadJournal):
        return ()
    return transaction.of(TrialEvent) if transaction is not None else ()


def begun(events: Iterable[TrialEvent]) -> str:
    """Return the id of the boot that was recorded as the trial boot, or an empty string if none was."""
    return next((line.boot_id or "" for line in events if line.event is Event.BEGUN), "")


def waits(view: HostView, trial: Trial) -> bool:
    """Return whether the boot loader has the trial's arguments for the next boot. Return True also if only
    root may look."""
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
        detail = "the boot loader no longer has it: reject the trial, then try it again"
    checks = []
    for setting, running in zip(settings, verify_running(view, settings, receipt), strict=True):
        check = running if setting.adopted_from else running._replace(source="the trial's arguments")
        checks.append(check._replace(status=status, detail=detail) if stage is Stage.ARMED else check)
    return VerificationReport(trial.profiles, None, tuple(checks), (), trial=trial.transaction)


def newest(view: HostView) -> Journal | None:
    """Return the journal of the trial on record: after a trial, only its confirmation can be applied. Return
    None if the newest transaction in force is not a trial."""
    for transaction in journal.read_all(view):
        if transaction.state is JournalState.COMMITTED:
            return transaction if transaction.header.trial is not None else None
    return None
