"""Plan, ask, carry out: one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import RocmcfgError, Severity, error
from rocmcfg.model.plan import Activation, Plan
from rocmcfg.model.request import Request
from rocmcfg.model.state import ActivationState
from rocmcfg.model.trial import Stage, Terms, Trial
from rocmcfg.records.journal import require_finished, require_trusted
from rocmcfg.trial import record as trial
from rocmcfg.workflow.planning import Approved, Planned, plan, plan_approved
from rocmcfg.workflow.undoing import Progress

if TYPE_CHECKING:
    from rocmcfg.transaction.purpose import Purpose


@dataclass(frozen=True, slots=True)
class Applied:
    """`transaction` is None where there was nothing to do."""

    planned: Planned
    transaction: int | None
    activations: tuple[Activation, ...]


def apply(
    host: Host,
    request: Request,
    confirm: Callable[[Planned], bool],
    progress: Progress,
    *,
    asks: bool = True,
    terms: Terms | None = None,
    approved: Approved | None = None,
    confirms: Trial | None = None,
) -> Applied | None:
    """Plan, ask, and carry out as one transaction; with `terms` as a trial. None where the user said no.
    `approved` is applied instead of what the request means now. `confirms` is the trial that this makes
    permanent: with any other on record nothing is applied.

    Where `confirm` asks somebody, the plan is made again after the answer: what the user saw must still be
    what happens.
    """
    from rocmcfg.planning.plan import stale
    from rocmcfg.transaction import transaction

    def planned_now() -> Planned:
        return plan_approved(host, request, approved) if approved else plan(host, request, terms)

    require_trusted(host)  # before a lock is written there
    with host.lock():
        require_finished(host)
        if confirms is None:
            trial.require_none(host)
        elif trial.load(host) != confirms or trial.stage(host, confirms) is not Stage.RUNNING:
            raise Ended()
        planned = planned_now()
        _require_checked(planned)
        if not _something_to_do(host, planned.plan):
            left = [_left_to_user(a) for a in planned.plan.due]
            return Applied(planned, None, (*left, *_skipped(planned.plan)))
        if not confirm(planned):
            return None
        now = planned_now() if asks else planned
        changed = list(stale(planned.plan, now.plan))
        if changed:
            raise StalePlan(changed)
        done = transaction.execute(host, _purpose(now, confirms), progress)
    return Applied(now, done.transaction, done.activations)


def _purpose(planned: Planned, confirms: Trial | None) -> Purpose:
    from rocmcfg.transaction.purpose import Purpose as ForGood

    if planned.trial is not None or confirms is not None:
        from rocmcfg.trial.purposes import Confirmation, OfOneBoot

        if confirms is not None:
            return Confirmation(planned.plan, planned.request, confirms)
        if planned.trial is not None:
            return OfOneBoot(planned.plan, planned.request, planned.trial)
    return ForGood(planned.plan, planned.request)


def _require_checked(planned: Planned) -> None:
    """A trial on a host whose loader cannot take it back would not be one."""
    if planned.trial is not None and not planned.trial.checked:
        raise RocmcfgError(
            *(replace(d, severity=Severity.ERROR) for d in planned.plan.diagnostics if d.id == "RC4303")
        )


class Ended(RocmcfgError):
    def __init__(self) -> None:
        super().__init__(
            error("RC4337", "the trial ended meanwhile, and nothing is kept", hint="see `rocmcfg history`")
        )


class StalePlan(RocmcfgError):
    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            *(
                error(
                    "RC4004",
                    f"{path} changed after the plan was made; nothing was changed",
                    location=path,
                    hint="run the command again and review the new plan",
                )
                for path in paths
            )
        )


def _something_to_do(host: HostView, made: Plan) -> bool:
    from rocmcfg.transaction.unrecorded import record_due

    return bool(made.changes) or (bool(made.due) and host.runs_tools) or record_due(host)


def _left_to_user(activation: Activation) -> Activation:
    return activation._replace(state=ActivationState.LEFT_TO_USER)


def _skipped(made: Plan) -> tuple[Activation, ...]:
    return tuple(a for a in made.activations if a.state is ActivationState.SKIPPED)
