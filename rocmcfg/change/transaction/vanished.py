"""Roll back a transaction whose record vanished while it was running: a user, or a program that the
transaction ran, removed the state directory. Undo what is still known in memory, and name the rest."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.change.transaction.lost_records import by_hand
from rocmcfg.change.transaction.programs import Progress, generate
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, error
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.records import journal, steps


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
    detail = "the files of this run were restored and its programs run again"
    return _vanished(host, _left(stays) or detail, *cause, *problems)


def not_undone(host: Host, record: steps.Journal) -> RocmcfgError:
    """Return the error for an undo whose record vanished: no other command can go on with it."""
    stays = [step.path for step in record.of(steps.FileChanged) if not _is_as_before(host, step)]
    programs = ", ".join(dict.fromkeys(step.tool for step in record.of(steps.ToolRan)))
    detail = "its files were restored" + (f"; run these programs again: {programs}" if programs else "")
    return _vanished(host, _left(stays) or detail)


def _vanished(host: Host, detail: str, *others: Diagnostic) -> RocmcfgError:
    diagnostic = error(
        "RC4044",
        "the record of what was applied vanished while rocmcfg was running",
        detail=detail,
        location=STATE_DIR,
        hint="find out what removes it. Earlier changes have no record either: create a new "
        f"one with `rocmcfg apply`, or remove everything with: {by_hand(host)}",
    )
    return RocmcfgError(diagnostic, *others, exit_code=ExitCode.RECOVERY_REQUIRED)


def _left(stays: Sequence[str]) -> str:
    return "these could not be restored:\n" + "\n".join(f"  {part}" for part in stays) if stays else ""


def _is_as_before(host: Host, step: steps.FileChanged) -> bool:
    """Return whether a file is as the transaction found it; in another owner's file only our part counts, and
    of our records nothing."""
    if step.path.startswith(f"{STATE_DIR}/"):
        return True
    content = host.read(step.path)
    if step.edit is not None:
        return content is None or step.edit.undone(content) in (None, content)
    return journal.digest(content) == (step.before.sha256 if step.before else "")


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
