"""Roll back a transaction whose record vanished while it was running: a user, or a program that the
transaction ran, removed the state directory. Undo what is still known in memory, and name the rest."""

from __future__ import annotations

from rocmcfg.change.transaction.lost_records import by_hand
from rocmcfg.change.transaction.programs import Progress, generate
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, error
from rocmcfg.model.plan import FileChange, Plan


def roll_back_from_memory(
    host: Host, plan: Plan, cause: tuple[Diagnostic, ...], progress: Progress, mark: str
) -> RocmcfgError:
    """Restore the files that are still as this transaction left them, run its programs again, and return the
    error to raise."""
    stays, problems = [], list[Diagnostic]()
    for change in reversed(plan.changes):
        try:
            if not _put_back(host, change):
                stays.append(change.path)
        except RocmcfgError as problem:
            stays.append(change.path)
            problems += problem.diagnostics
    stays += [f"arguments kept by {tool.programs[0]}" for tool in plan.tools]
    for activation in plan.due if host.runs_tools else ():
        try:
            generate(host, activation, progress, mark)
        except RocmcfgError as problem:
            stays.append(f"files written by {activation.tool}")
            problems += problem.diagnostics
    summary = "the record of what was applied vanished while rocmcfg was running"
    detail = "the files of this run were restored and its programs run again" if not stays else ""
    diagnostic = error(
        "RC4044",
        summary,
        detail=detail or "these could not be restored:\n" + "\n".join(f"  {part}" for part in stays),
        location=STATE_DIR,
        hint="find out what removes it. Earlier changes have no record either: create a new "
        f"one with `rocmcfg apply`, or remove everything with: {by_hand(host)}",
    )
    return RocmcfgError(diagnostic, *cause, *problems, exit_code=ExitCode.RECOVERY_REQUIRED)


def _put_back(host: Host, change: FileChange) -> bool:
    """Restore a file. Return False if it is neither as it was nor as this transaction left it."""
    before, now = change.before, host.read(change.path)
    if now == (before.content if before else None):
        return True
    if now != change.after:
        return False
    if before is None:
        host.remove(change.path)
    else:
        host.make_dirs(change.path.rpartition("/")[0], 0o755)
        host.write(change.path, before, keep_mtime=True)
    return True
