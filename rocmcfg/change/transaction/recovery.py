"""Undo a transaction: after a failure, after a crash, or at the user's request. The same function does all
three, and may be run again at any point because it compares before it acts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rocmcfg import initramfs
from rocmcfg.change.planning.owned import is_local_profile, may_be_moved_from, owned_paths
from rocmcfg.change.transaction import noting, parts, putting_back, renamed, results
from rocmcfg.change.transaction.programs import (
    AGAIN,
    Progress,
    generate,
    menu_problems,
    programs,
    reading,
    wait_for_survivors,
)
from rocmcfg.change.transaction.saved_outputs import restorable_runs
from rocmcfg.files import environment_targets, modprobe
from rocmcfg.host import interrupts
from rocmcfg.host.state_dir import LOCAL_PROFILES
from rocmcfg.host.view import Host, HostView, Snapshot, ToolFailed, Unwritable
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import loader_entries
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.diagnostic import (
    Diagnostic,
    ExitCode,
    RocmcfgError,
    error,
    has_errors,
    unexpected,
    warning,
)
from rocmcfg.model.plan import Activation
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records import journal, steps
from rocmcfg.records.journal import digest
from rocmcfg.records.receipt import boot_id


class ThirdPartyEdit(RocmcfgError):
    def __init__(self, paths: Sequence[str], exit_code: ExitCode) -> None:
        super().__init__(
            *(
                error(
                    "RC4022",
                    f"{path} was edited by someone else after rocmcfg wrote it",
                    location=path,
                    hint="save your lines elsewhere, then run the command again with --force, which restores "
                    "the whole file (a copy of the edited one stays in the transaction's folder)",
                )
                for path in paths
            ),
            exit_code=exit_code,
        )


def cause(problem: BaseException) -> tuple[Diagnostic, ...]:
    """Return the diagnostics for whatever stopped a transaction or its undo."""
    if isinstance(problem, RocmcfgError):
        return problem.diagnostics
    if isinstance(problem, KeyboardInterrupt):
        return (error("RC4010", "interrupted", hint="run the command again when you are ready"),)
    return (unexpected(problem),)


def edited(view: HostView, journals: Sequence[steps.Journal]) -> list[str]:
    """Return the files that are neither as a transaction left them nor as it found them, newest transaction
    first. Of other programs' files only rocmcfg's part counts. Records, trial entries and profiles are left
    out."""
    state: dict[str, str] = {}
    of_nobody = {journal.RECEIPT, journal.TRIAL, *registry.copies()}
    altered = parts.altered(view, journals)
    for record in journals:
        for step in reversed(record.of(steps.FileChanged)):
            path = step.path
            if path in of_nobody or step.edit is not None or is_local_profile(path):
                continue
            now = state.get(path)
            if now is None:
                # rocmcfg creates no links, so a link is an edit; a missing file holds no edit to lose
                now = "link" if view.is_symlink(path) else digest(view.read(path))
            before = step.before.sha256 if step.before else ""
            if now not in ("", before, step.after or ""):
                altered.append(path)
            state[path] = before
    return list(dict.fromkeys(altered))


class UndoResult(NamedTuple):
    """The result of an undo: the programs that ran or are left to the user, and the remarks. `regenerated`
    are, after a failed apply, the files that are not byte for byte as the apply found them."""

    activations: tuple[Activation, ...]
    remarks: tuple[Diagnostic, ...] = ()
    regenerated: tuple[str, ...] = ()


def undo(
    host: Host,
    record: steps.Journal,
    progress: Progress,
    *,
    after_failure: bool = False,
    force: bool = False,
) -> UndoResult:
    """Restore every file of one transaction, then run its programs again. Raise ThirdPartyEdit or BadJournal
    before anything is changed; any other RocmcfgError leaves the transaction open for another try. With
    `after_failure` a program itself may be broken, so the files that it wrote are restored."""
    with interrupts.held():
        look = Snapshot(host)
        require_ours(look, record)
        exit_code = (
            ExitCode.RECOVERY_REQUIRED if record.state is steps.JournalState.UNFINISHED else ExitCode.ERROR
        )
        foreign = edited(look, [record])
        if foreign and not force:
            raise ThirdPartyEdit(foreign, exit_code)
        journal.sweep(host, record.id)
        for step in record.of(steps.FileChanged):  # a damaged copy stops the undo before any change
            if step.before is not None:
                journal.restore(host, record.id, step.before)
        if record.state is steps.JournalState.UNFINISHED:
            wait_for_survivors(host, record.header.mark, progress)
            make_readable(host, record)
            look = Snapshot(host)
        unable = parts.unable(look, record) + ([] if force else parts.out_of_reach(look, record))
        if unable:
            raise RocmcfgError(*unable, exit_code=exit_code)
        begin_undo(host, record.id)
        try:
            for path in foreign:
                state = None if host.is_symlink(path) else host.state(path)
                if state is not None:
                    journal.append(host, record.id, steps.Kept(path, journal.save(host, record.id, state)))
            tool_steps = parts.undo_tool_changes(host, record, progress)
            for step in reversed(record.of(steps.FileChanged)):
                _undo_file(host, record.id, step)
            for made in reversed(record.of(steps.DirectoryMade)):
                host.remove_dir(made.path)
            done = _activate_again(host, record, progress, after_failure)
            ran = [a for a in done.activations if a.state is ActivationState.DONE]
            host.settle([path for activation in ran for path in activation.writes_at])
            journal.append(host, record.id, steps.Undone())
        except BaseException as problem:
            remark = warning(
                "RC4013",
                f"transaction {record.id} is not completely undone",
                location=journal.folder(record.id),
                hint="fix the problems above, then run `rocmcfg recover`",
            )
            code = ExitCode.RECOVERY_REQUIRED
            raise RocmcfgError(*cause(problem), remark, exit_code=code) from problem
        noting.drop_copies(host)
    kept = tuple(
        f"arguments kept by {step.tool}" for step in tool_steps if step.state is ActivationState.DONE
    )
    return UndoResult((*tool_steps, *done.activations), done.remarks, (*done.regenerated, *kept))


def make_readable(host: Host, record: steps.Journal) -> None:
    """Restore files of an open transaction that a program left unreadable. Raise as `require_ours` does,
    before anything is changed, and Unwritable."""
    require_ours(host, record)
    host.require_lock()
    results.restore_unreadable_files(host, record)


def require_ours(view: HostView, record: steps.Journal) -> None:
    """Raise BadJournal if a journal, whoever wrote it, names a file or program that is not rocmcfg's."""
    files = {*owned_paths(), journal.RECEIPT, journal.TRIAL}
    named_here = (getattr(line, "path", "") for line in record.lines)
    files |= {file for path in named_here if (file := environment_targets.unit_file(path))}
    folders = {
        path[:end]
        for path in (*files, f"{LOCAL_PROFILES}/own.toml")
        for end in range(1, len(path))
        if path[end] == "/"
    }
    activations = programs(view)
    for line in record.lines:
        named: set[str] = set()
        allowed = files
        if isinstance(line, steps.FileChanged):
            moved = line.edit is not None and line.edit.moved and may_be_moved_from(line.path)
            named = set() if moved or is_local_profile(line.path) else {line.path}
        elif isinstance(line, steps.Kept):
            named, allowed = {line.path}, {*files, *(keeper.BLOCK for keeper in registry.keepers())}
        elif isinstance(line, steps.ToolChanged):
            named, allowed = {line.tool}, {keeper.TOOL for keeper in registry.keepers()}
        elif isinstance(line, steps.DirectoryMade):
            named, allowed = {line.path}, folders
        elif isinstance(line, steps.Before):
            menus = {path for path in line.files if registry.may_be_entries(path)}
            images = {path for path in line.images if loader_entries.on_partition(path)}
            named = {*line.files, *line.images} - menus - images
            allowed = {path for program in activations.values() for path in program.outputs}
        elif isinstance(line, steps.ToolRun | steps.ToolRan):
            program = activations.get(line.tool)
            named = {line.tool, *line.outputs, *(line.scratch if isinstance(line, steps.ToolRun) else ())}
            allowed = {program.tool, *program.outputs, *program.scratch} if program else set()
            if line.tool in registry.NAMES:  # entries are removed together with their kernels
                named -= {*filter(loader_entries.is_entry, line.outputs)}
        if not named <= allowed:
            raise journal.bad(
                journal.path_of(record.id),
                f"it names {min(named - allowed)}, which rocmcfg neither writes nor runs",
                "another program or a newer rocmcfg wrote it: use the newer rocmcfg, or move the "
                "transaction's folder away",
            )


def begin_undo(host: Host, id: int, together: Sequence[int] = ()) -> None:
    """Mark a transaction as unfinished so that a recovery undoes it. `together` are the transactions that the
    same rollback undoes; the recovery undoes them too."""
    host.require_lock()
    journal.append(host, id, steps.UndoBegun(host.user(), journal.now(), boot_id(host), tuple(together)))


def begin_undos(host: Host, ids: Sequence[int]) -> None:
    """Mark all of them as unfinished before the first one is undone, the newest first. The line of the newest
    names the others, so a power cut between two of these lines leaves none of them applied."""
    for id in ids:
        record = journal.read(host, id)  # None if a damaged journal was moved away, as its error advises
        if record is not None and record.state is steps.JournalState.COMMITTED:
            begin_undo(host, id, ids if len(ids) > 1 else ())


def _undo_file(host: Host, id: int, step: steps.FileChanged) -> None:
    path, before = step.path, step.before
    if parts.is_edited_profile(host, step):
        return
    if host.is_dir(os.path.dirname(path)):
        host.discard_temporary(path)
    if host.is_symlink(path):
        host.remove(path)
    if parts.undo_edit(host, step):
        return
    if before is None:
        if host.exists(path):
            host.remove(path)
        return
    if not host.is_dir(os.path.dirname(path)):  # the folder was removed with rocmcfg's file in it
        host.make_dirs(os.path.dirname(path), 0o755)
    state = journal.restore(host, id, before)
    if host.state(path) != state:
        host.write(path, state, keep_mtime=True)


def _activate_again(host: Host, record: steps.Journal, progress: Progress, after_failure: bool) -> UndoResult:
    done: list[Activation] = []
    remarks: list[Diagnostic] = []
    failed: dict[str, ToolFailed] = {}
    look = Snapshot(host)
    kept = restorable(look, [record])
    for step in kept.values():
        _restore_outputs(host, record.id, step)
    saved = {step.tool: step for step in record.of(steps.ToolRun)}
    again = due_again(Snapshot(host) if kept else look, record, kept)
    record = _noted(host, record, [step for step in again if _runs(host, step)], progress)
    if not host.runs_tools:
        results.restore_cut_off_images(host, record)
    for due in again:
        state = ActivationState.DONE if _runs(host, due) else ActivationState.LEFT_TO_USER
        if state is ActivationState.DONE:
            if due.tool in saved:
                _restore_outputs(host, record.id, saved[due.tool], cut_off=True)
            try:
                generate(host, due, progress, record.header.mark)
            except ToolFailed as problem:
                failed[due.tool] = problem
                wait_for_survivors(host, record.header.mark, progress)
                if due.tool in saved:
                    _remove_scratch(host, saved[due.tool])  # these may be what fills the disk
        elif host.runs_tools:
            state = ActivationState.SKIPPED  # the host now has another boot loader or generator
            remarks.append(
                warning(
                    "RC4014",
                    f"{due.tool} is no longer installed, so the files that it generated do not change",
                    hint="check that the host still boots; `rocmcfg status -v` shows its boot loader",
                )
            )
        done.append(due._replace(state=state))
    renamed.clean_foreign_entries(host, record)
    ran = [step for step in done if step.state is ActivationState.DONE]
    wanted = results.wanted_of_undo(host, record)
    mended = results.mend(host, record, wanted, ran, failed)
    problems = [problem for diagnostics in mended.problems.values() for problem in diagnostics]
    for tool, failure in failed.items():
        proven = tool in mended.whole or not has_errors(mended.problems.get(tool, ()))
        if not (after_failure and tool in saved and proven):
            problems += failure.diagnostics
    if has_errors(problems):
        raise RocmcfgError(*problems, *mended.remarks, exit_code=ExitCode.RECOVERY_REQUIRED)
    regenerated = results.regenerated(host, record) if after_failure else ()
    remarks += [*renamed.left_to_others(host, record.header.expect.backend), *problems, *mended.remarks]
    return UndoResult(tuple(done), tuple(remarks), tuple(regenerated))


def _noted(
    host: Host, record: steps.Journal, running: Sequence[Activation], progress: Progress
) -> steps.Journal:
    """Return the journal with a note of the state before these programs run, if any are about to run and it
    has no such note yet. An undo goes on even if the note cannot be written."""
    if not running or record.before is not None:
        return record
    try:
        before = noting.note(host, record.id, record.header.expect.backend, running, progress, outputs=True)
        journal.append(host, record.id, before)
    except Unwritable:
        return record
    return record._replace(lines=(*record.lines, before))


def due_again(
    view: HostView, record: steps.Journal, kept: Mapping[tuple[int, str], steps.ToolRun]
) -> list[Activation]:
    """Return the programs that an undo of this transaction runs, or leaves to the user if none can be run.
    Programs whose outputs are restored, which `kept` lists, are left out."""
    activations = programs(view)
    spared = {tool for id, tool in kept if id == record.id}
    spared |= set() if view.runs_tools else needless(view, record)
    due = {step.tool: activations[step.tool] for step in record.of(steps.ToolRun)}
    others = [*_menu_with_ours(view, record), *_images_with_ours(view, record)]
    if not view.runs_tools:  # the programs that an apply on an offline root left to the user are due again
        loader = record.header.expect.backend
        others = reading(view, record.files, AGAIN, (loader,) if loader else registry.NAMES)
    for step in others:
        due.setdefault(step.tool, step)
    return [step for step in due.values() if step.tool not in spared]


def _menu_with_ours(view: HostView, record: steps.Journal) -> tuple[Activation, ...]:
    """Return the steps that regenerate a boot menu which someone else generated with rocmcfg's arguments: an
    apply that cannot run programs leaves that to the user."""
    loader = record.header.expect.backend
    if not record.of(steps.Committed) or record.files.isdisjoint(registry.paths(loader)):
        return ()
    due = registry.backend(loader).activations(view, "the boot menu has arguments that are being rolled back")
    ran = any(step.tool in record.tools for step in due)
    return due if not ran and has_errors(_of_the_menu(view, record)) else ()


def _images_with_ours(view: HostView, record: steps.Journal) -> tuple[Activation, ...]:
    """Return the steps that rebuild an image which got the driver, and rocmcfg's options, after the apply."""
    if modprobe.PATH not in record.files or not record.of(steps.Committed):
        return ()
    generator = initramfs.backend(initramfs.detect(view))
    entries = registry.entries(view, record.header.expect.backend)
    if generator is None or all(i.carries is False for i in generator.images(view, entries)):
        return ()
    return (*generator.activations(view, "an image contains options that are being rolled back", entries),)


def _of_the_menu(view: HostView, record: steps.Journal) -> list[Diagnostic]:
    """Return what would be wrong with the present boot menu after the undo of this transaction."""
    expect = record.header.expect
    reader = registry.reader(expect.backend)
    assert reader is not None  # the loader has paths, so it has a reader
    return menu_problems(view, expect.backend, reader.menu(view), expect.removed, expect.added)


def needless(view: HostView, record: steps.Journal) -> set[str]:
    """Return the programs that need not run because their boot menu already is as the undo must leave it: it
    was generated since, or never had the arguments that are rolled back. A menu is not trusted if its program
    was cut off. rocmcfg's own steps are never left out: an entry that cannot be read as it was written,
    because of an unclosed quote, seems to hold no arguments of rocmcfg."""
    loader = record.header.expect.backend
    if loader not in registry.NAMES or _of_the_menu(view, record):
        return set()
    cut_off = record.tools - {line.tool for line in record.of(steps.ToolRan)}
    generators = (step for step in registry.backend(loader).activations(view, AGAIN) if not step.own)
    return {step.tool for step in generators} - cut_off


def restorable(view: HostView, chosen: Sequence[steps.Journal]) -> dict[tuple[int, str], steps.ToolRun]:
    """Return, by transaction (newest first) and program, the outputs that can be restored from copies because
    the program cannot be run and they have not been regenerated since."""
    unable = {tool: step.outputs for tool, step in programs(view).items() if not _runs(view, step)}
    return restorable_runs(chosen, unable, lambda path: digest(view.read(path)))


def _runs(view: HostView, step: Activation) -> bool:
    return step.own or (view.runs_tools and all(map(view.has_tool, step.programs)))


def _restore_outputs(host: Host, id: int, step: steps.ToolRun, *, cut_off: bool = False) -> None:
    _remove_scratch(host, step)
    putting_back.put_files_back(host, id, step.outputs, cut_off=cut_off)


def _remove_scratch(host: Host, step: steps.ToolRun) -> None:
    for path in step.scratch:
        if host.exists(path):
            host.remove(path)
