"""Our part of what others own: lines in a file, and what a program keeps for the host (in its `BLOCK`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

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
    """The files in which others altered our part as well. `journals` are the newest first."""
    edits = (step for record in journals for step in record.of(FileChanged) if step.edit is not None)
    places = []
    for path in dict.fromkeys(step.path for step in edits):
        content = view.read(path)  # a file that is gone holds no edit that could be lost
        if view.is_symlink(path) or (content is not None and without_edits(content, journals, path) is None):
            places.append(path)
    expected: dict[str, str | None] = {}
    for keeper, step in (pair for record in journals for pair in _kept(record)):
        if keeper.AMONG_OTHERS:
            continue
        now = expected.get(step.tool, keeper.held(view))
        # an older rocmcfg did not write what it gave
        if step.after is not None and now not in (None, "", step.before, step.after):
            places.append(keeper.BLOCK)
        expected[step.tool] = step.before
    return places


def without_edits(content: bytes, journals: Sequence[Journal], path: str) -> bytes | None:
    """The file after the undo of these transactions, newest first. None where somebody altered our part."""
    restored: bytes | None = content
    for record in journals:
        for step in reversed(record.of(FileChanged)):
            if step.path == path and step.edit is not None and restored is not None:
                restored = step.edit.undone(restored)
    return restored


def take_back_edit(host: Host, step: FileChanged) -> bool:
    """Take back our part alone of a file where others wrote to the rest of it since; say whether that was
    done."""
    now = host.state(step.path)
    before = step.before.sha256 if step.before is not None else ""
    if step.edit is None or now is None or journal.digest(now.content) in (before, step.after):
        return False
    left = step.edit.undone(now.content)
    if left is not None and left != now.content:
        # Fedora's and EL's 20-grub.install has the entries written anew where /etc/default/grub is newer than
        # /etc/kernel/cmdline
        host.write(step.path, now._replace(content=left), keep_mtime=True)
    return left is not None


def keeper_of(change: ToolChange) -> Keeper:
    keeper = registry.keeper(change.tool)
    assert keeper is not None, change.tool  # a plan names only what a backend offers
    return keeper


def change_by_tool(host: Host, id: int, change: ToolChange, progress: Progress, mark: str) -> Activation:
    """Raises ToolFailed, or RocmcfgError where the program ended well and holds something else."""
    if not host.runs_tools:
        return change.step._replace(state=ActivationState.LEFT_TO_USER)
    keeper = keeper_of(change)
    state = host.state(keeper.BLOCK) if keeper.BLOCK else None
    saved = journal.save(host, id, state) if state else None
    journal.append(host, id, ToolChanged(change.tool, saved, keeper.held(host, change.ours), change.holds))
    run_tool(host, change.argv, progress, mark, keeper.UNCHANGED)
    host.settle(keeper.writes_at(host))
    if keeper.held(host, change.ours) != change.holds:
        summary = f"{change.tool} ended well, and {keeper.BLOCK or 'it'} does not hold what it was given"
        hint = "run it by hand and see: " + " ".join(keeper.SHOWS)
        raise fail("RC4315", summary, location=keeper.BLOCK, hint=hint)
    return change.step._replace(state=ActivationState.DONE)


def _kept(record: Journal) -> list[tuple[Keeper, ToolChanged]]:
    """Return what a transaction changed by programs, newest first; without those of keepers that nobody
    knows."""
    steps = [(registry.keeper(step.tool), step) for step in reversed(record.of(ToolChanged))]
    return [(keeper, step) for keeper, step in steps if keeper is not None]


def due_back(view: HostView, record: Journal) -> list[Activation]:
    """The programs to run again for an undo: those that still hold what the transaction had them hold."""
    due = []
    for keeper, step in {step.tool: (keeper, step) for keeper, step in _kept(record)}.values():
        if step.saved is not None and keeper.damaged(view):
            continue  # its block is put back first, and then it is asked again
        now = keeper.held(view, f"{step.before or ''} {step.after or ''}")  # brought or taken away
        if now != step.before:
            command = keeper.keep(step.before, now)
            due.append(Activation(step.tool, (command,), keeper.KEEPS, writes_at=keeper.writes_at(view)))
    return due


def unable(view: HostView, record: Journal) -> list[Diagnostic]:
    """Return why a program could not take back now what a transaction changed by it."""
    tools = {step.tool for step in due_back(view, record)} if view.runs_tools else ()
    keepers = registry.argument_keepers()
    return [problem for keeper in keepers if keeper.TOOL in tools for problem in keeper.unable(view)]


def room_for(view: HostView, changes: Iterable[FileChange], steps: Iterable[Activation]) -> dict[str, int]:
    """Return the places at which these changes and steps write, and how many bytes each needs there: a file
    is written beside the old one, and a generated one is taken to be as long as the old one."""
    room = {change.path: len(change.after or b"") for change in changes}
    for step in steps:
        room |= {change.path: len(change.after or b"") for change in step.changes}
        room |= dict.fromkeys(step.writes_at, 0)
        if not step.own and view.runs_tools:
            room |= {path: len(view.read(path) or b"") for path in step.outputs}
    return room


def unwritable(host: Host, room: Mapping[str, int]) -> list[Diagnostic]:
    """Say at which of these places nothing can be written, or not as many bytes as each needs: one error for
    each reason, which names the first place and lists the others."""
    places: dict[str, list[str]] = {}
    for path, size in room.items():
        if reason := host.writable_problem(path, size):
            places.setdefault(reason, []).append(path)
    hint = "make room there, remount it writable or run the command as root, then try again"
    problems = []
    for reason, (first, *others) in places.items():
        (problem,) = Unwritable(first, reason, hint, root=host.root).diagnostics
        also = "\n".join(("the same of", *others)) if others else ""
        problems.append(problem._replace(detail=also))
    return problems


def out_of_reach(view: HostView, record: Journal) -> list[Diagnostic]:
    """The menu or entries that a transaction wrote and that are gone, most likely with their partition. What
    is done without them leaves our part in them, or makes a folder where the partition should be."""
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
    unreadable, why = MISSING, "what was written there would stay; --force leaves it there"
    hint = "mount its partition, then run the command again"
    return [
        error("RC3121", f"cannot use {path}: {unreadable}", location=path, detail=why, hint=hint)
        for path in gone[:1]
    ]


def _boots_from_noted(view: HostView, record: Journal) -> bool:
    """Say whether a transaction noted the images that are the loader's entries, and their folder is there:
    those that a program removed or spoiled since are no entries any more, and the undo puts them back."""
    noted = record.before.images if record.before is not None else {}
    return any(
        registry.entry_writer(image.tool) is not None and view.is_dir(os.path.dirname(path))
        for path, image in noted.items()
    )


def take_back(host: Host, record: Journal, progress: Progress) -> list[Activation]:
    """First of all that is undone: without it, the rest does nothing."""
    _blocks_back(host, record)
    due = due_back(host, record)
    for activation in due if host.runs_tools else ():
        keeper = registry.keeper(activation.tool)
        unchanged = keeper.UNCHANGED if keeper is not None else ()
        try:
            run_tool(host, activation.argv, progress, record.header.mark, unchanged)
        except ToolFailed:
            if not _blocks_back(host, record):
                raise
    _blocks_back(host, record)
    for activation in due:
        host.settle(activation.writes_at)
    left = due_back(host, record) if host.runs_tools else []
    if left:
        tool, block = left[0].tool, left[0].writes_at[:1]
        summary = f"{tool} ended well, and {''.join(block) or 'it'} does not hold what it was given"
        raise fail("RC4315", summary, hint="run it by hand and see: " + " ".join(left[0].argv))
    state = ActivationState.DONE if host.runs_tools else ActivationState.LEFT_TO_USER
    return [activation._replace(state=state) for activation in due]


def _blocks_back(host: Host, record: Journal) -> bool:
    """Put back as it was a block that its program left damaged; say whether there was one."""
    back = False
    for keeper, step in reversed(_kept(record)):
        if step.saved is not None and keeper.damaged(host):
            host.write(keeper.BLOCK, journal.restore(host, record.id, step.saved), keep_mtime=True)
            host.settle((keeper.BLOCK,))
            back = True
    return back
