"""Handle rocmcfg's part of what belongs to other programs: lines in a file, and arguments that a program
keeps for the host (in its `BLOCK`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from rocmcfg.change.planning.owned import is_local_profile
from rocmcfg.change.transaction.programs import Progress, run_tool
from rocmcfg.host.view import Host, HostView, ToolFailed, Unwritable
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import loader_entries
from rocmcfg.loaders.shared.contract import Keeper
from rocmcfg.loaders.shared.menu import MISSING
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.diagnostic import Diagnostic, error, fail
from rocmcfg.model.plan import Activation, FileChange, ToolChange
from rocmcfg.records import journal
from rocmcfg.records.steps import FileChanged, Journal, ToolChanged, ToolRun


def altered(view: HostView, journals: Sequence[Journal]) -> list[str]:
    """Return the files in which rocmcfg's own part was altered by someone else. `journals` are newest
    first."""
    edits = (step for record in journals for step in record.of(FileChanged) if step.edit is not None)
    places = []
    for path in dict.fromkeys(step.path for step in edits):
        content = view.read(path)  # a missing file holds no edit that could be lost
        if view.is_symlink(path) or (content is not None and without_edits(content, journals, path) is None):
            places.append(path)
    expected: dict[str, str | None] = {}
    for keeper, step in (pair for record in journals for pair in _kept(record)):
        if keeper.AMONG_OTHERS:
            continue
        now = expected.get(step.tool, keeper.held(view))
        # an older rocmcfg did not record the new value
        if step.after is not None and now not in (None, "", step.before, step.after):
            places.append(keeper.BLOCK)
        expected[step.tool] = step.before
    return places


def without_edits(content: bytes, journals: Sequence[Journal], path: str) -> bytes | None:
    """Return the content of the file after the undo of these transactions, newest first; None if rocmcfg's
    part was altered by someone else."""
    restored: bytes | None = content
    for record in journals:
        for step in reversed(record.of(FileChanged)):
            if step.path == path and step.edit is not None and restored is not None:
                restored = step.edit.undone(restored)
    return restored


def is_edited_profile(view: HostView, step: FileChanged) -> bool:
    """Return whether a step created a profile that its owner has edited since: an undo leaves it there."""
    if step.before is not None or not is_local_profile(step.path):
        return False
    return view.is_symlink(step.path) or journal.digest(view.read(step.path)) not in ("", step.after)


def undo_edit(host: Host, step: FileChanged) -> bool:
    """Remove only rocmcfg's part of a file, if the rest of it has changed since. Return whether that was
    done."""
    now = host.state(step.path)
    before = step.before.sha256 if step.before is not None else ""
    if step.edit is None or now is None or journal.digest(now.content) in (before, step.after):
        return False
    left = step.edit.undone(now.content)
    if left is not None and left != now.content:
        # Fedora's and EL's 20-grub.install rewrites the entries if /etc/default/grub is newer than
        # /etc/kernel/cmdline
        host.write(step.path, now._replace(content=left), keep_mtime=True)
    return left is not None


def keeper_of(change: ToolChange) -> Keeper:
    """Return the keeper for the program of a change."""
    keeper = registry.keeper(change.tool)
    assert keeper is not None, change.tool  # a plan names only tools that a backend offers
    return keeper


def change_by_tool(host: Host, id: int, change: ToolChange, progress: Progress, mark: str) -> Activation:
    """Have a program change the arguments that it keeps. Raise ToolFailed, or RocmcfgError if the program
    succeeded but holds something else afterwards."""
    if not host.runs_tools:
        return change.step._replace(state=ActivationState.LEFT_TO_USER)
    keeper = keeper_of(change)
    state = host.state(keeper.BLOCK) if keeper.BLOCK else None
    saved = journal.save(host, id, state) if state else None
    journal.append(host, id, ToolChanged(change.tool, saved, keeper.held(host, change.ours), change.holds))
    run_tool(host, change.argv, progress, mark, keeper.UNCHANGED)
    host.settle(keeper.writes_at(host))
    if keeper.held(host, change.ours) != change.holds:
        summary = f"{change.tool} succeeded, but {keeper.BLOCK or 'it'} does not hold the requested arguments"
        hint = "run it by hand to see why: " + " ".join(keeper.SHOWS)
        raise fail("RC4315", summary, location=keeper.BLOCK, hint=hint)
    return change.step._replace(state=ActivationState.DONE)


def _kept(record: Journal) -> list[tuple[Keeper, ToolChanged]]:
    """Return what a transaction changed through programs, newest first, without keepers that this rocmcfg
    does not know."""
    steps = [(registry.keeper(step.tool), step) for step in reversed(record.of(ToolChanged))]
    return [(keeper, step) for keeper, step in steps if keeper is not None]


def due_back(view: HostView, record: Journal) -> list[Activation]:
    """Return the programs to run again for an undo: those that still hold what the transaction gave them."""
    due = []
    for keeper, step in {step.tool: (keeper, step) for keeper, step in _kept(record)}.values():
        if step.saved is not None and keeper.damaged(view):
            continue  # its block is restored first, and then it is asked again
        now = keeper.held(view, f"{step.before or ''} {step.after or ''}")  # added or removed
        if now != step.before:
            command = keeper.keep(step.before, now)
            due.append(Activation(step.tool, (command,), keeper.KEEPS, writes_at=keeper.writes_at(view)))
    return due


def unable(view: HostView, record: Journal) -> list[Diagnostic]:
    """Return why a program cannot currently undo what a transaction changed through it."""
    tools = {step.tool for step in due_back(view, record)} if view.runs_tools else ()
    keepers = registry.argument_keepers()
    return [problem for keeper in keepers if keeper.TOOL in tools for problem in keeper.unable(view)]


def room_for(view: HostView, changes: Iterable[FileChange], steps: Iterable[Activation]) -> dict[str, int]:
    """Return the paths that these changes and steps write, and how many bytes each needs there: a new file is
    written next to the old one, and a generated one is assumed to be as long as the old one."""
    room = {change.path: len(change.after or b"") for change in changes}
    for step in steps:
        room |= {change.path: len(change.after or b"") for change in step.changes}
        room |= dict.fromkeys(step.writes_at, 0)
        if not step.own and view.runs_tools:
            room |= {path: len(view.read(path) or b"") for path in step.outputs}
    return room


def unwritable(host: Host, room: Mapping[str, int]) -> list[Diagnostic]:
    """Return an error for each reason why one of these paths cannot be written, or not with enough bytes. The
    error names the first path and lists the others."""
    places: dict[str, list[str]] = {}
    for path, size in room.items():
        if reason := host.writable_problem(path, size):
            places.setdefault(reason, []).append(path)
    hint = "make room there, remount it writable or run the command as root, then try again"
    problems = []
    for reason, (first, *others) in places.items():
        (problem,) = Unwritable(first, reason, hint, root=host.root).diagnostics
        also = "\n".join(("the same applies to", *others)) if others else ""
        problems.append(problem._replace(detail=also))
    return problems


def out_of_reach(view: HostView, record: Journal) -> list[Diagnostic]:
    """Return an error for the menu or entries that a transaction wrote and that are gone, most likely because
    their partition is not mounted. An undo without them would leave rocmcfg's part in them, or create a
    folder where the partition should be mounted."""
    reader = registry.reader(record.header.expect.backend)
    wrote = any(registry.entry_writer(step.tool) is not None for step in record.of(ToolRun))
    menu = reader.menu(view) if reader is not None and wrote else None
    folders = {os.path.dirname(step.path) for step in record.of(FileChanged)}
    gone = [
        folder for folder in sorted(folders) if folder.endswith("/loader/entries") and not view.is_dir(folder)
    ]
    if menu is not None and not menu.entries and not _boots_from_noted(view, record):
        gone.append(menu.path)
    empty = loader_entries.unmounted(view)
    if empty and any(path.startswith(f"{empty}/") for step in record.of(ToolRun) for path in step.outputs):
        gone.append(empty)
    unreadable, why = MISSING, "what rocmcfg wrote there would stay; --force leaves it there"
    hint = "mount its partition, then run the command again"
    return [
        error("RC3121", f"cannot use {path}: {unreadable}", location=path, detail=why, hint=hint)
        for path in gone[:1]
    ]


def _boots_from_noted(view: HostView, record: Journal) -> bool:
    """Return whether a transaction recorded the images that serve as the loader's entries, and their folder
    exists. Images that a program has removed or damaged since are no longer entries, and the undo restores
    them."""
    noted = record.before.images if record.before is not None else {}
    return any(
        registry.entry_writer(image.tool) is not None and view.is_dir(os.path.dirname(path))
        for path, image in noted.items()
    )


def undo_tool_changes(host: Host, record: Journal, progress: Progress) -> list[Activation]:
    """Undo the part that programs keep. This comes first: without it, the rest of the undo has no effect."""
    _restore_blocks(host, record)
    due = due_back(host, record)
    for activation in due if host.runs_tools else ():
        keeper = registry.keeper(activation.tool)
        unchanged = keeper.UNCHANGED if keeper is not None else ()
        try:
            run_tool(host, activation.argv, progress, record.header.mark, unchanged)
        except ToolFailed:
            if not _restore_blocks(host, record):
                raise
    _restore_blocks(host, record)
    for activation in due:
        host.settle(activation.writes_at)
    left = due_back(host, record) if host.runs_tools else []
    if left:
        tool, block = left[0].tool, left[0].writes_at[:1]
        summary = f"{tool} succeeded, but {''.join(block) or 'it'} does not hold the requested arguments"
        raise fail("RC4315", summary, hint="run it by hand to see why: " + " ".join(left[0].argv))
    state = ActivationState.DONE if host.runs_tools else ActivationState.LEFT_TO_USER
    return [activation._replace(state=state) for activation in due]


def _restore_blocks(host: Host, record: Journal) -> bool:
    """Restore each block that its program left damaged. Return whether there was one."""
    back = False
    for keeper, step in reversed(_kept(record)):
        if step.saved is not None and keeper.damaged(host):
            host.write(keeper.BLOCK, journal.restore(host, record.id, step.saved), keep_mtime=True)
            host.settle((keeper.BLOCK,))
            back = True
    return back
