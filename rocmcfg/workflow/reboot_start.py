"""Begin a try with reboots: see beforehand, with every reason, whether it can come to an end here."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence

from rocmcfg.change.transaction.programs import Progress
from rocmcfg.change.trial import record
from rocmcfg.change.trial.plan import TRY_UNIT, has_systemd, unit_ready
from rocmcfg.experiments.reboots import boots_wanted, fewest_boots
from rocmcfg.facts.kernels import running_release
from rocmcfg.host.other_user import environment_for, limits, require_startable
from rocmcfg.host.state_dir import STATE_DIR, STATE_MODE
from rocmcfg.host.view import Host, HostView
from rocmcfg.loaders import registry
from rocmcfg.model.desired import DesiredSetting, Kind
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error, fail, warning
from rocmcfg.model.experiment import Design, Variable
from rocmcfg.model.plan import RowOutcome
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import same
from rocmcfg.model.trial import Terms as TrialTerms
from rocmcfg.records import journal, reboots, tries
from rocmcfg.records.journal import now, require_finished, require_trusted
from rocmcfg.records.reboots import RootTries
from rocmcfg.records.tries import Begun, Boots, Terms
from rocmcfg.state.boot_files import boot_files
from rocmcfg.workflow.as_unit import passes
from rocmcfg.workflow.boot_arms import running_values
from rocmcfg.workflow.planning import Planned, as_added, on_top, plan, receipt_or_none
from rocmcfg.workflow.rebooting import Machine, Taken, begin_boots


class Prepared(NamedTuple):
    """A try with reboots that can begin. `remarks` are what its owner should know before."""

    planned: Planned
    design: Design
    begun: Begun
    environment: dict[str, str]
    remarks: tuple[Diagnostic, ...]


def prepare(
    view: HostView,
    request: Request,
    program: tuple[str, ...],
    design: Design,
    terms: Terms,
    user: pwd.struct_passwd,
    environment: Mapping[str, str],
    *,
    going_down_fails: bool,
) -> Prepared:
    """Plan the treatment, and return the try. `design` has no settings yet. Raises RocmcfgError with what
    prevents it."""
    _require_enough(design)
    require_trusted(view)
    reboots.require_none(view)
    require_finished(view)
    record.require_none(view)
    _require_unit(view)
    _require_clock(view)
    wanted = on_top(view, request)
    planned = _treatment(view, wanted)
    settings = _under_test(view, planned)
    own, left_out = passes(environment_for(user, environment))
    folder = os.getcwd()
    require_startable(user, folder, program[0], own)
    boots = Boots(
        user.pw_name,
        limits(),
        planned.plan.boot_backend,
        running_release(view),
        running_values(view, tuple(s.parameter for s in settings if s.parameter)),
        wanted,
        planned.plan.profiles,
        planned.plan.settings,
        going_down_fails,
    )
    design = design._replace(settings=tuple(_variable(setting) for setting in settings))
    begun = Begun(now(), program, folder, design, terms, "", {}, profiles=request.profiles, boots=boots)
    remarks = list(planned.plan.diagnostics)
    if left_out:
        summary = (
            f"systemd passes no control characters on, so the program runs without: {', '.join(left_out)}"
        )
        remarks.append(warning("RC4616", summary, hint="set them in a script that starts the program"))
    return Prepared(planned, design, begun, own, tuple(remarks))


def begin(host: Host, prepared: Prepared, machine: Machine, progress: Progress) -> Taken:
    """Put the try on record, arm its first boot and reboot. What stops it before leaves nothing. Raises
    RocmcfgError."""
    host.make_dirs(STATE_DIR, STATE_MODE)
    state = RootTries(host)
    with state.locked():
        number = state.make()
        try:
            state.require_room()
            reboots.keep_environment(host, number, prepared.environment)
            loader = prepared.planned.plan.boot_backend
            reboots.keep_boot_files(host, number, boot_files(host, loader))
            tries.append(state, number, prepared.begun)
            attempt = tries.load(state, number)
            reboots.begin(host, number)
            return begin_boots(host, state, attempt, machine, progress)
        except BaseException:
            reboots.halt(host)
            state.remove(number)
            raise


def _require_enough(design: Design) -> None:
    least = fewest_boots(design.error)
    if design.boots >= least:
        return
    wanted = boots_wanted(0.9, design.error)
    raise fail(
        "RC4614",
        f"{design.boots} boots of each arm can show nothing at {design.confidence} % confidence",
        hint=f"--reboots {least} can, if every boot fails without the setting; {wanted} is better",
    )


def _require_unit(view: HostView) -> None:
    if not has_systemd(view):
        hint = "try variables without --reboots; try kernel settings by hand with `rocmcfg apply --trial`"
        raise fail("RC4611", "a try with reboots needs systemd, which goes on after each boot", hint=hint)
    if not unit_ready(view, TRY_UNIT):
        hint = f"enable it: sudo systemctl enable {TRY_UNIT} (the packages install it)"
        summary = f"the try would not go on after a reboot: {TRY_UNIT} is not enabled on this host"
        raise fail("RC4612", summary, hint=hint)


def _require_clock(view: HostView) -> None:
    newest = next(iter(journal.read_all(view)), None)
    if newest is not None and newest.header.time > now():
        summary = (
            f"the clock is set back: it shows {now()}, and the newest transaction is of {newest.header.time}"
        )
        hint = "set the clock first: rocmcfg needs the right time to find out how a boot ended"
        raise fail("RC4606", summary, location=journal.folder(newest.id), hint=hint)


def _treatment(view: HostView, request: Request) -> Planned:
    """Return the plan of the trial. Raises RocmcfgError, in the words of a try."""
    try:
        return plan(view, request, TrialTerms())
    except RocmcfgError as problem:
        raise RocmcfgError(*map(_in_words_of_a_try, problem.diagnostics)) from problem


def _in_words_of_a_try(diagnostic: Diagnostic) -> Diagnostic:
    if diagnostic.id == "RC4310":
        can = ", ".join(registry.trials())
        return error(
            "RC4613",
            f"no try with reboots here: {diagnostic.summary}",
            location=diagnostic.location,
            hint=f"boots of the treatment are trial boots, and these loaders can boot one: {can}",
        )
    if diagnostic.id == "RC4311":
        hint = "`rocmcfg try` without --reboots compares variables, and needs no root"
        return error("RC4604", "this would not change the kernel command line: no boot is needed", hint=hint)
    return diagnostic


def _under_test(view: HostView, planned: Planned) -> Sequence[DesiredSetting]:
    """Return the settings that the boots of the arms differ in. Raises RocmcfgError where they do not."""
    applied = receipt_or_none(view)
    before = {setting.spelled for setting in applied.settings} if applied else set()
    settings = [
        row.setting
        for row in planned.plan.rows
        if row.outcome is RowOutcome.APPLIED and row.setting.kind is not Kind.ENV
    ]
    settings = [setting for setting in settings if setting.spelled not in before]
    values = running_values(view, tuple(setting.parameter for setting in settings if setting.parameter))
    if planned.trial is None or all(
        setting.parameter and same(values.get(setting.parameter), setting.text) for setting in settings
    ):
        names = ", ".join(setting.spelled for setting in settings) or "everything that is asked for"
        summary = f"nothing would change: {names} is in force already"
        hint = (
            "take it back with `rocmcfg rollback` and reboot, then run this command again; a setting of your "
            "own has to be removed first"
        )
        raise fail("RC4605", summary, hint=hint)
    return settings


def _variable(setting: DesiredSetting) -> Variable:
    name, equals, value = as_added(setting).partition("=")
    return Variable(name, value, bare=not equals)
