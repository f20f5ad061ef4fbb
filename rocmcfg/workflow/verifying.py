"""Verify: compare what was applied with what is configured and what is running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.change.trial import record as trial
from rocmcfg.facts import gpus, kernels
from rocmcfg.facts.gpus import read_gpus
from rocmcfg.host.view import HostView
from rocmcfg.knowledge import catalogue
from rocmcfg.model import spelling
from rocmcfg.model.checks import Check, CheckStatus, VerificationReport
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, Severity, info
from rocmcfg.model.facts import Machine
from rocmcfg.model.kargs import canonical
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Stage
from rocmcfg.records import receipt
from rocmcfg.records.journal import TRANSACTIONS, ids, require_finished
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.reboot import has_unwanted
from rocmcfg.state.verify import verify as check


def verify(view: HostView, names: Sequence[str] = (), pid: int | None = None) -> VerificationReport:
    """Compare the host with the active trial, or else with the receipt; or with the given profiles, whether
    or not rocmcfg applied them."""
    report = _verify(view, names, pid)
    report = report._replace(checks=_with_undone_cures(view, report.checks))
    if not view.kernel_is_lent:
        return report._replace(diagnostics=(*report.diagnostics, *_reached_in_part(view, report)))
    summary = "the running kernel belongs to another system, whose /proc is mounted in this root"
    detail = "only the configuration was checked, not the running kernel"
    lent = info("RC5005", summary, detail=detail, hint="boot that system and run `rocmcfg verify` there")
    return report._replace(diagnostics=(lent, *report.diagnostics))


def _with_undone_cures(view: HostView, checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the checks, each with the known issue whose cure its value undoes: the one that wins, or else
    the desired one."""
    cures = catalogue.load().cures

    def opposes(check: Check) -> bool:
        on = spelling.switched(_winning(check))
        of_it = cures.get(canonical(check.name), ())
        return on is not None and any(spelling.switched(cure.value) is not on for cure in of_it)

    if not any(map(opposes, checks)):
        return tuple(checks)
    from rocmcfg.judging.judge import undoes

    machine = _running_machine(view)

    def issue_of(check: Check) -> str:
        setting = spelling.split(f"{check.name}={_winning(check)}")
        undone = undoes(setting, machine, catalogue.load()) if opposes(check) else []
        return next((each.issue for each in undone if each.certain), "")

    return tuple(check._replace(undoes=issue_of(check)) for check in checks)


def _winning(check: Check) -> str | None:
    overridden = check.status is CheckStatus.OVERRIDDEN and check.configured is not None
    return check.configured if overridden else check.desired


def _running_machine(view: HostView) -> Machine:
    running = tuple(kernel for kernel in kernels.read_kernels(view, ()) if kernel.running)
    return Machine(running, gpus.read_gpus(view, catalogue.gpu_models()))


def _reached_in_part(view: HostView, report: VerificationReport) -> Iterator[Diagnostic]:
    """Yield a warning for each value that the running kernel has but may not be able to use in full."""
    knowledge = catalogue.load()
    in_effect = [each for each in report.checks if each.status is CheckStatus.IN_EFFECT and each.running]
    for each in in_effect:
        parameter = knowledge.parameters.get(each.name)
        if parameter and any(trap.kind == "limited" for trap in parameter.traps):
            from rocmcfg.change.planning.wording import worded
            from rocmcfg.judging.judge import judge

            machine = _running_machine(view)
            setting = spelling.parameter(each.name, each.desired)
            limits = [v for v in judge(setting, machine, knowledge) if v.trap_kind == "limited"]
            yield from filter(None, (worded(v, setting, "", knowledge, machine) for v in limits))


def _verify(view: HostView, names: Sequence[str], pid: int | None) -> VerificationReport:
    require_finished(view)
    applied = receipt.load(view)
    tried = trial.load(view)
    stage = trial.stage(view, tried) if tried is not None else Stage.OVER
    if tried is not None and stage is not Stage.OVER and set(names) <= set(tried.profiles):
        return trial.verify_trial(view, tried, stage, applied)
    if names:
        return _verify_profiles(view, names, applied, pid)
    report = verify_applied(view, applied, pid)
    if tried is not None:
        summary = f"the trial of transaction {tried.transaction} is over: the old configuration boots again"
        hint = "remove what is left of it with `sudo rocmcfg recover`"
        over = info("RC4326", summary, location=trial.PATH, hint=hint)
        report = report._replace(diagnostics=(over, *report.diagnostics))
    return report


def verify_applied(view: HostView, applied: Receipt | None, pid: int | None = None) -> VerificationReport:
    """Check what is permanently applied, whether or not there is a trial."""
    if applied is None:
        from rocmcfg.change.transaction.lost_records import record_lost

        lost = record_lost(view)
        if lost is not None and (lock_error := view.locked_by()) is not None:
            raise lock_error  # an apply writes its files before its receipt
        hint = "check a profile that rocmcfg did not apply with `rocmcfg verify --profile NAME`"
        nothing = info("RC5002", "nothing is applied on this host", hint=hint)
        return _with_undone(
            view, None, VerificationReport((), None, (), (lost or nothing,), lost is not None)
        )
    return _with_undone(view, applied, check(view, applied.settings, applied, applied.profiles, pid))


def _with_undone(view: HostView, applied: Receipt | None, report: VerificationReport) -> VerificationReport:
    """Return the report with what an undo left to the user: a program to run, or a reboot."""
    settings = applied.settings if applied else ()
    left = [*still_running(view, settings)] if trial.load(view) is None and not report.record_lost else []
    if max(() if view.hidden(TRANSACTIONS) else ids(view), default=0) > (report.transaction or 0):
        from rocmcfg.change.transaction.undo import unfinished

        left = [*unfinished(view), *left]
    return report._replace(diagnostics=(*report.diagnostics, *left))


def still_running(view: HostView, wanted: Sequence[DesiredSetting]) -> Iterator[Diagnostic]:
    """Yield a remark if the running kernel still has settings that are no longer wanted, or if only root can
    find out and nothing is wanted."""
    if has_unwanted(view, wanted):
        summary = "a reboot is due: the running kernel still has values that were rolled back"
        yield info("RC5006", summary, hint="reboot, then run `rocmcfg verify` again")
    elif not wanted and view.hidden(TRANSACTIONS):
        summary = "only root can find out whether the running kernel still has settings that were rolled back"
        yield info("RC5003", summary, location=TRANSACTIONS, hint="run the command as root")


def _verify_profiles(
    view: HostView, names: Sequence[str], applied: Receipt | None, pid: int | None
) -> VerificationReport:
    from rocmcfg.change.planning.automatic import expand_auto
    from rocmcfg.change.planning.plan import Known, make_plan
    from rocmcfg.knowledge import profiles
    from rocmcfg.workflow.planning import collect_facts, errors_first

    gpus = read_gpus(view, catalogue.gpu_models()) if "auto" in names else None
    wanted, _ = expand_auto(view, Request(profiles=tuple(names)), gpus or ())
    loaded = profiles.load(view, wanted)
    same = applied is not None and set(applied.profiles) == {profile.name for profile in loaded}
    # Without a boot loader, the user may have set a part.
    if applied is not None and same and applied.boot_backend:
        return check(view, applied.settings, applied, applied.profiles, pid)
    facts = collect_facts(view, gpus=gpus)
    request = applied.request if applied is not None and same else Request(tuple(wanted))
    fits = all(any(p.fits(g.gfx, g.integrated) for g in facts.gpus) for p in loaded if p.gfx)
    made = make_plan(
        view, loaded, request._replace(any_gpu=not fits), Known(facts, catalogue.load(), applied)
    )
    report = check(view, made.settings + made.by_hand, None, made.profiles, pid)
    # A plan's remarks are about an apply; so is the advice on how a built system gets the settings.
    renders = facts.boot.loader is not None and facts.boot.loader.renders
    done = renders and report.exit_code is not ExitCode.DIFFERENCES
    worse = [d for d in errors_first(made.diagnostics) if d.severity is not Severity.INFO]
    problems = [d for d in worse if not (done and d.id == "RC3015")]
    return report._replace(diagnostics=(*problems, *report.diagnostics))
