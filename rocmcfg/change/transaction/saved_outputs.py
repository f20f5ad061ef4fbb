"""Find the files written by programs of transactions that can be restored from the copies saved before: a
rescue system can undo an apply even if it cannot run the host's own update-grub."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from rocmcfg.model.shape import NamedTuple
from rocmcfg.records.steps import Journal, Saved, ToolRan, ToolRun


class SavedOutput(NamedTuple):
    """A file that a program wrote: its digest as the newest transaction left it, empty for no file, and the
    copy of it from before the first transaction, which lies next to journal `id`; None for no file."""

    path: str
    left: str
    id: int
    before: Saved | None


def restorable_runs(
    chosen: Sequence[Journal], outputs: Mapping[str, Collection[str]], digest_of: Callable[[str], str]
) -> dict[tuple[int, str], ToolRun]:
    """Return, by transaction (newest first) and program, the runs whose outputs have not been regenerated
    since. `outputs` are the files that each program writes today; a program that is not among them is left
    out, and so is one that writes a file that was not saved. `digest_of` returns the present digest of a
    file."""
    before: dict[str, str] = {}
    runs = {}
    for record in chosen:
        written = {line.tool: line.outputs for line in record.of(ToolRan)}
        for step in record.of(ToolRun):
            left = dict(written.get(step.tool, {}))
            if not left or step.tool not in outputs or {*outputs[step.tool]} - left.keys():
                continue
            now = {path: before[path] if path in before else digest_of(path) for path in left}
            if now == left:
                runs[record.id, step.tool] = step
                before |= {path: saved.sha256 if saved else "" for path, saved in step.outputs.items()}
    return runs


def saved_outputs(records: Sequence[Journal], tool: str, outputs: Collection[str]) -> list[SavedOutput]:
    """Return what restores the outputs of this program to the state before all of these transactions, newest
    first. Return nothing if one of them cannot be restored: then the program must run."""
    records = [record for record in records if any(step.tool == tool for step in record.of(ToolRun))]
    newest = [line for record in records[:1] for line in record.of(ToolRan) if line.tool == tool]
    left = dict(newest[-1].outputs) if newest else {}
    runs = restorable_runs(records, {tool: outputs}, lambda path: left.get(path, ""))
    if not runs or len(runs) < len(records) or not all(left.values()):
        return []
    (oldest, _), step = [*runs.items()][-1]
    return [SavedOutput(path, left[path], oldest, saved) for path, saved in step.outputs.items()]
