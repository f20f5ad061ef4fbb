"""Define what a transaction is for, and carry out its plan under a journal. Besides recovery, only this
module holds a `Host` that writes. Each step has this order: make the saved original durable, make the intent
durable, change, go on. Whatever fails, or is interrupted, is undone by the same code that recovers from a
crash, and the user is shown the first cause."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from rocmcfg.change.planning.owned import owned_on, trial_paths
from rocmcfg.change.planning.refusals import refused
from rocmcfg.change.planning.resolve import modules_of
from rocmcfg.change.transaction import noting, recovery, results, undo_script, vanished
from rocmcfg.change.transaction.parts import change_by_tool, keeper_of, room_for, unwritable
from rocmcfg.change.transaction.programs import Progress, generate, run_tool
from rocmcfg.facts.kernels import read_kernels
from rocmcfg.files import environment_targets
from rocmcfg.host import interrupts
from rocmcfg.host.atomic import temp_name
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import Host, Snapshot
from rocmcfg.knowledge import catalogue
from rocmcfg.loaders import registry
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.desired import Channel, Kind
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, Severity, error, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, contains
from rocmcfg.model.plan import Activation, FileChange, Plan, RowOutcome, ToolChange, left_to_user
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records import journal, receipt
from rocmcfg.records.steps import Begin, Committed, DirectoryMade, Expectations, FileChanged, ToolRan, ToolRun
from rocmcfg.state import edits, reboot


class Done(NamedTuple):
    """A transaction whose programs have run: its number, its header, and the result of each program."""

    id: int
    header: Begin
    activations: tuple[Activation, ...]


class Purpose:
    """Apply settings permanently, so that the receipt lists them. The purposes of trials are in
    `rocmcfg.change.trial`. `facts` are those that the plan was made from; without them, kernels are not
    checked again."""

    def __init__(self, plan: Plan, request: Request, facts: Facts | None = None) -> None:
        self.plan, self.request, self.facts = plan, request, facts

    @property
    def clears(self) -> bool:
        """Return whether arguments that a boot loader holds for one boot are removed before everything
        else."""
        return any(change.path in trial_paths() for change in self.plan.changes)

    def header(self, host: Host) -> Begin:
        settings = self.plan.settings
        return Begin(
            journal.now(),
            host.user(),
            receipt.boot_id(host),
            self.plan.profiles,
            self.request,
            tuple(setting.spelled for setting in settings),
            self.expectations(),
            reboot.kernel_gets(settings),
        )

    def expectations(self) -> Expectations:
        plan = self.plan
        before, after = (plan.command_line.before, plan.command_line.after) if plan.command_line else ((), ())
        place = registry.trial(plan.boot_backend)
        if place is not None and any(change.path in place.FILES for change in plan.changes):
            before = (*before, *place.PLACES)
        wanted = (
            row.setting.karg
            for row in plan.rows
            if row.setting.channel is Channel.CMDLINE and row.outcome is not RowOutcome.OVERRIDDEN
        )
        return Expectations(
            plan.boot_backend,
            tuple(wanted),
            tuple(text for text in after if not contains((Karg(t) for t in before), text)),
            tuple(text for text in before if not contains((Karg(t) for t in after), text)),
        )

    def proof(self, host: Host) -> list[Diagnostic]:
        """Return the problems that the expectations do not cover, after the programs have run."""
        if not host.runs_tools:
            return []
        set_by_us = [row.setting for row in self.plan.rows if row.outcome is not RowOutcome.OVERRIDDEN]
        variables = [setting for setting in set_by_us if setting.kind is Kind.ENV]
        return environment_targets.check(host, self.request.env_target, variables)

    def refused_meanwhile(self, host: Host) -> list[Diagnostic]:
        """Return an error if a kernel that was installed or replaced after the plan was made refuses a
        value."""
        if self.facts is None or not self.plan.settings:
            return []
        planned = {kernel.release: kernel for kernel in self.facts.kernels}
        installed = read_kernels(host, modules_of(self.plan.settings))
        new = tuple(kernel for kernel in installed if kernel != planned.get(kernel.release))
        refusals = (
            refused(self.plan.settings, self.facts._replace(kernels=new), catalogue.load()) if new else []
        )
        if not refusals:
            return []
        releases = ", ".join(kernel.release for kernel in new)
        summary = (
            "a kernel that was installed while this command was running refuses one of its "
            f"values: {releases}"
        )
        hint = "run the command again: its plan takes that kernel into account"
        return [error("RC4035", summary, hint=hint), *refusals]

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        """Return the changes to rocmcfg's own state, in the order in which they are made."""
        contents = {path: edits.own_part(path, host.read(path)) for path in owned_on(host)}
        old, loader = receipt.load_quietly(host), self.plan.boot_backend
        keeper = registry.argument_keeper(loader)
        earlier = old.activations.items() if old else ()
        pending = {tool: state for tool, state in earlier if state is ActivationState.LEFT_TO_USER}
        ran = {a.tool: a.state for a in done.activations if a.state is not ActivationState.SKIPPED}
        content = receipt.dump(
            receipt.Receipt(
                done.id,
                self.plan.profiles,
                self.request,
                loader,
                done.header.boot_id,
                self.plan.settings,
                {path: journal.digest(content) for path, content in contents.items() if content is not None},
                {**pending, **ran},
                keeper.deployment(host) if keeper is not None else "",
                self.plan.by_hand,
            )
        )
        return [FileChange(receipt.PATH, host.state(receipt.PATH), content, "receipt")]

    def log_line(self, done: Done) -> str:
        settings, profiles = (
            " ".join(done.header.settings) or "nothing",
            ",".join(self.plan.profiles) or "none",
        )
        return f"transaction {done.id} committed by {done.header.user}: profile {profiles}: {settings}"


def execute(host: Host, purpose: Purpose, progress: Progress) -> Done:
    """Carry out the plan of a purpose, completely or not at all. Raise RocmcfgError. The caller holds the
    lock and has checked that the plan is fresh. Arguments that programs keep are changed after rocmcfg's
    files, and the receipt, which records for which deployment they are kept, is written after that. The very
    last step arms a trial."""
    plan, steps = purpose.plan, len(purpose.plan.activations)
    _preflight(host, plan)
    header = purpose.header(host)
    with interrupts.held():
        id, mark = max(journal.ids(host), default=0) + 1, ""
        _sweep(host, plan)
        try:
            mark = journal.begin(host, id, header)
            undo_script.renew(host, planned=plan)
            if purpose.clears:
                _clear(host, plan.boot_backend, progress, mark)
            for change in plan.changes:
                interrupts.check()
                _change(host, id, change)
            _note(host, id, plan, progress)
            activations = tuple(
                _activate(host, id, a, _numbered(progress, f"step {n} of {steps}, "), mark)
                for n, a in enumerate(plan.activations, 1)
            )
            kept = (change_by_tool(host, id, tool, progress, mark) for tool in plan.tools if not tool.arms)
            activations += tuple(kept)
            problems = [*_wrong(host, id, activations), *purpose.proof(host)]
            problems += purpose.refused_meanwhile(host)
            if problems:  # what could not be checked is not proven either
                raise RocmcfgError(*(d._replace(severity=Severity.ERROR) for d in problems))
            done = Done(id, header, activations)
            for change in purpose.records(host, done):
                _change(host, id, change)
            undo_script.renew(host)
            for tool in plan.tools:
                if tool.arms:
                    change_by_tool(host, id, tool, progress, mark)
            interrupts.check()
            journal.append(host, id, Committed())
            interrupts.done()
        except BaseException as cause:
            raise _rolled_back(host, id, plan, cause, progress, mark) from cause
        noting.drop_copies(host)
    host.log(purpose.log_line(done))
    return done


def _sweep(host: Host, plan: Plan) -> None:
    """Remove temporary files that an interrupted command left next to the files that it was writing: no
    transaction is open now. A file that cannot be removed stays, and is not an error."""
    loader, look = plan.boot_backend, Snapshot(host)
    entries = registry.backend(loader).entry_files(look) if loader in registry.NAMES else ()
    own = dict.fromkeys((*owned_on(host), *trial_paths(), *entries, receipt.PATH))
    with suppress(RocmcfgError):
        for id in journal.ids(host):
            journal.sweep(host, id)
        for path in own:
            folder, _, name = temp_name(path).rpartition("/")
            if name in look.names(folder):  # each folder is listed once for all its entries
                host.discard_temporary(path)


def _preflight(host: Host, plan: Plan) -> None:
    """Raise RocmcfgError for everything that would stop the transaction and can be known before the first
    write: the result is a plain refusal, not a rollback."""
    room = room_for(host, plan.changes, [step for step in plan.due if step.own or host.runs_tools])
    room |= dict.fromkeys((path for tool in plan.tools for path in keeper_of(tool).writes_at(host)), 0)
    problems = unwritable(host, {**room, STATE_DIR: 0})
    steps: tuple[Activation | ToolChange, ...] = (*plan.due, *plan.tools)
    if host.runs_tools:
        hint = "install the package that contains it, then run the command again"
        problems += [
            error("RC3005", f"{program} is not installed", detail=step.reason, hint=hint)
            for step in steps
            for program in step.programs
            if not host.has_tool(program)
        ]
    if problems:
        raise RocmcfgError(*dict.fromkeys(problems))


def _change(host: Host, id: int, change: FileChange) -> None:
    for folder in host.missing_folders(os.path.dirname(change.path)):
        journal.append(host, id, DirectoryMade(folder))
        host.make_dir(folder, 0o755)
    before = journal.save(host, id, change.before) if change.before else None
    after = journal.digest(change.after) or None
    journal.append(host, id, FileChanged(change.path, before, after, change.edit))
    if change.after is None:
        host.remove(change.path)
        return
    state, edited = host.new_file(change.after, change.mode), change.edit is not None
    if change.before is not None and edited:  # the time of the file says when its owner wrote it
        state = change.before._replace(content=change.after)
    elif change.before is not None:  # labels and access lists stay; rocmcfg sets owner and mode
        state = state._replace(xattrs=change.before.xattrs)
    host.write(change.path, state, keep_mtime=change.before is not None and edited)


def _numbered(progress: Progress, step: str) -> Progress:
    return lambda message: progress(step + message)


def _note(host: Host, id: int, plan: Plan, progress: Progress) -> None:
    """Record the state of what programs, or rocmcfg's own steps, will regenerate."""
    due = [step for step in plan.due if host.runs_tools or step.own]
    if due:
        before = noting.note(host, id, plan.boot_backend, due, progress, outputs=False)
        journal.append(host, id, before)


def _wrong(host: Host, id: int, ran: Sequence[Activation]) -> list[Diagnostic]:
    record = journal.read(host, id)
    assert record is not None  # this transaction has begun
    done = [step for step in ran if step.state is ActivationState.DONE]
    wanted = results.wanted_of_apply(host, record)
    kernels = record.before.kernels if record.before is not None else {}
    problems = results.look_at_results(host, id, wanted, results.made_by(record, done), kernels)
    return [problem for diagnostics in problems.values() for problem in diagnostics]


def _activate(host: Host, id: int, activation: Activation, progress: Progress, mark: str) -> Activation:
    if activation.state is ActivationState.SKIPPED:
        return activation
    if not host.runs_tools and not activation.own:
        return activation._replace(state=ActivationState.LEFT_TO_USER)
    states = {path: host.state(path) for path in activation.outputs}
    saved = {path: journal.save(host, id, state) if state else None for path, state in states.items()}
    scratch = tuple(path for path in activation.scratch if not host.exists(path))
    journal.append(host, id, ToolRun(activation.tool, saved, scratch))
    generate(host, activation, progress, mark)
    host.settle(activation.writes_at)
    written = {path: journal.digest(host.read(path)) for path in activation.outputs}
    journal.append(host, id, ToolRan(activation.tool, written))
    return activation._replace(state=ActivationState.DONE)


def _clear(host: Host, boot_backend: str, progress: Progress, mark: str) -> None:
    """Remove the arguments that a boot loader still holds for one boot, from any trial."""
    loader = registry.trial(boot_backend)
    keeper = loader.keeper(host) if loader is not None and host.runs_tools else None
    if keeper is not None and keeper.held(host) is not None:
        run_tool(host, keeper.keep(None), progress, mark)
        host.settle((keeper.BLOCK,))


def _rolled_back(
    host: Host, id: int, plan: Plan, cause: BaseException, progress: Progress, mark: str
) -> BaseException:
    """Roll everything back, and return what to raise, the cause first. Return the cause itself if nothing had
    begun, and so there is no `mark`."""
    first = recovery.cause(cause)
    try:
        record = journal.read(host, id)
        if record is None and mark:
            return vanished.roll_back_from_memory(host, plan, first, progress, mark)
        if record is None:
            return cause
        undone = recovery.undo(host, record, progress, after_failure=True)
        undo_script.renew_quietly(host, due=left_to_user(undone.activations))
    except BaseException as second:
        also, place = recovery.cause(second), journal.folder(id)
        failure = f"rolling back transaction {id} failed as well"
        hint = "fix the problems above, then run `rocmcfg recover`"
        remark = error("RC4011", failure, detail=also[0].summary, location=place, hint=hint)
        return RocmcfgError(*first, remark, *also, exit_code=ExitCode.RECOVERY_REQUIRED)
    host.log(f"transaction {id} by {host.user()} failed and was rolled back: {first[0].summary}")
    place, files = journal.folder(id), ", ".join(undone.regenerated)
    remark = warning("RC4012", "everything was rolled back; the host is unchanged", location=place)
    if files:
        summary = (
            f"everything was rolled back; programs regenerated these files, which rocmcfg checked: {files}"
        )
        remark = warning("RC4012", summary, detail="every other file is unchanged", location=place)
    return RocmcfgError(*first, remark, *undone.remarks, exit_code=ExitCode.ROLLED_BACK)
