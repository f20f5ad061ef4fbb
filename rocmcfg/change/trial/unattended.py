"""Wait for a trial that confirms itself, and state every reason against keeping its settings. Nobody can be
asked here, so anything that cannot be determined is a reason against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from secrets import token_hex

from rocmcfg.advice.doctor.judging.match import Match
from rocmcfg.advice.doctor.log_lines import LogLines
from rocmcfg.advice.doctor.reading.segments import LogRead
from rocmcfg.change.trial import record
from rocmcfg.facts.gpus import driver_of
from rocmcfg.facts.logins import somebody_logged_in
from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError, fail
from rocmcfg.model.trial import Trial
from rocmcfg.records import journal
from rocmcfg.records.steps import Event, TrialEvent

Sleep = Callable[[float], None]
# Seconds. One step of the wait is short so that a machine that was suspended meanwhile notices it.
STEP = 10.0
# A machine that was suspended longer than the first gets the second more, to show problems after resuming.
_ASLEEP, _AFTER_SLEEP = 30.0, 60.0
HEALTH_TIME = 300.0  # seconds
_SHOWN = 5  # lines of a failed health check
# A shell between rocmcfg and the check: a check that kills its parent kills this shell, which counts as a
# failure.
_APART = '/bin/sh -c "$1"; exit "$?"'


def uptime(view: HostView) -> float:
    """Return the seconds since the kernel started, including time asleep (/proc/uptime, CLOCK_BOOTTIME).
    Raise Unreadable."""
    try:
        return float((view.text("/proc/uptime") or "").split()[0])
    except (IndexError, ValueError) as problem:
        raise Unreadable("/proc/uptime", "it contains no number") from problem


def wait(view: HostView, trial: Trial, seconds: float, sleep: Sleep) -> None:
    """Wait until this many seconds after the start of the boot, or until the trial is no longer on record.
    Raise Unreadable."""
    while record.load(view) == trial and (left := seconds - uptime(view)) > 0:
        before, step = uptime(view), min(left, STEP)
        sleep(step)
        if uptime(view) - before > step + _ASLEEP:
            seconds = max(seconds, uptime(view) + _AFTER_SLEEP)


def withhold(host: Host, trial: Trial, reasons: Sequence[str], exit_code: ExitCode) -> RocmcfgError:
    """Record the reasons, and return the error to raise. The trial continues until somebody confirms or
    rejects it, or until the next boot ends it. The reasons are reported even if the record cannot be
    written."""
    host.log(f"trial of transaction {trial.transaction} not confirmed: {'; '.join(reasons)}")
    try:
        with host.lock():
            if record.load(host) == trial:
                journal.append(host, trial.transaction, TrialEvent(Event.WITHHELD, reasons=tuple(reasons)))
    except RocmcfgError as problem:
        reasons = [*reasons, *(f"not recorded: {d.summary}" for d in problem.diagnostics)]
    summary = f"the trial (transaction {trial.transaction}) did not confirm itself"
    detail = "\n".join(reasons)
    hint = (
        "keep its settings anyway with `rocmcfg confirm`, or end it with `rocmcfg "
        "reject`; the next boot ends it as well"
    )
    return fail("RC4340", summary, detail=detail, location=record.PATH, hint=hint, exit_code=exit_code)


def unbound(view: HostView, gpus_before: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each GPU that amdgpu no longer drives. `gpus_before` are the PCI addresses of the
    GPUs that amdgpu drove when the trial was applied."""
    for address in gpus_before:
        driver = driver_of(view, address)
        if not view.exists(f"/sys/bus/pci/devices/{address}"):
            yield f"the GPU {address} is gone; amdgpu drove it before the trial"
        elif driver != "amdgpu":
            yield f"the GPU {address} now uses {driver or 'no driver'}; amdgpu drove it before the trial"


def in_log(
    logs: Sequence[LogRead],
    resets: Sequence[LogLines],
    issues: Iterable[tuple[Match, Sequence[LogLines]]],
    *,
    begins: bool,
) -> Iterator[str]:
    """Yield what the kernel log says against the trial. `logs` are the logs of this boot alone; `issues` are
    pairs of a known issue and the lines that show it. `begins` says whether the logs include the first line
    of a boot, with the kernel's version."""
    if not any(log.size for log in logs):
        yield "the kernel log of this boot could not be read, so nothing is known about this boot"
        return
    yield from (f"{log.name} was read only in part: {log.problem}" for log in logs if log.problem)
    if not begins:
        yield (
            "the beginning of this boot's kernel log is missing, so problems during startup "
            "would go unnoticed"
        )
    if resets:
        yield f"a GPU hung or was reset: {resets[0].text}"
    for match, lines in issues:
        if match.there:
            line = lines[0].text if lines else match.issue.title
            yield f"the log shows a known issue, {match.issue.id}: {line}"


def no_login(view: HostView) -> Iterator[str]:
    """Yield the reason if no user is known to have logged in."""
    logged_in = somebody_logged_in(view)
    if logged_in is None:
        yield "it cannot be determined whether anybody logged in: the journal of this boot cannot be read"
    elif not logged_in:
        yield "no user has logged in since the boot"


def unhealthy(host: Host, command: str, progress: Callable[[str], None]) -> Iterator[str]:
    """Yield what the user's own health check says against the trial. A check that leaves programs behind
    counts as not finished."""
    progress(f"health check: {command}")
    mark = token_hex(16)
    argv = ("/bin/sh", "-c", _APART, "sh", command)
    done = host.execute(argv, timeout=HEALTH_TIME, progress=lambda: None, mark=mark)
    left = host.started(mark)
    if done.ok and not left:
        return
    end = f"ended with status {done.status}"
    if done.status is None:
        end = f"did not finish within {HEALTH_TIME:.0f} seconds"
    elif done.ok:
        end = f"left {left[0]} running, so its result means nothing"
    lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    output = f": {' / '.join(lines[-_SHOWN:])}" if lines else ""
    yield f"the health check `{command}` {end}{output}"
