"""What an undo will do, as data: made over a read-only view from the same records that `transaction.recovery`
carries out. What may be undone at all is decided there; this is for the reader's eye, and for check mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocmcfg.backends import initramfs, modprobe
from rocmcfg.backends.boot import registry
from rocmcfg.host.view import HostView
from rocmcfg.model.plan import Activation, FileChange
from rocmcfg.model.state import ActivationState, FileState
from rocmcfg.records import journal, receipt
from rocmcfg.records.receipt import Receipt
from rocmcfg.records.steps import FileChanged, Journal, Saved, ToolRun
from rocmcfg.transaction import edits, tool_changes
from rocmcfg.transaction.programs import programs
from rocmcfg.transaction.recovery import left_to_user, menu_with_ours

_LINK = FileState(b"", 0o777, 0, 0, 0)  # stands for one that somebody put in the place of our file


def changes(view: HostView, chosen: Sequence[Journal]) -> tuple[FileChange, ...]:
    """To every file of these transactions, newest first, but for our own state. Raises BadJournal where a
    saved file is damaged."""
    found = []
    for path, (id, saved) in reversed(_oldest(chosen).items()):  # as a plan lists them
        if path.startswith(journal.STATE_DIR):
            continue
        link = view.is_symlink(path)
        before = _LINK if link else view.state(path)
        others = _after_edits(chosen, path, before)
        after = others or (journal.restore(view, id, saved) if saved else None)
        if _shown(before) != _shown(after):
            reason = f"as it was before transaction {id}" + (", in place of a symbolic link" if link else "")
            reason += ", with what others wrote since" if others else ""
            content, mode = (after.content, after.mode) if after else (None, 0o644)
            found.append(FileChange(path, before, content, reason, mode))
    return tuple(found)


def _after_edits(chosen: Sequence[Journal], path: str, now: FileState | None) -> FileState | None:
    """A file that others own and have written to since; None for every other one."""
    steps = [step for one in chosen for step in reversed(one.of(FileChanged)) if step.path == path]
    if now is None or now is _LINK or steps[0].edit is None:
        return None
    if receipt.digest(now.content) == steps[0].after:
        return None
    content = edits.left(now.content, chosen, path)
    return None if content is None else replace(now, content=content)


def _shown(state: FileState | None) -> tuple[bytes, int] | None:
    """What a reader calls a change; a date that is put back is none."""
    return (state.content, state.mode) if state else None


def _oldest(chosen: Sequence[Journal]) -> dict[str, tuple[int, Saved | None]]:
    """For each path its state before the first of these transactions that wrote it, and which that is."""
    found: dict[str, tuple[int, Saved | None]] = {}
    for one in chosen:
        for step in reversed(one.of(FileChanged)):
            found[step.path] = one.id, step.before
    return found


def receipt_left(view: HostView, chosen: Sequence[Journal]) -> Receipt | None:
    """The receipt that will be in force afterwards; None also for one that cannot be read."""
    id, saved = _oldest(chosen).get(receipt.PATH, (0, None))
    if not id:
        return receipt.load_quietly(view)
    try:
        return receipt.parse(journal.restore(view, id, saved).content) if saved else None
    except receipt.BadReceipt:
        return None


def activations(view: HostView, chosen: Sequence[Journal]) -> tuple[Activation, ...]:
    """The programs that will be run again, or that are left to the user on a host whose tools cannot run."""
    found: dict[str, Activation] = {}
    known = programs(view)
    for one in chosen:
        found |= {a.tool: a for a in tool_changes.due_back(view, one)}
        found |= {step.tool: known[step.tool] for step in one.of(ToolRun)}
        found |= {a.tool: a for a in _others(view, one) if a.tool not in found}
    found |= {a.tool: a for a in _images(view, chosen) if a.tool not in found}
    return tuple(found.values())


def _others(view: HostView, one: Journal) -> list[Activation]:
    """What the transaction itself did not run."""
    if view.runs_tools:
        return list(menu_with_ours(view, one))
    return [a._replace(state=ActivationState.PLANNED) for a in left_to_user(view, one)]


def _images(view: HostView, chosen: Sequence[Journal]) -> list[Activation]:
    """An image that got the driver after the apply carries our options since."""
    if not view.runs_tools or modprobe.PATH not in _oldest(chosen):
        return []
    generator = initramfs.backend(initramfs.detect(view))
    entries = registry.entries(view, chosen[0].header.expect.backend)
    if generator is None or all(i.carries is False for i in generator.images(view, "amdgpu", entries)):
        return []
    return list(generator.activations(view, "an image holds the options that are taken back"))
