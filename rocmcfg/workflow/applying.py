"""Plan, ask, and carry out one transaction, also when a kernel is installed later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rocmcfg.change.planning.refusals import judged_on, request_without
from rocmcfg.change.transaction import undo_script
from rocmcfg.change.transaction.lost_records import record_due
from rocmcfg.change.transaction.programs import generators
from rocmcfg.change.trial import record as trial
from rocmcfg.facts.kernels import read_kernels
from rocmcfg.host.view import Host, Locked
from rocmcfg.host.waiting import when_free
from rocmcfg.knowledge import catalogue
from rocmcfg.loaders import registry
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.diagnostic import Diagnostic, Severity, error, fail, warning
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Stage, Terms, Trial
from rocmcfg.records import reboots, receipt
from rocmcfg.records.journal import require_finished, require_trusted
from rocmcfg.records.receipt import Receipt
from rocmcfg.workflow.planning import Approved, Planned, plan, plan_approved, require_no_errors

if TYPE_CHECKING:
    from rocmcfg.change.transaction.programs import Progress


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
    planned_now: Callable[[], Planned] | None = None,
) -> Planned | None:
    """Plan, ask, and carry out the plan as one transaction; with `terms` as a trial. Return None if the user
    declined; return a plan without a transaction if there was nothing to do. `approved` is applied instead of
    what the request means now. `confirms` is the trial that this makes permanent; while any other trial is on
    record, or a try compares boots, nothing is applied. `planned_now` makes the plan, if the request alone
    does not say it. If `confirm` asks the user, make the plan again after the answer: what the user saw must
    still be what happens."""
    from rocmcfg.change.planning.plan import stale
    from rocmcfg.change.transaction import transaction
    from rocmcfg.change.trial.ends import Confirmation
    from rocmcfg.change.trial.plan import OfOneBoot

    def of_request() -> Planned:
        return plan_approved(host, request, approved, terms) if approved else plan(host, request, terms)

    make = planned_now or of_request

    require_trusted(host)  # before the lock is written there
    if approved is None:  # or else root agreed to it before, for a trial, a try or a new kernel
        reboots.require_none(host)
    host.wait_for_package_manager(progress, generators())
    with host.lock():
        require_finished(host)
        if confirms is None:
            trial.require_none(host)
        elif trial.load(host) != confirms or trial.stage(host, confirms) is not Stage.RUNNING:
            meanwhile = "the trial has ended meanwhile, so nothing was kept"
            raise fail("RC4337", meanwhile, hint="see `rocmcfg history`")
        planned = make()
        made = planned.plan
        # a trial that the loader of the host cannot end would not be a trial
        require_no_errors([d._replace(severity=Severity.ERROR) for d in made.diagnostics if d.id == "RC4303"])
        to_run = host.runs_tools and (made.due or made.tools)
        if not made.changes and not to_run and not record_due(host):
            left = [step._replace(state=ActivationState.LEFT_TO_USER) for step in made.due]
            skipped = [step for step in made.activations if step not in made.due]
            return planned._replace(plan=made._replace(activations=(*left, *skipped)))
        if not confirm(planned):
            return None
        # it may have started while the user read the plan
        host.require_no_package_manager(generators())
        now = make() if asks else planned
        changed = [
            error(
                "RC4004",
                f"{path} changed after the plan was made; nothing was changed",
                location=path,
                hint="run the command again and review the new plan",
            )
            for path in stale(made, now.plan)
        ]
        require_no_errors(changed)
        purpose = transaction.Purpose(now.plan, now.request, now.facts)
        if confirms is not None:
            purpose = Confirmation(now.plan, now.request, now.facts, confirms)
        elif now.trial is not None:
            purpose = OfOneBoot(now.plan, now.request, now.facts, now.trial)
        done = transaction.execute(host, purpose, progress)
    return now._replace(plan=now.plan._replace(activations=done.activations), transaction=done.id)


def check_kernel(host: Host, release: str, progress: Progress) -> list[Diagnostic]:
    """Check a kernel that was just installed, for its hook: warn about settings that it does not have, and
    withdraw those that would keep its driver from loading. Wait until no other rocmcfg is running, except for
    one that waits for an answer, because that one makes its plan again afterwards. Raise Unreadable if the
    receipt may not be rocmcfg's."""

    def checked() -> list[Diagnostic]:
        if (lock_error := host.locked_by()) is not None:
            progress(f"waiting for another rocmcfg before checking kernel {release}")
            raise lock_error
        return _check_kernel(host, release, progress)

    try:
        return when_free(checked, through_questions=False)
    except Locked as problem:
        hint = f"run this after it has finished: sudo rocmcfg check-kernel {release}"
        summary = f"kernel {release} was not checked: {problem.diagnostics[0].detail}"
        return [warning("RC4036", summary, hint=hint)]


def _check_kernel(host: Host, release: str, progress: Progress) -> list[Diagnostic]:
    try:
        applied = receipt.load(host)
    except receipt.BadReceipt as problem:
        return [reason._replace(severity=Severity.WARNING) for reason in problem.diagnostics]
    if applied is None:
        return []
    modules = tuple(dict.fromkeys(s.module for s in applied.settings if s.module))
    kernel = next((k for k in read_kernels(host, modules) if k.release == release), None)
    if kernel is None:
        return [
            warning("RC4040", f"kernel {release} is not installed here", hint="choose one in /lib/modules")
        ]
    remarks, harmful = judged_on(kernel, applied, catalogue.load())
    if harmful:
        remarks += _withdraw(host, applied, harmful, release, progress)
    if registry.entry_writer(applied.boot_backend) is not None:
        with host.lock():
            registry.write_entries(host, applied.boot_backend)
            undo_script.renew_quietly(host)
    return remarks


def _withdraw(
    host: Host, applied: Receipt, harmful: Sequence[str], release: str, progress: Progress
) -> list[Diagnostic]:
    request = request_without(applied, harmful)
    # only what was approved: nobody can be asked here, and anybody may have written the profile's file
    kept = tuple(s for s in applied.settings if s.id not in harmful)
    approved = Approved(applied.profiles, kept, applied.by_hand)
    summary = f"withdrew {', '.join(harmful)}: kernel {release} would not have loaded the driver"
    remarks = [warning("RC4042", summary, hint="see `rocmcfg history`")]
    try:
        apply(host, request, lambda _: True, progress, asks=False, approved=approved)
    # The configuration that the trial falls back to must load on this kernel as well.
    except trial.TrialOnRecord:
        from rocmcfg.workflow.undoing import reject

        reject(host, lambda _: True, progress, force=True)
        apply(host, request, lambda _: True, progress, asks=False, approved=approved)
        summary = (
            "the trial was ended: the configuration that it would fall back to had to be "
            f"changed for kernel {release}"
        )
        ended = warning("RC4043", summary, hint="reboot, then try it again")
        remarks.insert(0, ended)
    host.log(
        f"kernel {release}: withdrew {', '.join(harmful)}, which would have kept its driver from loading"
    )
    return remarks
