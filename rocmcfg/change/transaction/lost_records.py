"""Find files of rocmcfg that have no record because the state directory, or the receipt in it, was lost."""

from __future__ import annotations

import shlex

from rocmcfg.change.planning.owned import trial_paths
from rocmcfg.change.transaction import undo_script
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.records import journal, receipt
from rocmcfg.records.steps import JournalState


def files_without_record(view: HostView) -> tuple[str, ...]:
    """Return the files that are rocmcfg's by path and by mark. A file that cannot be read counts by its path;
    a file in a folder that only root may read, like most EFI system partitions, does not count. A trial's
    files do not count while the trial is on record."""
    trial_files = trial_paths() if view.exists(journal.TRIAL) else ()
    return tuple(path for path in undo_script.ours_on(view) if path not in trial_files)


def record_due(view: HostView) -> bool:
    """Return whether an apply must write a receipt even if every file may already be as wanted."""
    try:
        record = receipt.load(view)
    except receipt.BadReceipt:
        return True
    except Unreadable:
        return False
    return record is None and bool(files_without_record(view))


def record_lost(view: HostView) -> Diagnostic | None:
    """Return the error to show on a host that has files of rocmcfg but no receipt."""
    left = files_without_record(view)
    if not left:
        return None
    reason = "but there is no record of what they should contain"
    hint = "put them on record with `rocmcfg apply` and your profile; "
    if view.hidden(journal.TRANSACTIONS):
        reason, hint = (
            "but the record is missing, or only root may read it",
            "run the command as root to find out",
        )
    elif any(record.state is JournalState.COMMITTED for record in journal.read_all(view)):
        hint += "`rocmcfg rollback` undoes the last transaction"
    else:
        hint += "or remove them: " + by_hand(view)
    summary = f"files written by rocmcfg were found, {reason}"
    return error("RC4027", summary, detail="\n".join(left), location=receipt.PATH, hint=hint)


def beyond_undo(view: HostView, left: tuple[str, ...]) -> Diagnostic:
    """Return the error that a rollback cannot remove these files, or did not, with the command that does."""
    summary = "files written by rocmcfg were found, but there is no record of what they replaced"
    hint = f"remove them manually: {by_hand(view)}"
    return error("RC4026", summary, detail="\n".join(left), location=STATE_DIR, hint=hint)


def by_hand(view: HostView) -> str:
    """Return the command that removes these files and what was generated from them, also for a host other
    than the running one."""
    root = view.root.rstrip("/")
    script = next(filter(view.exists, (undo_script.PATH, undo_script.COPY)), "")
    if script:
        return f"sudo sh {shlex.quote(root + script)}"
    return f"`rocmcfg apply` with your profile writes a script that does it: sudo sh {root}{undo_script.PATH}"
