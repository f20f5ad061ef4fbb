"""Plan an undo over a read-only view: which transactions it undoes, and what it will do. Then carry it
out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from rocmcfg.change.planning.owned import replaces
from rocmcfg.change.transaction import noting, parts, recovery, results, undo_script, vanished
from rocmcfg.change.transaction.lost_records import beyond_undo, files_without_record
from rocmcfg.change.transaction.programs import Progress, generate, menu_problems
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import Host, HostView, Snapshot, ToolFailed
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import entry_options, marked_arguments
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.desired import karg_line
from rocmcfg.model.diagnostic import (
    Diagnostic,
    ExitCode,
    RocmcfgError,
    Severity,
    fail,
    has_errors,
    info,
    warning,
)
from rocmcfg.model.file_state import FileState
from rocmcfg.model.kargs import contains, split
from rocmcfg.model.plan import Activation, FileChange, left_to_user
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.records import journal, receipt
from rocmcfg.records.receipt import Receipt
from rocmcfg.records.steps import Committed, FileChanged, Journal, JournalState, Saved
from rocmcfg.state import edits, reboot

_LINK = FileState(b"", 0o777, 0, 0, 0)  # represents a symbolic link that replaced one of rocmcfg's files


@published("transactions", "changes", "activations", "reboot_required", "takes_back", "brings_back", "keeps")
class Undo(NamedTuple):
    """The undo of transactions, newest first: as planned, or with the results of its programs. Of the
    settings that are applied now, it `takes_back` some and `keeps` the others; `brings_back` are settings
    that return."""

    journals: tuple[Journal, ...]
    changes: tuple[FileChange, ...]
    activations: tuple[Activation, ...]
    reboot_required: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    takes_back: tuple[str, ...] = ()
    brings_back: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()

    @property
    def transactions(self) -> tuple[int, ...]:
        return tuple(record.id for record in self.journals)


def joined(done: Sequence[Undo]) -> Undo:
    """Return several undos, done one after the other, as one."""
    return Undo(
        tuple(record for undo in done for record in undo.journals),
        tuple({change.path: change for undo in done for change in undo.changes}.values()),
        tuple({step.tool: step for undo in done for step in undo.activations}.values()),
        done[-1].reboot_required,
        tuple(remark for undo in done for remark in undo.diagnostics),
    )


def plan_rollback(view: HostView, *, to: int | None, force: bool) -> Undo:
    """Plan the undo of the last transaction, or of all after `to`. If the last undo left a program to the
    user and programs can be run now, that is finished first. Raise whatever the rollback would refuse."""
    view = Snapshot(view)
    journal.require_finished(view)
    every = journal.read_all(view)
    committed = [j for j in every if j.state is JournalState.COMMITTED and not j.header.swept]
    if to and to not in (j.id for j in committed if j.header.trial is None):
        summary = (
            f"there is no applied transaction {to}, or it is a trial, and a rollback cannot "
            "go back to a trial"
        )
        raise fail("RC4024", summary, hint="see `rocmcfg history`; 0 rolls back everything")
    chosen = [j for j in committed if to is None or j.id > to]
    if to is None:  # the newest one; if it confirmed a trial, the trial too
        chosen = [j for n, j in enumerate(committed) if n == 0 or j.id == committed[0].header.confirms]
    if not committed and (left := files_without_record(view)):
        raise RocmcfgError(beyond_undo(view, left))
    if ((to is None and view.runs_tools) or not committed) and (due := menu_of_undone(view)):
        return plan_of(view, [])._replace(activations=due)
    foreign = recovery.edited(view, chosen)
    if foreign and not force:
        raise recovery.ThirdPartyEdit(foreign, ExitCode.ERROR)
    unable = [problem for record in chosen for problem in parts.unable(view, record)]
    unable += [problem for record in chosen for problem in parts.out_of_reach(view, record) if not force]
    loader = chosen[0].header.expect.backend if chosen else ""
    unable += marked_arguments.torn(
        entry for entry in registry.entries(view, loader) if entry.role is Role.NORMAL
    )
    if unable:
        raise RocmcfgError(*dict.fromkeys(unable))
    planned = plan_of(view, chosen)
    if not chosen or len(chosen) < len(committed):
        return planned
    # files of rocmcfg that are older than the first record stay
    gone = {change.path for change in planned.changes if edits.own_part(change.path, change.after) is None}
    left = tuple(path for path in files_without_record(view) if path not in gone)
    stays = (beyond_undo(view, left)._replace(severity=Severity.WARNING),) if left else ()
    return planned._replace(
        diagnostics=(*planned.diagnostics, *stays), takes_back=() if stays else planned.takes_back
    )


def menu_of_undone(view: HostView) -> tuple[Activation, ...]:
    """Return the steps that regenerate the boot menu if it still has arguments that were rolled back since
    the last apply: an undo that cannot run programs leaves that to the user."""
    undone = [*takewhile(lambda record: record.state is JournalState.ROLLED_BACK, journal.read_all(view))]
    name = undone[0].header.expect.backend if undone else ""
    reader = registry.reader(name)
    if reader is None:
        return ()
    applied = receipt.load_quietly(view)
    ours = split(karg_line(applied.settings)) if applied else ()
    unwanted = [text for record in undone for text in record.header.expect.added if not contains(ours, text)]
    if not has_errors(menu_problems(view, name, reader.menu(view), (), unwanted)):
        return ()
    why = "the boot menu still has arguments that were rolled back"
    return tuple(registry.backend(name).activations(view, why))


def unfinished(view: HostView) -> tuple[Diagnostic, ...]:
    """Return the warning about an undo that left its program to the user, as far as this user may know."""
    try:
        due = () if view.hidden(journal.TRANSACTIONS) else menu_of_undone(view)
    except RocmcfgError:  # a damaged record stops an undo, but not a command that only reads
        return ()
    return _not_finished(view, (step.tool for step in due))


def plan_of(view: HostView, chosen: Sequence[Journal]) -> Undo:
    """Return the planned undo of these transactions, newest first. Raise BadJournal if rocmcfg did not write
    one of them."""
    for record in chosen:
        recovery.require_ours(view, record)
    changed = changes(view, chosen)
    left = receipt_left(view, chosen)
    due = reboot.due(view, left.settings if left else (), left, replaced=replaces(changed))
    remarks = (_profile_stays(step.path) for step in _edited_profiles(view, chosen))
    now = receipt.load_quietly(view)
    before, after = ([s.spelled for s in applied.settings] if applied else [] for applied in (now, left))
    return Undo(
        tuple(chosen),
        changed,
        tuple(activations(view, chosen, changed)),
        due,
        tuple(remarks),
        takes_back=tuple(text for text in before if text not in after),
        brings_back=tuple(text for text in after if text not in before),
        keeps=tuple(text for text in after if text in before),
    )


def carry_out(
    host: Host,
    planned: Undo,
    progress: Progress,
    *,
    logged_as: str,
    after_failure: bool = False,
    force: bool = False,
) -> Undo:
    """Carry out the undo, and return it with its results. Each program is listed once, even if several
    transactions ran it. The host's log says of each transaction that it is `logged_as`. Raise as
    `recovery.undo` does."""
    runs = [step for step in planned.activations if step.own or host.runs_tools]
    room = parts.room_for(host, planned.changes, runs)
    if not after_failure and (problems := parts.unwritable(host, room)):
        raise RocmcfgError(*problems)
    if not planned.journals:
        state = ActivationState.DONE if host.runs_tools else ActivationState.LEFT_TO_USER
        if host.runs_tools and planned.activations:
            _make_anew(host, planned.activations, progress)
        ran = tuple(step._replace(state=state) for step in planned.activations)
        undo_script.renew_quietly(host, due=left_to_user(ran))
        return planned._replace(activations=ran, diagnostics=_not_finished(host, left_to_user(ran)))
    if len(planned.journals) > 1:
        recovery.begin_undos(host, planned.transactions)
    done = []
    for record in planned.journals:
        try:
            done.append(recovery.undo(host, record, progress, after_failure=after_failure, force=force))
        except RocmcfgError as problem:
            if host.exists(journal.folder(record.id)):
                raise
            raise vanished.not_undone(host, record) from problem
        host.log(f"transaction {record.id} {logged_as} by {host.user()}")
    steps = {step.tool: step for taken in done for step in taken.activations}
    undo_script.renew_quietly(host, due=left_to_user(steps.values()))
    left = _not_finished(host, left_to_user(steps.values()))
    remarks = dict.fromkeys([*(remark for taken in done for remark in taken.remarks), *left])
    return planned._replace(activations=tuple(steps.values()), diagnostics=(*planned.diagnostics, *remarks))


def _make_anew(host: Host, due: Sequence[Activation], progress: Progress) -> None:
    """Regenerate a menu for transactions that were undone earlier. Raise RocmcfgError if the menu is wrong
    afterwards; a menu that cannot be used is restored."""
    newest = journal.read_all(host)[0]
    expect = newest.header.expect
    before = noting.note(host, newest.id, expect.backend, due, progress, outputs=True)
    failures: list[Diagnostic] = []
    for step in due:
        try:
            generate(host, step, progress, "")
        except ToolFailed as problem:
            failures += problem.diagnostics
        host.settle(step.writes_at)
    record = newest._replace(lines=(Committed(), before))
    mended = results.mend(host, record, results.Wanted(expect.backend, (), expect.added), due, ())
    problems = [*failures, *(problem for diagnostics in mended.problems.values() for problem in diagnostics)]
    if has_errors(problems):
        raise RocmcfgError(*problems, *mended.remarks)


def _not_finished(view: HostView, left: Iterable[str]) -> tuple[Diagnostic, ...]:
    tools = " and ".join(left)
    if not tools:
        return ()
    summary = f"not finished: the next boot may still have the settings until {tools} has been run"
    hint = "run it inside that host with `rocmcfg rollback --chroot`"
    return (warning("RC4016", summary, hint=hint if view.offline else "run it with `sudo rocmcfg rollback`"),)


def changes(view: HostView, chosen: Sequence[Journal]) -> tuple[FileChange, ...]:
    """Return the change of every file of these transactions, newest first, except rocmcfg's own state. Raise
    BadJournal if a saved file is damaged."""
    file_changes = []
    stays = {step.path for step in _edited_profiles(view, chosen)}
    kept = recovery.restorable(view, chosen)
    outputs = {path: (id, saved) for (id, _), step in kept.items() for path, saved in step.outputs.items()}
    for path, (id, saved) in reversed({**outputs, **_oldest(chosen)}.items()):  # as a plan lists them
        if path.startswith(STATE_DIR) or path in stays:
            continue
        link = view.is_symlink(path)
        before = _LINK if link else view.state(path)
        others = _after_edits(chosen, path, before)
        after = others or (journal.restore(view, id, saved) if saved else None)
        # a changed time alone is not shown as a change
        if (before and (before.content, before.mode)) != (after and (after.content, after.mode)):
            reason = f"as it was before transaction {id}" + (", in place of a symbolic link" if link else "")
            reason += ", with the changes that others made since" if others else ""
            content, mode = (after.content, after.mode) if after else (None, 0o644)
            file_changes.append(FileChange(path, before, content, reason, mode))
    return tuple(file_changes)


def _edited_profiles(view: HostView, chosen: Sequence[Journal]) -> list[FileChanged]:
    every = (step for record in chosen for step in record.of(FileChanged))
    return [step for step in every if parts.is_edited_profile(view, step)]


def _profile_stays(path: str) -> Diagnostic:
    summary = f"{path} stays, because it was edited since it was created"
    return info("RC4045", summary, location=path, hint="remove it if you no longer need it")


def _after_edits(chosen: Sequence[Journal], path: str, now: FileState | None) -> FileState | None:
    """Return the future state of a file that belongs to another program and was changed since; None for every
    other file."""
    steps = [step for record in chosen for step in reversed(record.of(FileChanged)) if step.path == path]
    if now is None or now is _LINK or not steps or steps[0].edit is None:
        return None
    if journal.digest(now.content) == steps[0].after:
        return None
    content = parts.without_edits(now.content, chosen, path)
    return None if content is None else now._replace(content=content)


def _oldest(chosen: Sequence[Journal]) -> dict[str, tuple[int, Saved | None]]:
    """Return, for each path, the first of these transactions that wrote it, and the file's state before
    that."""
    oldest: dict[str, tuple[int, Saved | None]] = {}
    for record in chosen:
        for step in reversed(record.of(FileChanged)):
            oldest[step.path] = record.id, step.before
    return oldest


def receipt_left(view: HostView, chosen: Sequence[Journal]) -> Receipt | None:
    """Return the receipt that will be in force afterwards; None also if it cannot be read."""
    id, saved = _oldest(chosen).get(receipt.PATH, (0, None))
    if not id:
        return receipt.load_quietly(view)
    try:
        return receipt.parse(journal.restore(view, id, saved).content) if saved else None
    except receipt.BadReceipt:
        return None


def activations(
    view: HostView, chosen: Sequence[Journal], changed: Iterable[FileChange]
) -> Iterator[Activation]:
    """Yield the programs that will be run again, or that are left to the user on a host whose programs cannot
    run. Yield rocmcfg's own steps with the entries that result from the arguments in rocmcfg's file
    afterwards."""
    kept = recovery.restorable(view, chosen)
    due: dict[str, Activation] = {}
    for record in chosen:
        due |= {a.tool: a for a in parts.due_back(view, record)}
        for step in recovery.due_again(view, record, kept):
            due.setdefault(step.tool, step)
    after = {change.path: change.text_after or "" for change in changed}
    carrier = after.get(entry_options.CARRIER)
    arguments = entry_options.asked(view) if carrier is None else entry_options.arguments_in(carrier)
    for step in due.values():
        ours = step.own and registry.inputs(step.tool) & after.keys()
        changes = registry.backend(step.tool).entry_changes(view, [arguments]) if ours else ()
        yield step._replace(changes=changes)
