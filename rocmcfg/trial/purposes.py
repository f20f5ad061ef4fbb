"""The transactions of a trial: one boot's settings, their confirmation, what is left without a journal."""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import registry
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.model.state import Request
from rocmcfg.model.trial import Trial, TrialPlan
from rocmcfg.records import receipt
from rocmcfg.records.steps import Begin, Expectations, OneBoot
from rocmcfg.transaction.purpose import Done, Purpose
from rocmcfg.trial import record


class OfOneBoot(Purpose):
    """It takes effect by its last step alone, the tool change: what is cut off before that has only written
    what does nothing by itself."""

    def __init__(self, plan: Plan, request: Request, tried: TrialPlan) -> None:
        super().__init__(plan, request)
        self.tried = tried
        loader = registry.trial(plan.boot_backend)
        assert loader is not None, plan.boot_backend  # a plan for another one is refused
        self.loader = loader

    def header(self, host: Host) -> Begin:
        return super().header(host)._replace(trial=OneBoot(self.tried.token, self.tried.arguments))

    def expectations(self) -> Expectations:
        return Expectations(self.plan.boot_backend, (self.loader.TOKEN,), (self.loader.TOKEN,), ())

    def proof(self, host: Host) -> list[Diagnostic]:
        return self.loader.check(host, self.tried.arguments)

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        content = receipt.dump(
            Trial(
                done.id,
                self.plan.profiles,
                self.request,
                self.plan.boot_backend,
                done.header.boot_id,
                done.header.time,
                self.plan.settings,
                **self.tried._asdict(),
            )
        )
        return [FileChange(record.PATH, host.state(record.PATH), content, "trial")]

    def log_line(self, done: Done) -> str:
        settings = " ".join(done.header.settings)
        return f"transaction {done.id}, a trial of the next boot, by {done.header.user}: {settings}"


class Confirmation(Purpose):
    """It makes a trial permanent, which is on record no more afterwards."""

    def __init__(self, plan: Plan, request: Request, confirms: Trial) -> None:
        super().__init__(plan, request)
        self.confirms = confirms

    def header(self, host: Host) -> Begin:
        return super().header(host)._replace(confirms=self.confirms.transaction)

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:
        return [*super().records(host, done), *_forgotten(host)]


class Sweep(Purpose):
    """It takes away what is left of a trial; what is applied stays on record as it is."""

    clears = True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, Request())

    def header(self, host: Host) -> Begin:
        return super().header(host)._replace(swept=True)

    def records(self, host: Host, done: Done) -> Sequence[FileChange]:  # noqa: ARG002
        return _forgotten(host)


def _forgotten(host: Host) -> list[FileChange]:
    if host.is_symlink(record.PATH):
        host.remove(record.PATH)
    state = host.state(record.PATH)
    return [FileChange(record.PATH, state, None, "trial")] if state is not None else []
