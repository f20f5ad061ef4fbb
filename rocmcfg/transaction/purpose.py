"""What a transaction is for: what its header says, what has to be proven, and what goes on record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rocmcfg.backends.boot import registry
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.kargs import Karg, contains
from rocmcfg.model.plan import Activation, FileChange, Plan, RowOutcome
from rocmcfg.model.state import ActivationState, Channel, Request
from rocmcfg.planning.owned import owned_paths, trial_paths
from rocmcfg.records import journal, receipt
from rocmcfg.records.steps import Begin, Expectations
from rocmcfg.state import reboot


class Done(NamedTuple):
    """A transaction whose programs have run: its number, its header, and what became of each program."""

    id: int
    header: Begin
    activations: tuple[Activation, ...]


class Purpose:
    """Settings for good, as the receipt says afterwards. Those of trials are in `rocmcfg.trial`."""

    def __init__(self, plan: Plan, request: Request) -> None:
        self.plan, self.request = plan, request

    @property
    def clears(self) -> bool:
        """Whether what a boot loader holds for one boot goes before everything else."""
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
            before = (*before, place.TOKEN)
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
        """What is wrong beyond the expectations, once the programs have run."""
        del host
        return []

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        """The changes to our own state, in the order in which they are made."""
        found = {path: registry.own_part(path, host.read(path)) for path in owned_paths()}
        old = receipt.load_quietly(host)
        pending = {
            tool: state
            for tool, state in (old.activations if old else {}).items()
            if state is ActivationState.LEFT_TO_USER
        }
        ran = {a.tool: a.state for a in done.activations if a.state is not ActivationState.SKIPPED}
        content = receipt.dump(
            receipt.Receipt(
                done.id,
                self.plan.profiles,
                self.request,
                self.plan.boot_backend,
                done.header.boot_id,
                self.plan.settings,
                {path: journal.digest(content) for path, content in found.items() if content is not None},
                {**pending, **ran},
            )
        )
        return [FileChange(receipt.PATH, host.state(receipt.PATH), content, "receipt")]

    def log_line(self, done: Done) -> str:
        settings = " ".join(done.header.settings)
        profiles = ",".join(self.plan.profiles) or "none"
        said = f"profile {profiles}: {settings or 'nothing'}"
        return f"transaction {done.id} committed by {done.header.user}: {said}"
