"""Which transactions an undo takes and what it will do, over a read-only view; then the undo itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from rocmcfg.change.planning.owned import replaces
from rocmcfg.change.transaction import noting, parts, recovery, results, undo_script
from rocmcfg.change.transaction.lost_records import beyond_undo, files_without_record
from rocmcfg.change.transaction.programs import Progress, generate, menu_problems
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import Host, HostView, Snapshot, ToolFailed
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import entry_options, marked_arguments
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.desired import karg_line
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, Severity, fail, has_errors, warning
from rocmcfg.model.file_state import FileState
from rocmcfg.model.kargs import contains, split
from rocmcfg.model.plan import Activation, FileChange, left_to_user
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.records import journal, receipt
from rocmcfg.records.receipt import Receipt
from rocmcfg.records.steps import Committed, FileChanged, Journal, JournalState, Saved
from rocmcfg.state import edits, reboot

_LINK = FileState(b"", 0o777, 0, 0, 0)  # stands for one that somebody put in the place of our file


@published("transactions", "changes", "activations", "reboot_required", "takes_back", "brings_back", "keeps")
class Undo(NamedTuple):
    """The undo of transactions, newest first: as planned, or with what became of its programs. Of the
    settings that are applied now it takes some back and keeps the others; `brings_back` come again."""

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
    """Several undos, done one after the other, as one."""
    return Undo(
        tuple(record for undo in done for record in undo.journals),
        tuple({change.path: change for undo in done for change in undo.changes}.values()),
        tuple({step.tool: step for undo in done for step in undo.activations}.values()),
        done[-1].reboot_required,
        tuple(remark for undo in done for remark in undo.diagnostics),
    )


def plan_rollback(view: HostView, *, to: int | None, force: bool) -> Undo:
    """The undo of the last transaction, or of all after `to`; one that left a program to the user is finished
    first, where programs run. Raises whatever the rollback would refuse."""
    view = Snapshot(view)
    journal.require_finished(view)
    every = journal.read_all(view)
    committed = [j for j in every if j.state is JournalState.COMMITTED and not j.header.swept]
    if to and to not in (j.id for j in committed if j.header.trial is None):
        summary = f"there is no applied transaction {to}, or it is a trial, into which nobody can go back"
        raise fail("RC4024", summary, hint="see `rocmcfg history`; 0 is the start")
    chosen = [j for j in committed if to is None or j.id > to]
    if to is None:  # the newest one; with one that confirmed a trial goes the trial
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
    # files of ours that were there before the first record stay
    gone = {change.path for change in planned.changes if edits.own_part(change.path, change.after) is None}
    left = tuple(path for path in files_without_record(view) if path not in gone)
    stays = (beyond_undo(view, left)._replace(severity=Severity.WARNING),) if left else ()
    return planned._replace(diagnostics=stays, takes_back=() if stays else planned.takes_back)


def menu_of_undone(view: HostView) -> tuple[Activation, ...]:
    """Return what makes the boot menu anew that still has arguments undone since the last apply: an undo that
    can run no programs leaves that to the user."""
    undone = [*takewhile(lambda record: record.state is JournalState.ROLLED_BACK, journal.read_all(view))]
    name = undone[0].header.expect.backend if undone else ""
    reader = registry.reader(name)
    if reader is None:
        return ()
    applied = receipt.load_quietly(view)
    ours = split(karg_line(applied.settings)) if applied else ()
    unwanted = [text for record in undone for text in record.header.expect.added if not contains(ours, text)]
    if not has_errors(menu_problems(view, name, reader.read(view), (), unwanted)):
        return ()
    why = "the boot menu still has arguments that were taken back"
    return tuple(registry.backend(name).activations(view, why))


def unfinished(view: HostView) -> tuple[Diagnostic, ...]:
    """Return the warning about an undo that left its program to the user, as far as this user may know of
    one."""
    try:
        due = () if view.hidden(journal.TRANSACTIONS) else menu_of_undone(view)
    except RocmcfgError:  # a damaged record stops an undo, and nobody who only asks
        return ()
    return _not_finished(view, (step.tool for step in due))


def plan_of(view: HostView, chosen: Sequence[Journal]) -> Undo:
    """The undo of these transactions, newest first. Raises BadJournal where one of them is none of ours."""
    for record in chosen:
        recovery.require_ours(view, record)
    changed = changes(view, chosen)
    left = receipt_left(view, chosen)
    due = reboot.due(view, left.settings if left else (), left, replaced=replaces(changed))
    now = receipt.load_quietly(view)
    before, after = ([s.spelled for s in applied.settings] if applied else [] for applied in (now, left))
    return Undo(
        tuple(chosen),
        changed,
        tuple(activations(view, chosen, changed)),
        due,
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
    """The undo as it went, with each program once, though several transactions ran it. The host's log says of
    each transaction what it is `logged_as`. Raises as `recovery.undo`."""
    runs = [step for step in planned.activations if step.own or host.runs_tools]
    room = parts.room_for(host, planned.changes, runs)
    if not after_failure and (problems := parts.unwritable(host, room)):
        raise RocmcfgError(*problems)
    if not planned.journals:
        state = ActivationState.DONE if host.runs_tools else ActivationState.LEFT_TO_USER
        if host.runs_tools:
            _make_anew(host, planned.activations, progress)
        ran = tuple(step._replace(state=state) for step in planned.activations)
        undo_script.renew_quietly(host, due=left_to_user(ran))
        return planned._replace(activations=ran, diagnostics=_not_finished(host, left_to_user(ran)))
    if len(planned.journals) > 1:
        recovery.begin_undos(host, planned.transactions)
    done = []
    for record in planned.journals:
        done.append(recovery.undo(host, record, progress, after_failure=after_failure, force=force))
        host.log(f"transaction {record.id} {logged_as} by {host.user()}")
    steps = {step.tool: step for taken in done for step in taken.activations}
    undo_script.renew_quietly(host, due=left_to_user(steps.values()))
    left = _not_finished(host, left_to_user(steps.values()))
    remarks = dict.fromkeys([*(remark for taken in done for remark in taken.remarks), *left])
    return planned._replace(activations=tuple(steps.values()), diagnostics=(*planned.diagnostics, *remarks))


def _make_anew(host: Host, due: Sequence[Activation], progress: Progress) -> None:
    """Run what generates a menu again for the sake of transactions that were undone before. Raises
    RocmcfgError where the menu is not right afterwards; one that cannot be used is put back as it was."""
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
    summary = f"not finished: the next boot may have the settings still, until {tools} has been run"
    hint = "`rocmcfg rollback --chroot` runs it inside that host"
    return (warning("RC4016", summary, hint=hint if view.offline else "`sudo rocmcfg rollback` runs it"),)


def changes(view: HostView, chosen: Sequence[Journal]) -> tuple[FileChange, ...]:
    """To every file of these transactions, newest first, but for our own state. Raises BadJournal where a
    saved file is damaged."""
    file_changes = []
    kept = recovery.restorable(view, chosen)
    outputs = {path: (id, saved) for (id, _), step in kept.items() for path, saved in step.outputs.items()}
    for path, (id, saved) in reversed({**outputs, **_oldest(chosen)}.items()):  # as a plan lists them
        if path.startswith(STATE_DIR):
            continue
        link = view.is_symlink(path)
        before = _LINK if link else view.state(path)
        others = _after_edits(chosen, path, before)
        after = others or (journal.restore(view, id, saved) if saved else None)
        # a date that is put back is no change to a reader
        if (before and (before.content, before.mode)) != (after and (after.content, after.mode)):
            reason = f"as it was before transaction {id}" + (", in place of a symbolic link" if link else "")
            reason += ", with what others wrote since" if others else ""
            content, mode = (after.content, after.mode) if after else (None, 0o644)
            file_changes.append(FileChange(path, before, content, reason, mode))
    return tuple(file_changes)


def _after_edits(chosen: Sequence[Journal], path: str, now: FileState | None) -> FileState | None:
    """A file that others own and have written to since; None for every other one."""
    steps = [step for record in chosen for step in reversed(record.of(FileChanged)) if step.path == path]
    if now is None or now is _LINK or not steps or steps[0].edit is None:
        return None
    if journal.digest(now.content) == steps[0].after:
        return None
    content = parts.without_edits(now.content, chosen, path)
    return None if content is None else now._replace(content=content)


def _oldest(chosen: Sequence[Journal]) -> dict[str, tuple[int, Saved | None]]:
    """For each path its state before the first of these transactions that wrote it, and which that is."""
    oldest: dict[str, tuple[int, Saved | None]] = {}
    for record in chosen:
        for step in reversed(record.of(FileChanged)):
            oldest[step.path] = record.id, step.before
    return oldest


def receipt_left(view: HostView, chosen: Sequence[Journal]) -> Receipt | None:
    """The receipt that will be in force afterwards; None also for one that cannot be read."""
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
    """The programs that will be run again, or that are left to the user on a host whose tools cannot run; our
    own steps with what they come to, by the arguments that our file says afterwards."""
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
