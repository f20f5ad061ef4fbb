"""Run a program once for a try, and decide whether the run failed. It is decided here and nowhere else."""

from __future__ import annotations

import hashlib
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rocmcfg.facts.gpus import driven_gpus
from rocmcfg.host import runner
from rocmcfg.host.foreground import Ended, cannot_run
from rocmcfg.host.kernel_log import KernelLines, KernelLog, LogFile, read_to_end
from rocmcfg.host.unattended import Printed, Unattended
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import RocmcfgError, fail
from rocmcfg.model.experiment import Failure, Outcome
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records.tries import Begun

if TYPE_CHECKING:
    from rocmcfg.workflow.running import Cause

_QUIET = 3.0  # seconds without a grave line of the kernel after which a GPU counts as at rest
_LONGEST_UNREST = 120.0  # seconds
_STEP = 0.5  # seconds
_SHOWN = 80  # characters of a text that a pattern matched


class Stopped(Exception):
    """Somebody asked rocmcfg to stop. The run does not count."""


class Evidence(NamedTuple):
    """What a run left. `cause` is the fault that the kernel logged meanwhile."""

    outcome: Outcome
    cause: Cause | None
    printed: Printed
    window: KernelLines

    @property
    def digest(self) -> str:
        return self.printed.digest


def environment_of(begun: Begun, arm: int, surroundings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of an arm: the caller's, with exactly the settings of the arm."""
    named = {setting.name for setting in begun.design.settings}
    dropped = named if begun.design.kind == "drop" else {*begun.without}
    kept = {name: value for name, value in surroundings.items() if name not in dropped}
    return kept | {setting.name: setting.value for setting in begun.design.of(arm)}


# How a program is run to its end, at most for these seconds.
Start = Callable[[Unattended, Sequence[str], Mapping[str, str], "float | None"], Ended]


def directly(
    program: Unattended, command: Sequence[str], environment: Mapping[str, str], limit: float | None
) -> Ended:
    """Run a program as a child of rocmcfg, as its caller."""
    return program.run(command, environment, limit)


def run_once(
    view: HostView,
    begun: Begun,
    arm: int,
    environment: Mapping[str, str],
    mark: str,
    reference: str,
    passed_on_to: int | None = None,
    start: Start = directly,
) -> Evidence:
    """Run the program once. `reference` is the digest of the output that this one must equal, empty for none.
    Raises Stopped, or RocmcfgError where the program cannot be run or wants a terminal, or where its output
    cannot be searched."""
    terms, command = begun.terms, begun.program
    environment = {**environment, runner.MARK: mark}
    log = LogFile(terms.log) if terms.log else KernelLog()
    program = Unattended(terms.bad_output, passed_on_to)
    limit = terms.milliseconds / 1000 or None
    try:
        ended = start(program, command, environment, limit)
    except OSError as problem:
        raise cannot_run(command, problem) from problem
    if program.stopped:
        program.end_what_is_left(mark)
        raise Stopped
    if program.wants_terminal:
        program.end_what_is_left(mark)
        raise fail(
            "RC4505",
            f"{command[0]} reads the terminal, but a program in a try has none",
            hint="give it its input as arguments or from a file, or turn off its questions",
        )
    window = read_to_end(log, waits=bool(ended.signal))
    log.close()
    left_behind = program.end_what_is_left(mark)
    meanwhile = _cause(view, environment, window)
    failure, detail = _failure(ended, meanwhile, program.printed, terms.same_output, reference)
    why_unknown = program.printed.searched.problem
    if why_unknown and not failure:
        raise fail(
            "RC4519",
            f"cannot tell whether the output matches {terms.bad_output!r}: {why_unknown}",
            hint="begin again with a simpler --bad-if-output, such as a text that the line contains",
        )
    if not failure and terms.check:
        failure, detail = _checked(terms.check, environment, mark, limit, start)
    outcome = Outcome(arm, failure, detail, round(1_000_000 * ended.seconds), left_behind)
    return Evidence(outcome, meanwhile, program.printed, window)


def _cause(view: HostView, environment: Mapping[str, str], window: KernelLines) -> Cause | None:
    if not window.grave:
        return None
    from rocmcfg.workflow import running

    return running.cause(view, environment, window)


def _failure(
    ended: Ended, meanwhile: Cause | None, printed: Printed, same_output: bool, reference: str
) -> tuple[Failure, str]:
    """Return why a run failed, and more about that; empty where it did not. The fault of a GPU comes first,
    since it explains the rest."""
    end = _end(ended)
    if meanwhile is not None:
        return "gpu-fault", f"{meanwhile.id}: {meanwhile.title}" + (f"; {end}" if end else "")
    if ended.timed_out:
        return "timeout", end
    if ended.signal is not None:
        return "signal", end
    if ended.code:
        return "exit", end
    if printed.searched.match:
        text = printed.searched.match.decode("utf-8", "replace")
        return "bad-output", "".join(c if c.isprintable() else "?" for c in text[:_SHOWN])
    if same_output and reference and printed.digest != reference:
        return "different-output", ""
    return "", ""


def _end(ended: Ended) -> str:
    if ended.timed_out:
        return f"ended after {ended.seconds:.0f} s"
    if ended.signal is not None:
        return signal.Signals(ended.signal).name if ended.signal in set(signal.Signals) else str(ended.signal)
    return f"exit code {ended.code}" if ended.code else ""


def _checked(
    check: str, environment: Mapping[str, str], mark: str, limit: float | None, start: Start
) -> tuple[Failure, str]:
    program = Unattended()
    ended = start(program, ("/bin/sh", "-c", check), environment, limit)
    program.end_what_is_left(mark)
    if program.stopped:
        raise Stopped
    return ("check", _end(ended)) if ended.failed or ended.signal is not None else ("", "")


class Health:
    """The state of the GPUs after a fault: the next run must not pay for the one before. Whether a GPU still
    computes correctly is not checked."""

    def __init__(self, view: HostView, log: str) -> None:
        self._view, self._log = view, log
        self._gpus = driven_gpus(view)

    def require_rest(self) -> None:
        """Wait until the kernel logs no more warnings and errors. Raises RocmcfgError where it goes on for
        too long, or where a GPU that amdgpu drove is gone."""
        log = LogFile(self._log) if self._log else KernelLog()
        began = quiet_since = time.monotonic()
        grave = 0
        while time.monotonic() - quiet_since < _QUIET:
            time.sleep(_STEP)
            window = log.read()
            if window.grave != grave:
                grave, quiet_since = window.grave, time.monotonic()
            if time.monotonic() - began > _LONGEST_UNREST:
                log.close()
                raise _unhealthy("the kernel still logs warnings after the GPU fault")
        log.close()
        lost = [address for address in self._gpus if address not in driven_gpus(self._view)]
        if lost:
            raise _unhealthy(f"after the fault amdgpu no longer drives the GPU {lost[0]}")


def _unhealthy(summary: str) -> RocmcfgError:
    hint = "reboot, then continue with `rocmcfg tries resume`: the runs so far are kept"
    return fail("RC4506", summary, detail="a run now would fail for that reason alone", hint=hint)


def surroundings(environment: Mapping[str, str], salt: str) -> dict[str, str]:
    """Return a digest of each variable, by which a later change is noticed while no value is kept."""
    return {
        name: hashlib.sha256(f"{salt}\0{name}={value}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        for name, value in environment.items()
    }
