"""Decide what this boot is to a try with reboots: the boot of an arm, the one after a treatment that got
nowhere, or one that says nothing about either arm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rocmcfg.change.trial import ends, evidence, record
from rocmcfg.change.trial.standing import past_trial
from rocmcfg.facts.kernels import running_release
from rocmcfg.host.view import HostView
from rocmcfg.model.experiment import CONTROL, Failure, LostBoot
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.trial import Outcome as Stand
from rocmcfg.model.trial import Stage, Trial
from rocmcfg.records import journal
from rocmcfg.records.tries import Armed, Boots, Started
from rocmcfg.state.values import Running, trial_token


class Judged(NamedTuple):
    """What became of the boot of an arm. One of these: it is this boot; it has failed, with more about that;
    or it is lost. `got_nowhere` are further boots in between of which nothing else is known."""

    here: bool = False
    failure: Failure = ""
    detail: str = ""
    lost: LostBoot | Literal[""] = ""
    got_nowhere: int = 0


def of_armed(view: HostView, number: int, boots: Boots, armed: Armed) -> Judged:
    """Return what became of the boot that was armed in an earlier one."""
    if running_release(view) != boots.kernel:
        return Judged(lost="other-kernel")
    if armed.arm == CONTROL:
        as_armed = not is_marked(view) and running_values(view, boots.values) == {**boots.values}
        between = evidence.boots_between(view, armed.boot)
        return Judged(here=as_armed, lost="" if as_armed else "other-values", got_nowhere=between)
    trial = running_trial(view, number)
    if trial is not None:
        proven = not ends.not_in_effect(view, trial)
        return Judged(here=proven, lost="" if proven else "other-values")
    return _fallen_back(view, armed)


def _fallen_back(view: HostView, armed: Armed) -> Judged:
    """Return what became of a treatment boot that is not this one. A boot that got nowhere fell back to this
    one, and the setting has to answer for it, unless it never began or was shut down properly."""
    every = journal.read_all(view)
    armed_then = (t for t in every if t.header.trial is not None and t.header.boot_id == armed.boot)
    transaction = next(armed_then, None)
    past = past_trial(view, transaction, every) if transaction is not None else None
    if past is None or past.outcome is not Stand.NOT_CONFIRMED:
        return Judged(lost="not-begun")
    seen = past.evidence
    if seen is not None and seen.boot_id and evidence.was_shut_down(view, seen.boot_id):
        return Judged(lost="shut-down")
    return Judged(failure="did-not-come-up", detail=seen.text if seen is not None else "")


def of_cut_off(view: HostView, boots: Boots, started: Started) -> Judged:
    """Return what became of a boot whose run began and did not end, now that another boot is here."""
    if evidence.was_shut_down(view, started.boot):
        return Judged(lost="shut-down")
    if evidence.panicked(view, started.time):
        return Judged(failure="machine-went-down", detail="the kernel panicked")
    if boots.going_down_fails:
        return Judged(failure="machine-went-down")
    return Judged(lost="went-down")


def running_trial(view: HostView, number: int) -> Trial | None:
    """Return the trial of this try whose boot this is; None in any other boot."""
    trial = record.load(view)
    if trial is None or trial.terms.of_try != number or record.stage(view, trial) is not Stage.RUNNING:
        return None
    return trial


def is_marked(view: HostView) -> bool:
    """Return whether this is the boot of a trial, whichever it is: its values stay until the next boot."""
    return trial_token(view) is not None


def running_values(view: HostView, names: Mapping[str, str] | tuple[str, ...]) -> dict[str, str]:
    """Return the values of these parameters that the running kernel shows."""
    running = Running(view)
    values = {name: running.parameter(name).value for name in names}
    return {name: value for name, value in values.items() if value is not None}
