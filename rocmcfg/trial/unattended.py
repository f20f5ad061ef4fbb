"""A trial that confirms itself: how long that waits, and what goes on record where it does not come about.
Nobody is asked here, so that whatever cannot be told speaks against keeping the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rocmcfg.host.view import Host, HostView, Locked, Unreadable
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, fail
from rocmcfg.model.trial import Trial
from rocmcfg.records import journal
from rocmcfg.records.steps import Event, TrialEvent
from rocmcfg.trial import record

T = TypeVar("T")
Sleep = Callable[[float], None]
# Seconds. One step of waiting is short, because a machine that slept meanwhile has to notice it.
_STEP = 10.0
# A machine that slept longer than this in one step gets this much more to show what the waking did.
_ASLEEP, _AFTER_SLEEP = 30.0, 60.0
_BUSY_TIME = 900.0  # another rocmcfg at work: update-initramfs may take that long


def uptime(view: HostView) -> float:
    """Seconds since the kernel began, those asleep among them (/proc/uptime, CLOCK_BOOTTIME)."""
    try:
        return float((view.text("/proc/uptime") or "").split()[0])
    except (IndexError, ValueError) as problem:
        raise Unreadable("/proc/uptime", "it holds no number") from problem


def wait(view: HostView, found: Trial, seconds: float, sleep: Sleep) -> None:
    """Until so many seconds after the boot's begin, or until the trial is on record no more."""
    while record.load(view) == found and (left := seconds - uptime(view)) > 0:
        before, step = uptime(view), min(left, _STEP)
        sleep(step)
        if uptime(view) - before > step + _ASLEEP:
            seconds = max(seconds, uptime(view) + _AFTER_SLEEP)


def when_free(act: Callable[[], T], sleep: Sleep) -> T:
    """What `act` gives, once no other rocmcfg is at work. Raises Locked where that takes too long."""
    waited = 0.0
    while True:
        try:
            return act()
        except Locked:
            if waited >= _BUSY_TIME:
                raise
            sleep(_STEP)
            waited += _STEP


def withhold(host: Host, found: Trial, reasons: Sequence[str], exit_code: ExitCode) -> RocmcfgError:
    """What to raise, put on record before: the trial goes on until somebody confirms or rejects it, or until
    the next boot ends it. A record that cannot be written takes nothing from the reasons."""
    host.log(f"trial of transaction {found.transaction} not confirmed: {'; '.join(reasons)}")
    try:
        with host.lock():
            if record.load(host) == found:
                journal.append(host, found.transaction, TrialEvent(Event.WITHHELD, reasons=tuple(reasons)))
    except RocmcfgError as problem:
        reasons = [*reasons, *(f"not on record: {d.summary}" for d in problem.diagnostics)]
    return fail(
        "RC4340",
        f"the trial (transaction {found.transaction}) did not confirm itself",
        detail="\n".join(reasons),
        location=record.PATH,
        hint="`rocmcfg confirm` keeps its settings all the same, `rocmcfg reject` ends it; so does "
        "the next boot",
        exit_code=exit_code,
    )
