"""What speaks against keeping the settings of a trial, as sentences: GPUs that lost their driver, what the
kernel's log of the trial's boot shows, a setting that is not in effect, nobody who logged in, a health check
that failed. What cannot be read speaks against keeping them as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from secrets import token_hex

from rocmcfg.doctor.judging.ranking import Match
from rocmcfg.doctor.log_lines import LogLines
from rocmcfg.doctor.reading.segments import LogRead
from rocmcfg.facts.gpus import driver_of
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import ExitCode
from rocmcfg.model.report import PASSES, VerificationReport

HEALTH_TIME = 300.0  # seconds
_SHOWN = 5  # lines of a failed health check
# A shell between us and the check: a check that ends its parent ends this one, which is a failure as well.
_APART = '/bin/sh -c "$1"; exit "$?"'


def unbound(view: HostView, gpus_before: Iterable[str]) -> Iterator[str]:
    """`gpus_before` are the PCI addresses that amdgpu drove when the trial was applied."""
    for address in gpus_before:
        driver = driver_of(view, address)
        if not view.exists(f"/sys/bus/pci/devices/{address}"):
            yield f"the GPU {address} is gone; amdgpu drove it before the trial"
        elif driver != "amdgpu":
            yield f"the GPU {address} has {driver or 'no driver'} now; amdgpu drove it before the trial"


def in_log(
    logs: Sequence[LogRead],
    resets: Sequence[LogLines],
    issues: Iterable[tuple[Match, Sequence[LogLines]]],
    *,
    begins: bool,
) -> Iterator[str]:
    """`logs` are what was read of this boot and of no other; with each issue the lines that speak for it.
    `begins`: the first line of a boot, with the kernel's version, is among them."""
    if not any(log.size for log in logs):
        yield "no kernel log of this boot could be read, so nothing can be said of it"
        return
    yield from (f"{log.name} was read in part only: {log.problem}" for log in logs if log.problem)
    if not begins:
        yield "the beginning of this boot's kernel log is gone, and with it what happened then"
    if resets:
        count = sum(one.count for one in resets)
        more = f" (the first of {count} such lines)" if count > 1 else ""
        yield f"a GPU hung or was reset: {resets[0].text}{more}"
    for match, lines in issues:
        if match.there:
            line = lines[0].text if lines else match.issue.title
            yield f"the log shows a known issue, {match.issue.id}: {line}"


def not_in_effect(report: VerificationReport) -> Iterator[str]:
    for check in report.checks:
        if check.status not in PASSES:
            running = "cannot be read" if check.running is None else f"is {check.running}"
            yield f"{check.name} shall be {check.desired} and {running} on the running kernel"
    if report.trial is None or (report.exit_code is not ExitCode.DONE and not report.checks):
        yield "`rocmcfg verify` does not check the trial here"


def nobody(view: HostView) -> Iterator[str]:
    """Why nobody is known to have logged in."""
    from rocmcfg.facts.logins import logins

    found = logins(view)
    if found is None:
        yield "whether anybody logged in cannot be told: neither the journal nor systemd-logind answers"
    elif not found:
        yield "nobody has logged in since the boot"


def unhealthy(host: Host, command: str, progress: Callable[[str], None]) -> Iterator[str]:
    """What the user's own check says against it. One that leaves programs behind has not come to its end."""
    progress(f"health check: {command}")
    mark = token_hex(16)
    argv = ("/bin/sh", "-c", _APART, "sh", command)
    done = host.execute(argv, timeout=HEALTH_TIME, progress=lambda: None, mark=mark)
    left = host.started(mark)
    if done.ok and not left:
        return
    end = f"ended with status {done.status}"
    if done.status is None:
        end = f"did not end within {HEALTH_TIME:.0f} seconds"
    elif done.ok:
        end = f"left {left[0]} at work, so that its end says nothing"
    lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    said = f": {' / '.join(lines[-_SHOWN:])}" if lines else ""
    yield f"the health check `{command}` {end}{said}"
