"""The way back where the record vanished while a transaction was at work: somebody, or a program that the
transaction ran, removed the state directory. What memory knows is taken back, and the rest is named."""

from __future__ import annotations

from rocmcfg.change.transaction.lost_records import by_hand
from rocmcfg.change.transaction.programs import Progress, generate
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, error
from rocmcfg.model.plan import FileChange, Plan


def taken_back(
    host: Host, plan: Plan, cause: tuple[Diagnostic, ...], progress: Progress, mark: str
) -> RocmcfgError:
    """Put back the files that are as this transaction left them, run its programs again; what to raise."""
    stays, problems = [], list[Diagnostic]()
    for change in reversed(plan.changes):
        try:
            if not _put_back(host, change):
                stays.append(change.path)
        except RocmcfgError as problem:
            stays.append(change.path)
            problems += problem.diagnostics
    stays += [f"what {tool.programs[0]} keeps" for tool in plan.tools]
    for activation in plan.due if host.runs_tools else ():
        try:
            generate(host, activation, progress, mark)
        except RocmcfgError as problem:
            stays.append(f"what {activation.tool} wrote")
            problems += problem.diagnostics
    summary = "the record of what was applied vanished while rocmcfg was at work"
    detail = "the files of this run were put back and its programs run again" if not stays else ""
    diagnostic = error(
        "RC4044",
        summary,
        detail=detail or "this is not as it was before:\n" + "\n".join(f"  {part}" for part in stays),
        location=STATE_DIR,
        hint="find what removes it; whatever was applied earlier has no record either: "
        f"`rocmcfg apply` makes a new one, and this takes all of it away: {by_hand(host)}",
    )
    return RocmcfgError(diagnostic, *cause, *problems, exit_code=ExitCode.RECOVERY_REQUIRED)


def _put_back(host: Host, change: FileChange) -> bool:
    """False for a file that is neither as it was nor as this transaction left it."""
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
