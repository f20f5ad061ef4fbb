"""Put the runs of a try on record, each before what comes next begins."""

from __future__ import annotations

import secrets
import shlex
from collections import Counter

from rocmcfg.host.user_state import UserState
from rocmcfg.model.diagnostic import cut, fail
from rocmcfg.model.experiment import CONTROL
from rocmcfg.records import tries
from rocmcfg.records.journal import now
from rocmcfg.records.tries import REFERENCE, Ran, Started, Try
from rocmcfg.workflow.one_run import Evidence

_KEPT = 3  # failures of each arm whose output and log are kept
_UNLIKE = 20  # good runs of the control without two equal outputs, after which none are expected
_CANNOT_RUN = (126, 127)  # exit codes of a shell for a program that it cannot run


class RunLog:
    """The runs of a try. `reference` is the digest of the output that others are compared with: the first one
    that two good runs of the control printed, since a single run may have printed the fault."""

    def __init__(self, state: UserState, attempt: Try) -> None:
        self._state, self._number, self._begun = state, attempt.number, attempt.begun
        self._runs = len(attempt.outcomes)
        self.reference = attempt.reference
        ran = [line for line in attempt.lines if isinstance(line, Ran)]
        self._printed = [line.printed for line in ran if line.printed]
        self._kept = Counter(line.outcome.arm for line in ran if line.kept)

    def start(self, arm: int, boot: str) -> str:
        """Note that a run is about to start, and return the mark of its processes. Raises Unwritable, also
        where the disk is so full that its outcome might be lost."""
        self._state.require_room()
        mark = secrets.token_hex(16)
        tries.append(self._state, self._number, Started(now(), arm, boot, mark))
        return mark

    def require_runnable(self, evidence: Evidence) -> None:
        """Raise RocmcfgError where the first run of the try ended as a shell ends for a program that it
        cannot run."""
        outcome, program = evidence.outcome, self._begun.program
        ends = {f"exit code {code}" for code in _CANNOT_RUN}
        if self._runs or outcome.failure != "exit" or outcome.detail not in ends:
            return
        summary = (
            f"{program[0]} ended with {outcome.detail}, which means that a shell could not run a program"
        )
        printed = evidence.printed.kept.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise fail("RC4507", summary, detail=cut(printed), hint=f"run it once by hand: {shlex.join(program)}")

    def add(self, evidence: Evidence) -> None:
        """Note how the run ended, and keep the output of the first failures of each arm. Raises
        Unwritable."""
        self._runs += 1
        outcome = evidence.outcome
        files: tuple[str, ...] = ()
        if outcome.failure and self._kept[outcome.arm] < _KEPT:
            self._kept[outcome.arm] += 1
            files = self._keep(evidence)
        is_sought = self._begun.terms.same_output and not self.reference
        printed = evidence.digest if is_sought and outcome.arm == CONTROL and not outcome.failure else ""
        new = printed if printed in self._printed else ""
        if new:
            self._state.keep(self._number, REFERENCE, evidence.printed.kept)
        fault = evidence.cause.id if evidence.cause is not None else ""
        tries.append(self._state, self._number, Ran(now(), outcome, fault, files, new, printed))
        self._printed += [printed] if printed else []
        self.reference = new or self.reference

    def require_comparable(self) -> None:
        """Raise RocmcfgError where the output differs in each run, so that it shows no failure."""
        runs, program = len(self._printed), self._begun.program[0]
        if self.reference or runs < _UNLIKE:
            return
        raise fail(
            "RC4517",
            f"{program} printed something else in each of {runs} runs",
            detail="--same-output compares whole outputs, with their times and addresses; or nearly every "
            "run prints something wrong",
            hint="begin again without --same-output: --bad-if-output or --check may find what is wrong",
        )

    def _keep(self, evidence: Evidence) -> tuple[str, ...]:
        """Keep the output and the kernel's lines of a failed run, and return the names of the files."""
        run, state = self._runs, self._state
        contents = {f"run-{run}.output": evidence.printed.kept, f"run-{run}.kernel": evidence.window.text}
        return tuple(n for n, content in contents.items() if content and state.keep(self._number, n, content))
