"""Say why a program has failed that was run: by how it ended, and by what the kernel logged meanwhile."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from typing import Literal

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.facts.system import read_container
from rocmcfg.host.foreground import Ended
from rocmcfg.host.kernel_log import KernelLines
from rocmcfg.host.view import HostView
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.workflow.diagnosing import Candidate, FaultSeen, diagnose

_SENTENCE = regex(r"(?<=\.)\s+(?=[A-Z])")
Verdict = Literal["well", "known-issue", "fault", "hardware", "program", "unknown"]


class Cause(NamedTuple):
    """What the kernel's lines show. `sentence` begins in lower case. `action` is set for a fault class, and
    `options` for an issue that variables may cure: those of `try`."""

    verdict: Verdict
    sentence: str
    id: str
    title: str
    action: str
    next: str
    evidence: tuple[str, ...]
    options: str = ""


@published(
    "program=command verdict exit_code signal timed_out seconds sentence",
    "id title action next evidence log lines=line_count lines_lost problem",
)
class RunReport(NamedTuple):
    """A program that was run, and why it failed. `verdict` is `known-issue` or `fault` if the kernel logged
    one meanwhile, which `id` names, `hardware` if that fault is probably the hardware's, `program` if the
    kernel logged no fault of the GPU, and `unknown` if its log cannot be read. `signal` ended the program, or
    `exit_code` is set. `log` is where the kernel's lines come from, `problem` why they cannot be read, and
    `lines_lost` says that the kernel dropped some."""

    command: tuple[str, ...]
    verdict: Verdict
    exit_code: int | None
    signal: str | None
    timed_out: bool
    seconds: float
    sentence: str = ""
    id: str = ""
    title: str = ""
    action: str = ""
    next: str = ""
    evidence: tuple[str, ...] = ()
    options: str = ""
    log: str = ""
    line_count: int = 0
    lines_lost: bool = False
    problem: str = ""


def report(
    view: HostView,
    command: Sequence[str],
    environment: Mapping[str, str],
    ended: Ended,
    window: KernelLines,
) -> RunReport:
    """Return the report of a program that was run with this environment. `window` is what the kernel logged
    meanwhile."""
    name = signal.Signals(ended.signal).name if ended.signal in set(signal.Signals) else None
    made = RunReport(
        tuple(command),
        "well",
        ended.code,
        name or (f"signal {ended.signal}" if ended.signal is not None else None),
        ended.timed_out,
        round(ended.seconds, 3),
        log=window.source,
        line_count=window.total,
        lines_lost=window.lost,
        problem=window.problem,
    )
    meanwhile = cause(view, environment, window)
    if meanwhile is not None:
        return made._replace(
            **{**meanwhile._asdict(), "sentence": f"{_end_of(made)}, and {meanwhile.sentence}"}
        )
    if not ended.failed:
        return made
    if window.problem:
        how = how_to_allow(view)
        text = (
            f"{_end_of(made)}. It is unknown whether the GPU failed, because the kernel's log cannot be read"
        )
        return made._replace(verdict="unknown", sentence=f"{text} ({window.problem}): {how}.", next=how)
    searched = f"{window.total} lines" if window.total != 1 else "one line"
    searched = f"none of the {searched}" if window.total else "no line"
    but = ", though some lines were lost" if window.lost else ""
    text = f"{_end_of(made)}. Meanwhile the kernel logged no GPU fault ({searched}{but})"
    return made._replace(verdict="program", sentence=f"{text}: look for the cause in the program.")


def cause(view: HostView, environment: Mapping[str, str], window: KernelLines) -> Cause | None:
    """Return the first known issue or fault class that the kernel's lines show; None if they show none."""
    if not window.grave:
        return None
    diagnosis = diagnose(view, (), Options(), environment, window=window)
    issue = next((candidate for candidate in diagnosis.candidates if candidate.match.told), None)
    if issue is not None:
        return _of_issue(issue)
    faults = (seen for seen in diagnosis.faults if seen.match.fault.severity != "note")
    fault = next(faults, None)
    return _of_fault(fault) if fault is not None else None


def _of_issue(candidate: Candidate) -> Cause:
    issue, cure = candidate.match.issue, candidate.cure
    todo = cure.command or next(iter(cure.steps), "") or f"rocmcfg explain {issue.id}"
    return Cause(
        "known-issue",
        f"the kernel logged a known issue meanwhile: {issue.title} ({issue.id}). "
        f"{'Cure' if cure.command else 'Next'}: {todo}",
        issue.id,
        issue.title,
        "",
        todo,
        tuple(lines.text for lines in candidate.evidence),
        cure.options,
    )


def _of_fault(seen: FaultSeen) -> Cause:
    fault = seen.match.fault
    is_hardware = fault.blame[0] == "hardware"
    what = "a fault that is probably the hardware's" if is_hardware else "a fault"
    return Cause(
        "hardware" if is_hardware else "fault",
        f"the kernel logged {what} meanwhile: {fault.title} ({fault.id}). "
        f"Next: {_SENTENCE.split(fault.step)[0]} More: rocmcfg explain {fault.id}",
        fault.id,
        fault.title,
        fault.action,
        fault.step,
        tuple(lines.text for lines in seen.evidence),
    )


def _end_of(made: RunReport) -> str:
    """Return how the program ended, as the beginning of a sentence."""
    name = made.command[0].rpartition("/")[2]
    if made.timed_out:
        return f"{name} was ended after {made.seconds:.0f} s, at its time limit"
    if made.signal is not None:
        return f"{name} was ended by {made.signal}"
    return f"{name} ended with exit code {made.exit_code}" if made.exit_code else f"{name} ended well"


def how_to_allow(view: HostView) -> str:
    """Return how the caller gets to see what the kernel logs."""
    if read_container(view):
        return (
            "this is a container: run `rocmcfg doctor` on its host, or name with --log a file that the host "
            "writes its kernel log to"
        )
    return "add yourself to its readers with `sudo usermod -aG systemd-journal $USER`, and log in again"
