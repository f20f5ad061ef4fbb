"""Files of ours without a record of them: the state directory, or the receipt in it, was lost."""

from __future__ import annotations

from rocmcfg.backends import edits
from rocmcfg.backends.boot import registry
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.planning.owned import MARK, owned_on, trial_paths
from rocmcfg.records import journal, receipt
from rocmcfg.records.steps import JournalState
from rocmcfg.transaction.programs import reading

_SCRIPT = "/usr/share/rocmcfg/undo.sh"  # of the packages; it needs no record


def files_without_record(view: HostView) -> tuple[str, ...]:
    """The files that are ours by place and by mark; a file that is there and cannot be read counts by its
    place, and one in a folder of root's alone, as most EFI system partitions are, does not. Files of a trial
    do not count while the trial is on record."""
    known = trial_paths() if view.exists(journal.TRIAL) else ()
    return tuple(path for path in owned_on(view) if path not in known and _ours(view, path))


def _ours(view: HostView, path: str) -> bool:
    try:
        content = view.read(path)
    except Unreadable:
        return path not in edits.EDITORS and view.exists(path)
    own = edits.own_part(path, content)
    return own is not None and MARK in own[:400]


def record_due(view: HostView) -> bool:
    """Whether an apply must write a receipt although every file may be as wanted."""
    try:
        known = receipt.load(view)
    except receipt.BadReceipt:
        return True
    except Unreadable:
        return False
    return known is None and bool(files_without_record(view))


def record_lost(view: HostView) -> Diagnostic | None:
    """What a reader of a host without a receipt is told, where files of ours are on it."""
    left = files_without_record(view)
    if not left:
        return None
    said = "and no record says what they shall be"
    hint = "`rocmcfg apply` with your profile puts them on record; "
    if view.hidden(journal.TRANSACTIONS):
        said, hint = "and the record is missing or root's alone", "run the command as root, who can tell"
    elif any(one.state is JournalState.COMMITTED for one in journal.read_all(view)):
        hint += "`rocmcfg rollback` undoes the last transaction"
    else:
        hint += "to be rid of them: " + by_hand(view, left)
    return error(
        "RC4027",
        f"files of rocmcfg are here, {said}",
        detail="\n".join(left),
        location=receipt.PATH,
        hint=hint,
    )


def beyond_undo(view: HostView, left: tuple[str, ...]) -> Diagnostic:
    """Why a rollback cannot, or did not, take these files away, and how a user does."""
    return error(
        "RC4026",
        "files of rocmcfg are here, and no record of what was before them",
        detail="\n".join(left),
        location=journal.STATE_DIR,
        hint=f"take them away by hand: {by_hand(view, left)}",
    )


def by_hand(view: HostView, paths: tuple[str, ...]) -> str:
    """The commands that remove these files and what was generated from them, typed where that host is not
    the one that runs, too: a path without its root would be the rescue system's own."""
    root = view.root.rstrip("/")
    if view.exists(_SCRIPT):
        return f"sudo sh {root}{_SCRIPT}"
    sudo = f"sudo chroot {root} " if root else "sudo "
    steps: list[str] = []
    for loader in registry.trials().values():
        if set(paths) & set(loader.FILES):
            steps.append(sudo + " ".join(loader.keeper(view).keep(None)))
    for name in registry.KEEPERS:
        reader = registry.reader(name)
        if reader is None or not reader.here(view):
            continue  # another loader's file may have the same name
        ours = " ".join(karg.text for karg in registry.backend(name).observe(view).ours)
        keeper = registry.argument_keeper(name)
        if set(paths) & {*registry.paths(name)} and (held := keeper.held(view, ours)) is not None:
            steps.append(sudo + " ".join(keeper.keep(None, held)))
    edited = [path for path in paths if path in edits.EDITORS]
    whole = [path for path in paths if path not in edited]
    steps += [f"take the lines of rocmcfg out of {root}{path}" for path in edited]
    steps += ["sudo rm " + " ".join(f"{root}{path}" for path in whole)] if whole else []
    for step in reading(view, set(paths), ""):
        steps += [sudo + line for line in step.lines]
        if step.own and step.writes_at:
            places = ", ".join(f"{root}{place}" for place in step.writes_at)
            steps.append(f"take the arguments of rocmcfg, or its addons, out of {places}")
    return "; ".join(dict.fromkeys(steps))
