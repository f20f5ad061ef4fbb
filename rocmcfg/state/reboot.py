"""Determine whether a reboot is due: because the running kernel lacks a wanted value, or because it was
booted with a value that is no longer wanted. The journals say what it was booted with, but only root may read
them; for other users, the files that are changing now must do. Boot ids tell the boots apart, so nothing has
to be left in /run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import efi
from rocmcfg.model.checks import CheckStatus
from rocmcfg.model.desired import Channel, DesiredSetting, Kind
from rocmcfg.model.kargs import adds_up, contains
from rocmcfg.model.spelling import same
from rocmcfg.records import journal
from rocmcfg.records.receipt import Receipt, boot_id, load_quietly
from rocmcfg.records.steps import Committed, Journal, UndoBegun
from rocmcfg.state.values import Running, trial_token

Values = Mapping[str, str | None]  # the settings that a kernel gets: name to value, None for a bare flag


def due(view: HostView, wanted: Sequence[DesiredSetting], receipt: Receipt | None, *, replaced: bool) -> bool:
    """Return whether a reboot is due. `receipt` is what is in force now. `replaced` says whether a file of
    rocmcfg's that a kernel may have been booted with is changed or removed; it counts only if the journals do
    not say what this boot started with."""
    booted = booted_with(view)
    if replaced if booted is None else has_unwanted(view, wanted, booted):
        return True
    running = Running(view)
    return any(not _runs(view, running, setting, receipt, booted) for setting in wanted)


def not_booted(view: HostView, receipt: Receipt | None, loader: str) -> tuple[CheckStatus, str]:
    """Return the status of a setting that the files and the menu have, but the running boot does not.
    `loader` is the backend."""
    if receipt is None or receipt.boot_id in ("", boot_id(view)):
        return CheckStatus.PENDING_REBOOT, "the running boot does not have it yet"
    loader_info, chain = efi.text(view, "LoaderInfo"), registry.backend(loader) if loader else None
    if loader_info and chain is not None and chain.LOADER and not chain.proof_of_boot(view):
        drift = f"{loader_info} booted this host, but the setting is in the menu of {loader}: apply again"
        return CheckStatus.DRIFT, drift
    return CheckStatus.PENDING_REBOOT, "this boot came after the apply, but its boot entry does not have it"


def due_now(view: HostView) -> bool:
    """Return whether a reboot is due for what is in force, if nothing is about to change."""
    in_force = load_quietly(view)
    return due(view, in_force.settings if in_force else (), in_force, replaced=False)


def has_unwanted(view: HostView, wanted: Sequence[DesiredSetting], booted: Values | None = None) -> bool:
    """Return whether this kernel has, or may have, a setting from rocmcfg that is no longer wanted: also from
    an interrupted transaction of an earlier boot, or from a trial about which nothing else is known."""
    journals = _journals(view)
    tokens = [transaction.header.trial.token for transaction in journals or () if transaction.header.trial]
    if journals is not None and trial_token(view) not in (None, *tokens):
        return True
    booted = booted_with(view) if booted is None else booted
    running = Running(view)
    has = [*(booted or ())]
    for transaction in journals or ():
        if not transaction.of(Committed) and _was_there(view, transaction):
            has += [name for name, text in transaction.header.kernel.items() if _shows(running, name, text)]
    return not set(has) <= kernel_gets(wanted).keys()


def kernel_gets(settings: Sequence[DesiredSetting]) -> dict[str, str | None]:
    """Return the settings of a journal's header that the kernel gets, name to value. Variables do not concern
    the kernel, and an argument that the user has set as well stays when rocmcfg's is removed."""
    ours = [s for s in settings if s.channel is not Channel.ENVIRONMENT and not s.adopted_from]
    return {s.parameter or (s.karg if adds_up(s.name) else s.name): s.text for s in ours}


def booted_with(view: HostView) -> Values | None:
    """Return what rocmcfg had in force when this boot started, or None if that is unknown."""
    journals = _journals(view)
    if journals is None:
        return None
    for transaction in journals:
        if transaction.of(Committed) and _was_there(view, transaction):
            return transaction.header.kernel
    return {}


def _was_there(view: HostView, transaction: Journal) -> bool:
    """Return whether this boot may have started with the files of a transaction: one that began in an earlier
    boot, and was not undone in an earlier boot. The boots after the trial boot do not get the settings of a
    trial."""
    boot, tried = boot_id(view), transaction.header.trial
    if transaction.header.boot_id == boot:
        return False
    if tried is not None:
        return trial_token(view) == tried.token
    return all(line.boot_id == boot for line in transaction.of(UndoBegun)[-1:])


def _shows(running: Running, name: str, text: str | None) -> bool:
    now = running.parameter(name) if "." in name else running.karg(name)
    return contains(running.kargs, name) or (now.present and (not now.readable or same(now.value, text)))


def _journals(view: HostView) -> list[Journal] | None:
    """Return the journals newest first, without those of sweeps, which give the kernel nothing. Return None
    if nothing is known: on a disk that runs no kernel, if the user may not read them, or if one is
    damaged."""
    try:
        journals = journal.read_all(view) if boot_id(view) else None
    except (Unreadable, journal.BadJournal):
        return None
    if journals is None:
        return None
    return [transaction for transaction in journals if not transaction.header.swept]


def _runs(
    view: HostView, running: Running, setting: DesiredSetting, receipt: Receipt | None, booted: Values | None
) -> bool:
    """Return whether this boot has the setting, or was booted with it and the driver replaced it."""
    if setting.kind is Kind.ENV:
        return True
    if setting.channel is Channel.CMDLINE and contains(running.kargs, setting.karg):
        return True  # also if another one won: a reboot would change nothing
    if setting.parameter:
        now = running.parameter(setting.parameter)
        if now.present and now.readable and same(now.value, setting.text):
            return True
    if setting.channel is Channel.CMDLINE:
        return False
    if booted is not None:
        return setting.parameter in booted and same(booted[setting.parameter], setting.text)
    earlier = receipt is not None and receipt.boot_id not in ("", boot_id(view))
    return earlier and receipt is not None and any(s.karg == setting.karg for s in receipt.settings)
