"""Files of ours without a record of them: the state directory, or the receipt in it, was lost."""

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
    """The files that are ours by place and by mark; a file that is there and cannot be read counts by its
    place, and one in a folder of root's alone, as most EFI system partitions are, does not. Files of a trial
    do not count while the trial is on record."""
    trial_files = trial_paths() if view.exists(journal.TRIAL) else ()
    return tuple(path for path in undo_script.ours_on(view) if path not in trial_files)


def record_due(view: HostView) -> bool:
    """Say whether an apply must write a receipt although every file may be as wanted."""
    try:
        record = receipt.load(view)
    except receipt.BadReceipt:
        return True
    except Unreadable:
        return False
    return record is None and bool(files_without_record(view))


def record_lost(view: HostView) -> Diagnostic | None:
    """Return what a reader of a host without a receipt is told where files of ours are on it."""
    left = files_without_record(view)
    if not left:
        return None
    reason = "and no record says what they shall be"
    hint = "`rocmcfg apply` with your profile puts them on record; "
    if view.hidden(journal.TRANSACTIONS):
        reason, hint = "and the record is missing or root's alone", "run the command as root, who can tell"
    elif any(record.state is JournalState.COMMITTED for record in journal.read_all(view)):
        hint += "`rocmcfg rollback` undoes the last transaction"
    else:
        hint += "to be rid of them: " + by_hand(view)
    summary = f"files of rocmcfg are here, {reason}"
    return error("RC4027", summary, detail="\n".join(left), location=receipt.PATH, hint=hint)


def beyond_undo(view: HostView, left: tuple[str, ...]) -> Diagnostic:
    """Return why a rollback cannot, or did not, take these files away, and how a user does."""
    summary = "files of rocmcfg are here, and no record of what was before them"
    hint = f"take them away by hand: {by_hand(view)}"
    return error("RC4026", summary, detail="\n".join(left), location=STATE_DIR, hint=hint)


def by_hand(view: HostView) -> str:
    """The command that takes these files and what was generated from them away, also of a host that is not
    the one that runs."""
    root = view.root.rstrip("/")
    script = next(filter(view.exists, (undo_script.PATH, undo_script.COPY)), "")
    if script:
        return f"sudo sh {shlex.quote(root + script)}"
    return f"`rocmcfg apply` with your profile writes a script for it: sudo sh {root}{undo_script.PATH}"
