"""What a program keeps for the host: changed under the journal, proven, and taken back."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import registry
from rocmcfg.backends.boot.contract import Keeper
from rocmcfg.host.view import Host, HostView, ToolFailed
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.plan import Activation, ToolChange
from rocmcfg.model.state import ActivationState
from rocmcfg.records import journal
from rocmcfg.records.steps import Journal, ToolChanged
from rocmcfg.transaction.programs import Progress, generate, run_tool


def keeper_of(change: ToolChange) -> Keeper:
    found = registry.keeper(change.tool)
    assert found is not None, change.tool  # a plan names only what a backend offers
    return found


def change_by_tool(host: Host, id: int, change: ToolChange, progress: Progress, mark: str) -> None:
    """Raises ToolFailed, or RocmcfgError where the program ended well and holds something else."""
    keeper = keeper_of(change)
    state = host.state(keeper.BLOCK)
    saved = journal.save(host, id, state) if state else None
    journal.append(host, id, ToolChanged(change.tool, saved, keeper.held(host), change.holds))
    run_tool(host, change.argv, progress, mark)
    host.settle((keeper.BLOCK,))
    if keeper.held(host) != change.holds:
        raise fail(
            "RC4315",
            f"{change.tool} ended well, and {keeper.BLOCK} does not hold what it was given",
            location=keeper.BLOCK,
            hint="run it by hand and see: " + " ".join(keeper.SHOWS),
        )


def _steps(found: Journal) -> list[tuple[Keeper, ToolChanged]]:
    """What a transaction changed by programs, newest first; without those of keepers that nobody knows."""
    steps = [(registry.keeper(step.tool), step) for step in reversed(found.of(ToolChanged))]
    return [(keeper, step) for keeper, step in steps if keeper is not None]


def altered(view: HostView, journals: Sequence[Journal]) -> list[str]:
    """Where a program holds neither what a transaction gave it nor what was there before; newest first."""
    found = []
    expected: dict[str, str | None] = {}
    for keeper, step in (pair for one in journals for pair in _steps(one)):
        now = expected.get(step.tool, keeper.held(view))
        # an older rocmcfg did not write what it gave
        if step.after is not None and now not in (None, "", step.before, step.after):
            found.append(keeper.BLOCK)
        expected[step.tool] = step.before
    return found


def due_back(view: HostView, found: Journal) -> list[Activation]:
    """The programs that take back what a transaction changed by them, where it is still there."""
    oldest = {step.tool: (keeper, step) for keeper, step in _steps(found)}
    return [
        Activation(step.tool, (keeper.keep(step.before),), keeper.KEEPS, writes_at=(keeper.BLOCK,))
        for keeper, step in oldest.values()
        if keeper.held(view) != step.before
    ]


def take_back(host: Host, found: Journal, progress: Progress) -> list[Activation]:
    """First of all that is undone: without it, the rest does nothing."""
    due = due_back(host, found)
    for activation in due if host.runs_tools else ():
        try:
            generate(host, activation, progress, found.header.mark)
        except ToolFailed:
            if not _blocks_back(host, found):
                raise
    _blocks_back(host, found)
    for activation in due:
        host.settle(activation.writes_at)
    state = ActivationState.DONE if host.runs_tools else ActivationState.LEFT_TO_USER
    return [activation._replace(state=state) for activation in due]


def _blocks_back(host: Host, found: Journal) -> bool:
    """Whether a block that its program left damaged could be put back as it was."""
    back = False
    for keeper, step in reversed(_steps(found)):
        if step.saved is not None and keeper.damaged(host):
            host.write(keeper.BLOCK, journal.restore(host, found.id, step.saved), keep_mtime=True)
            host.settle((keeper.BLOCK,))
            back = True
    return back
