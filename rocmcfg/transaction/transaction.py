"""Carries out a plan under a journal. The only holder of a writing `Host` besides recovery.

Order of every step: before-image durable, intent durable, change, next. Whatever fails, or is interrupted,
is undone by the same code that recovers from a crash, and the first cause is what the user is told.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from rocmcfg.backends.boot import registry
from rocmcfg.backends.boot.contract import BootTrial
from rocmcfg.host import interrupts
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, Severity, error, warning
from rocmcfg.model.kargs import contains
from rocmcfg.model.plan import Activation, FileChange, Plan, ToolChange, TrialPlan
from rocmcfg.model.request import Request
from rocmcfg.model.state import ActivationState, Channel
from rocmcfg.model.trial import Trial
from rocmcfg.planning.owned import trial_paths
from rocmcfg.records import journal, receipt, trial
from rocmcfg.records.steps import (
    Begin,
    Committed,
    DirectoryMade,
    Expectations,
    FileChanged,
    OneBoot,
    ToolChanged,
    ToolRan,
    ToolRun,
)
from rocmcfg.state import reboot
from rocmcfg.transaction import recovery
from rocmcfg.transaction.programs import Progress, look_at_results, run_tool


class RolledBack(RocmcfgError):
    """Something failed and everything was taken back. The first diagnostic is the cause."""

    exit_code = ExitCode.ROLLED_BACK


class RollbackIncomplete(RocmcfgError):
    exit_code = ExitCode.RECOVERY_REQUIRED


@dataclass(frozen=True, slots=True)
class Outcome:
    transaction: int
    activations: tuple[Activation, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def execute(
    host: Host,
    plan: Plan,
    request: Request,
    progress: Progress,
    confirms: Trial | None = None,
    *,
    sweeps: bool = False,
) -> Outcome:
    """The plan, all of it or nothing. The caller holds the lock and has checked that the plan is fresh.

    `confirms` is the trial that this makes permanent. A trial takes effect by its last step alone, the tool
    change: one that is cut off before has only written what does nothing by itself. `sweeps`: it only takes
    away what is left of a trial, and what is applied stays on record as it is.
    """
    _preflight(host, plan)
    header = _header(host, plan, request)
    if confirms is not None:
        header = header._replace(confirms=confirms.transaction)
    if sweeps:
        header = header._replace(swept=True)
    with interrupts.held():
        id = journal.next_id(host)
        try:
            mark = journal.begin(host, id, header)
            if sweeps or any(change.path in trial_paths() for change in plan.changes):
                _disarm(host, plan, progress, mark)
            for change in plan.changes:
                interrupts.check()
                _change(host, id, change)
            activations = tuple(_activate(host, id, a, progress, mark) for a in plan.activations)
            expect = header.expect
            problems = look_at_results(host, expect.backend, expect.wanted, expect.removed, activations)
            if plan.trial is not None:
                problems += _loader_of(plan).check(host, plan.trial.arguments)
            if problems:  # what could not be looked at is not proven either
                raise RocmcfgError(*(replace(d, severity=Severity.ERROR) for d in problems))
            if plan.trial is not None:
                _write_trial(host, id, plan, plan.trial, header)
            else:
                if not sweeps:
                    _write_receipt(host, id, plan, request, activations)
                _forget_trial(host, id)
            for tool in plan.tools:
                _change_by_tool(host, id, plan, tool, progress, mark)
            interrupts.check()
            journal.append(host, id, Committed())
            interrupts.done()
        except BaseException as cause:
            raise _rolled_back(host, id, cause, progress) from cause
    host.log(_log_line(host, id, plan))
    return Outcome(id, activations)


def _header(host: Host, plan: Plan, request: Request) -> Begin:
    return Begin(
        recovery.now(),
        host.user(),
        receipt.boot_id(host),
        plan.profiles,
        request,
        tuple(row.setting.spelled for row in plan.rows),
        _expectations(plan),
        reboot.given([row.setting for row in plan.rows]),
        trial=OneBoot(plan.trial.token, plan.trial.arguments) if plan.trial is not None else None,
    )


def _expectations(plan: Plan) -> Expectations:
    """What the generated results must hold afterwards, and after an undo must hold no more."""
    from rocmcfg.model.kargs import Karg

    place = registry.trial(plan.boot_backend)
    if plan.trial is not None and place is not None:
        return Expectations(plan.boot_backend, (place.TOKEN,), (place.TOKEN,), ())
    line = plan.command_line
    before, after = (line.before, line.after) if line else ((), ())
    if place is not None and any(change.path in place.FILES for change in plan.changes):
        before = (*before, place.TOKEN)
    return Expectations(
        plan.boot_backend,
        tuple(
            row.setting.karg
            for row in plan.rows
            if row.setting.channel is Channel.CMDLINE and row.outcome in ("applied", "adopted")
        ),
        tuple(text for text in after if not contains((Karg(t) for t in before), text)),
        tuple(text for text in before if not contains((Karg(t) for t in after), text)),
    )


def _preflight(host: Host, plan: Plan) -> None:
    """What can be known before the first write is a plain refusal, not a rollback."""
    problems = []
    paths = [change.path for change in plan.changes] + [journal.STATE_DIR]
    paths += [_loader_of(plan).BLOCK] if plan.tools else []
    if host.runs_tools:
        paths += [output for activation in plan.due for output in activation.outputs]
    for path in paths:
        reason = host.writable_problem(path)
        if reason:
            problems.append(
                error(
                    "RC3002",
                    f"cannot write {path}: {reason}",
                    location=path,
                    hint="remount it writable or run the command as root, then try again",
                )
            )
    programs: tuple[Activation | ToolChange, ...] = (*plan.due, *plan.tools)
    if host.runs_tools:
        problems += [
            error(
                "RC3005",
                f"{program.argv[0]} is not installed",
                detail=program.reason,
                hint="install the package that brings it, then run the command again",
            )
            for program in programs
            if not host.has_tool(program.argv[0])
        ]
    if problems:
        raise RocmcfgError(*dict.fromkeys(problems))


def _change(host: Host, id: int, change: FileChange) -> None:
    _parents(host, id, change.path)
    before = journal.save(host, id, change.before) if change.before else None
    after = receipt.digest(change.after) or None
    journal.append(host, id, FileChanged(change.path, before, after, change.edit))
    if change.after is None:
        host.remove(change.path)
        return
    state = host.new_file(change.after, change.mode)
    if change.before is not None and change.edit is not None:
        state = replace(change.before, content=change.after)
    elif change.before is not None:  # labels and access lists stay; owner and mode are ours to set
        state = replace(state, xattrs=change.before.xattrs)
    host.write(change.path, state, keep_mtime=False)


def _parents(host: Host, id: int, path: str) -> None:
    missing = []
    parent = os.path.dirname(path)
    while not host.is_dir(parent):
        missing.append(parent)
        parent = os.path.dirname(parent)
    for directory in reversed(missing):
        journal.append(host, id, DirectoryMade(directory))
        host.make_dir(directory, 0o755)


def _activate(host: Host, id: int, activation: Activation, progress: Progress, mark: str) -> Activation:
    if activation.state is ActivationState.SKIPPED:
        return activation
    if not host.runs_tools:
        return activation._replace(state=ActivationState.LEFT_TO_USER)
    saved = {}
    for path in activation.outputs:
        state = host.state(path)
        saved[path] = journal.save(host, id, state) if state else None
    scratch = tuple(path for path in activation.scratch if not host.exists(path))
    journal.append(host, id, ToolRun(activation.tool, saved, scratch))
    run_tool(host, activation.argv, progress, mark)
    host.settle(activation.places)
    written = {path: receipt.digest(host.read(path)) for path in activation.outputs}
    journal.append(host, id, ToolRan(activation.tool, written))
    return activation._replace(state=ActivationState.DONE)


def _write_receipt(
    host: Host, id: int, plan: Plan, request: Request, activations: tuple[Activation, ...]
) -> None:
    from rocmcfg.planning.owned import owned_paths

    files = {}
    for path in owned_paths():
        content = registry.own_part(path, host.read(path))
        if content is not None:
            files[path] = receipt.digest(content)
    old = receipt.load_quietly(host)
    pending = {
        tool: state
        for tool, state in (old.activations if old else {}).items()
        if state is ActivationState.LEFT_TO_USER
    }
    done = {a.tool: a.state for a in activations if a.state is not ActivationState.SKIPPED}
    content = receipt.dump(
        receipt.Receipt(
            id,
            plan.profiles,
            request,
            plan.boot_backend,
            receipt.boot_id(host),
            tuple(row.setting for row in plan.rows),
            files,
            {**pending, **done},
        )
    )
    _change(host, id, FileChange(receipt.PATH, host.state(receipt.PATH), content, "receipt"))


def _write_trial(host: Host, id: int, plan: Plan, tried: TrialPlan, header: Begin) -> None:
    content = trial.dump(
        Trial(
            id,
            plan.profiles,
            header.request,
            plan.boot_backend,
            header.boot_id,
            header.time,
            tuple(row.setting for row in plan.rows),
            tried.arguments,
            tried.token,
            tried.terms,
            tried.gpus,
            tried.kept,
            tried.approved,
        )
    )
    _change(host, id, FileChange(trial.PATH, host.state(trial.PATH), content, "trial"))


def _forget_trial(host: Host, id: int) -> None:
    if host.is_symlink(trial.PATH):
        host.remove(trial.PATH)
    state = host.state(trial.PATH)
    if state is not None:
        _change(host, id, FileChange(trial.PATH, state, None, "trial"))


def _disarm(host: Host, plan: Plan, progress: Progress, mark: str) -> None:
    """Where a trial's files come or go, whatever an older one left for the next boot goes first."""
    loader = registry.trial(plan.boot_backend)
    if loader is not None and host.runs_tools and loader.armed(host) is not None:
        run_tool(host, loader.arming(()).inverse, progress, mark)
        host.settle((loader.BLOCK,))


def _change_by_tool(host: Host, id: int, plan: Plan, tool: ToolChange, progress: Progress, mark: str) -> None:
    loader = _loader_of(plan)
    state = host.state(loader.BLOCK)
    journal.append(host, id, ToolChanged(tool.tool, journal.save(host, id, state) if state else None))
    run_tool(host, tool.argv, progress, mark)
    host.settle((loader.BLOCK,))
    if plan.trial is None or loader.armed(host) != " ".join(plan.trial.arguments):
        raise RocmcfgError(
            error(
                "RC4315",
                f"{tool.tool} ended well, and {loader.BLOCK} does not hold what it was given",
                location=loader.BLOCK,
                hint="run it by hand and see: " + " ".join(tool.argv[:2]) + " list",
            )
        )


def _loader_of(plan: Plan) -> BootTrial:
    found = registry.trial(plan.boot_backend)
    if found is None:
        raise RocmcfgError(trial.unable(plan.boot_backend))
    return found


def _rolled_back(host: Host, id: int, cause: BaseException, progress: Progress) -> BaseException:
    """Take everything back. The cause itself where nothing had begun."""
    first = recovery.cause(cause)
    try:
        found = journal.read(host, id)
        if found is None:
            return cause
        remarks = recovery.undo(host, found, progress, after_failure=True).remarks
    except BaseException as second:
        also = recovery.cause(second)
        return RollbackIncomplete(
            *first,
            error(
                "RC4011",
                f"taking transaction {id} back did not succeed either",
                detail=also[0].summary,
                location=journal.folder(id),
                hint="mend what is named, then run `rocmcfg recover`",
            ),
            *also,
        )
    host.log(f"transaction {id} by {host.user()} failed and was rolled back: {first[0].summary}")
    return RolledBack(
        *first,
        warning("RC4012", "everything was rolled back; the host is as it was", location=journal.folder(id)),
        *remarks,
    )


def _log_line(host: Host, id: int, plan: Plan) -> str:
    settings = " ".join(row.setting.spelled for row in plan.rows)
    profiles = ",".join(plan.profiles) or "none"
    if plan.trial is not None:
        return f"transaction {id}, a trial of the next boot, by {host.user()}: {settings}"
    return f"transaction {id} committed by {host.user()}: profile {profiles}: {settings or 'nothing'}"
