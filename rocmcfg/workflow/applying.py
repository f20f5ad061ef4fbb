"""Plan, ask, carry out: one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity, error, fail
from rocmcfg.model.state import ActivationState, Request
from rocmcfg.model.trial import Stage, Terms, Trial
from rocmcfg.records.journal import require_finished, require_trusted
from rocmcfg.trial import record as trial
from rocmcfg.workflow.planning import Approved, Planned, plan, plan_approved

if TYPE_CHECKING:
    from rocmcfg.transaction.programs import Progress
    from rocmcfg.transaction.purpose import Purpose


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
) -> Planned | None:
    """Plan, ask, and carry out as one transaction; with `terms` as a trial. None where the user said no;
    without a transaction where there was nothing to do.
    `approved` is applied instead of what the request means now. `confirms` is the trial that this makes
    permanent: with any other on record nothing is applied.

    Where `confirm` asks somebody, the plan is made again after the answer: what the user saw must still be
    what happens.
    """
    from rocmcfg.planning.plan import stale
    from rocmcfg.transaction import transaction
    from rocmcfg.transaction.lost_records import record_due

    def planned_now() -> Planned:
        return plan_approved(host, request, approved) if approved else plan(host, request, terms)

    require_trusted(host)  # before a lock is written there
    with host.lock():
        require_finished(host)
        if confirms is None:
            trial.require_none(host)
        elif trial.load(host) != confirms or trial.stage(host, confirms) is not Stage.RUNNING:
            meanwhile = "the trial ended meanwhile, and nothing is kept"
            raise fail("RC4337", meanwhile, hint="see `rocmcfg history`")
        planned = planned_now()
        made = planned.plan
        # a trial on a host whose loader cannot take it back would not be one
        unsafe = [replace(d, severity=Severity.ERROR) for d in made.diagnostics if d.id == "RC4303"]
        if unsafe:
            raise RocmcfgError(*unsafe)
        if not made.changes and not (made.due and host.runs_tools) and not record_due(host):
            left = [step._replace(state=ActivationState.LEFT_TO_USER) for step in made.due]
            skipped = [step for step in made.activations if step not in made.due]
            return planned._replace(plan=made._replace(activations=(*left, *skipped)))
        if not confirm(planned):
            return None
        now = planned_now() if asks else planned
        changed = [_changed_meanwhile(path) for path in stale(made, now.plan)]
        if changed:
            raise RocmcfgError(*changed)
        done = transaction.execute(host, _purpose(now, confirms), progress)
    return now._replace(plan=now.plan._replace(activations=done.activations), transaction=done.id)


def _changed_meanwhile(path: str) -> Diagnostic:
    return error(
        "RC4004",
        f"{path} changed after the plan was made; nothing was changed",
        location=path,
        hint="run the command again and review the new plan",
    )


def _purpose(planned: Planned, confirms: Trial | None) -> Purpose:
    from rocmcfg.transaction.purpose import Purpose
    from rocmcfg.trial.purposes import Confirmation, OfOneBoot

    if confirms is not None:
        return Confirmation(planned.plan, planned.request, confirms)
    if planned.trial is not None:
        return OfOneBoot(planned.plan, planned.request, planned.trial)
    return Purpose(planned.plan, planned.request)
