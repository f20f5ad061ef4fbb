"""Keep the settings of a trial: when somebody confirms it, or automatically if everything is well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.change.transaction.programs import Progress
from rocmcfg.change.trial import ends, record, unattended
from rocmcfg.change.trial.plan import beaten
from rocmcfg.host.view import Host, HostView
from rocmcfg.host.waiting import when_free
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.experiment import boots_name
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.workflow.applying import apply
from rocmcfg.workflow.planning import Approved, Planned, require_no_errors


def confirm(
    host: Host, ask: Callable[[Planned], bool], progress: Progress, *, asks: bool = True
) -> Planned | None:
    """Apply permanently what this boot tries. Return None if the user declined. Raise as `ends.proven`
    does."""
    proven = ends.proven(host)

    def as_tried(planned: Planned) -> bool:
        require_no_errors([*beaten(planned.plan)])
        return ask(planned)

    approved = Approved(proven.profiles, proven.approved)
    return apply(host, proven.request, as_tried, progress, asks=asks, approved=approved, confirms=proven)


def watch(
    host: Host, sleep: unattended.Sleep, ask: Callable[[Planned], bool], progress: Progress
) -> Planned | str:
    """Wait until the trial's time has come, then confirm it if everything is well. Return what was applied,
    or why there was nothing to do. `ask` gets the plan before it is carried out. Raise RocmcfgError with
    every reason against it, after recording the reasons."""
    on_record = record.load(host)
    if on_record is None or record.stage(host, on_record) is not Stage.RUNNING:
        return "no trial is running in this boot"
    if on_record.terms.of_try is not None:
        return f"the trial is a boot of try {boots_name(on_record.terms.of_try)}, which keeps none"
    after = on_record.terms.confirm_after
    if after is None:
        return "the trial waits for `rocmcfg confirm`: it is not set to confirm itself"
    progress(
        f"trial of transaction {on_record.transaction}: it will be checked {after} seconds after the boot"
    )
    unattended.wait(host, on_record, after, sleep)
    decided = "the trial was confirmed or rejected meanwhile"
    if record.load(host) != on_record:
        return decided
    # first the checks that use the GPU, then the log that they may have changed
    check = on_record.terms.health_check
    reasons = _reasons(
        lambda: unattended.unhealthy(host, check, progress) if check else unattended.no_login(host)
    )
    reasons += _against(host, on_record)

    def still(planned: Planned) -> bool:
        """Return whether the trial may still be confirmed. Called with the lock held, which may have taken a
        while."""
        reasons.extend(_against(host, on_record))
        return not reasons and ask(planned)

    applied, cause, exit_code = None, None, ExitCode.ERROR
    try:
        if not reasons:
            applied = when_free(
                lambda: confirm(host, still, progress, asks=False), sleep, step=unattended.STEP
            )
    except RocmcfgError as problem:
        cause, exit_code = problem, problem.exit_code
        reasons = [diagnostic.summary for diagnostic in problem.diagnostics]
    if reasons and record.load(host) != on_record:
        return decided
    if reasons:
        raise unattended.withhold(host, on_record, reasons, exit_code) from cause
    host.log(f"trial of transaction {on_record.transaction} confirmed itself")
    return applied or decided


def _against(host: Host, tried: Trial) -> list[str]:
    reasons = _reasons(
        lambda: (f"{check.summary}; {check.detail}" for check in ends.not_in_effect(host, tried))
    )
    return reasons + _reasons(lambda: objections(host, tried.gpus))


def _reasons(look: Callable[[], Iterator[str]]) -> list[str]:
    """Return the reasons against keeping the settings. A check that cannot be made is itself a reason."""
    reasons: list[str] = []
    try:
        reasons += look()
    except RocmcfgError as problem:
        reasons += [diagnostic.summary for diagnostic in problem.diagnostics]
    return reasons


def objections(view: HostView, gpus_before: Sequence[str]) -> Iterator[str]:
    """Yield what the GPUs and the kernel log of this boot say against keeping the settings."""
    from rocmcfg.workflow.diagnosing import diagnose

    seen = diagnose(view, (), Options(), {}, this_boot=True)
    yield from unattended.unbound(view, gpus_before)
    issues = [(match.match, match.evidence) for match in seen.candidates]
    yield from unattended.in_log(seen.logs, seen.resets, issues, begins=bool(seen.where.log.kernels))
