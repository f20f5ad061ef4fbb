"""What speaks against keeping the settings of a trial, as sentences: GPUs that lost their driver, and what
the kernel's log of the trial's boot shows. A log that cannot be read speaks against it, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.doctor.judging.ranking import Match
from rocmcfg.doctor.log_lines import LogLines
from rocmcfg.doctor.reading.segments import LogRead
from rocmcfg.facts.gpus import driver_of
from rocmcfg.host.view import HostView


def unbound(view: HostView, gpus_before: Iterable[str]) -> tuple[str, ...]:
    """`gpus_before` are the PCI addresses that amdgpu drove when the trial was applied."""
    found = []
    for address in gpus_before:
        driver = driver_of(view, address)
        if not view.exists(f"/sys/bus/pci/devices/{address}"):
            found.append(f"the GPU {address} is gone; amdgpu drove it before the trial")
        elif driver != "amdgpu":
            found.append(
                f"the GPU {address} has {driver or 'no driver'} now; amdgpu drove it before the trial"
            )
    return tuple(found)


def in_log(
    logs: Sequence[LogRead],
    resets: Sequence[LogLines],
    issues: Iterable[tuple[Match, Sequence[LogLines]]],
    *,
    begins: bool,
) -> tuple[str, ...]:
    """`logs` are what was read of this boot and of no other; with each issue the lines that speak for it.
    `begins`: the first line of a boot, with the kernel's version, is among them."""
    if not any(log.size for log in logs):
        return ("no kernel log of this boot could be read, so nothing can be said of it",)
    found = [f"{log.name} was read in part only: {log.problem}" for log in logs if log.problem]
    if not begins:
        found.append("the beginning of this boot's kernel log is gone, and with it what happened then")
    if resets:
        count = sum(one.count for one in resets)
        more = f" (the first of {count} such lines)" if count > 1 else ""
        found.append(f"a GPU hung or was reset: {resets[0].text}{more}")
    for match, lines in issues:
        if match.there:
            line = lines[0].text if lines else match.issue.title
            found.append(f"the log shows a known issue, {match.issue.id}: {line}")
    return tuple(found)
