"""Run a program of the caller in the foreground, and wait for its end as a shell does.

The program gets the caller's terminal, streams and process group, so that it reads, is stopped and is
continued as if the shell had started it. Signals that reach rocmcfg alone are passed on. Nothing is copied:
what the program prints goes where it would go without rocmcfg, and it goes on where rocmcfg is killed.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from rocmcfg.model.diagnostic import RocmcfgError, fail
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

# The signals that end a process, or that it may wait for, and that are sent to a job by its number.
_PASSED_ON = frozenset(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPWR")
    if hasattr(signal, name)
)
_STOPS = frozenset((signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU))
_AWAITED = _PASSED_ON | _STOPS | {signal.SIGCHLD, signal.SIGCONT}
# The signals by which people and shells end a program.
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
# Python ignores these from its start on, and a program must not inherit that.
IGNORED_BY_PYTHON = tuple(getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name))
_FROM_KERNEL = 0x80  # SI_KERNEL: of a terminal, which sends it to the whole process group (sigaction(2))
_GRACE = 10.0  # seconds in which a program that was asked to end does so, by itself or at its time limit
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36  # <linux/prctl.h>
_FOR_EVER = 1 << 30  # seconds
# Seconds after which the program's state is read without a signal: SIGCHLD may go to a thread that does not
# block it, and be ignored there.
_LOOKS_AGAIN = 1.0
_ASSIGNMENT = regex(r"[A-Za-z_][A-Za-z0-9_]*=")
_BUILTINS = frozenset(("cd", "export", "source", ".", "ulimit", "eval", "set", "unset"))  # of every shell


class Ended(NamedTuple):
    """How a program ended: with an exit code, or by a signal, of which the other is None. `asked_to_end`:
    somebody sent a signal shortly before. `seconds` is the time since the start, without that in which
    rocmcfg was stopped."""

    code: int | None
    signal: int | None
    timed_out: bool
    asked_to_end: bool
    seconds: float

    @property
    def failed(self) -> bool:
        """Return whether the program failed by itself, and was not ended by a person or a closed pipe."""
        if self.timed_out:
            return True
        return not self.asked_to_end and self.signal not in _ENDINGS and self.code != 0


def find(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the path of a program; None where there is none that can be executed."""
    return shutil.which(name, path=environment.get("PATH"))


def require(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program. Raises OSError where there is none that can be executed."""
    program = find(name, environment)
    if program is not None:
        return program
    # execvp(3) reports a folder of PATH that cannot be entered as a missing permission for the program
    if "/" not in name:
        raise FileNotFoundError(errno.ENOENT, "it is in no folder of PATH")
    missing = errno.EACCES if os.path.exists(name) else errno.ENOENT
    raise OSError(missing, os.strerror(missing))


def cannot_run(command: Sequence[str], problem: OSError) -> RocmcfgError:
    """Return the error for a program that cannot be started."""
    name = command[0] or "an empty name"
    if "/" not in name and os.path.isfile(name):
        hint = f"a program in this folder is run as ./{name}"
    elif _ASSIGNMENT.match(name):
        hint = f"to set a variable for the program: env {shlex.join(command)}"
    elif len(command) == 1 and len(command[0].split()) > 1:
        hint = f"a line for a shell is run with `sh -c {shlex.quote(name)}`"
    elif name in _BUILTINS:
        hint = f"{name} is a command of the shell: run the line with sh -c '…'"
    else:
        hint = "check the name and that it is executable"
    return fail("RC2031", f"cannot run {name}: {problem.strerror}", hint=hint)


class Foreground:
    """A program in the foreground. `start` starts it, and `wait` waits for it; a program is started once."""

    def __init__(self) -> None:
        self._pid = 0
        self._mask: set[signal.Signals | int] = set()
        self._began = time.monotonic()
        self._paused = 0.0  # seconds in which rocmcfg was stopped since then
        self._asked_at = -_GRACE

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the program. Raises OSError where it cannot be run."""
        program = require(command[0], environment)
        self._began = time.monotonic()
        # blocked before the start, so that no signal is lost between the start and the wait
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
        try:
            self._pid = self._spawn(program, command, environment)
        except BaseException:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            raise

    def _spawn(self, program: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
        return os.posix_spawn(
            program, [*command], environment, setsigmask=self._mask, setsigdef=IGNORED_BY_PYTHON
        )

    def wait(self, limit: float | None = None) -> Ended:
        """Wait for the end of the program, at most `limit` seconds: then end it, and what it has started."""
        status = self._wait(limit)
        timed_out = status is None
        if status is None:
            self._signal_all(signal.SIGTERM)
            status = self._wait(_GRACE)
        if status is None:
            self._signal_all(signal.SIGKILL)
            status = self._wait(None)
        assert status is not None
        # what arrived as the program ended was for it, and would now end rocmcfg
        while (late := signal.sigtimedwait(_PASSED_ON, 0)) is not None:
            self._note(late)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        rest = timed_out, time.monotonic() - self._asked_at < _GRACE, self._seconds()
        if os.WIFSIGNALED(status):
            return Ended(None, os.WTERMSIG(status), *rest)
        return Ended(os.WEXITSTATUS(status), None, *rest)

    def _seconds(self) -> float:
        return time.monotonic() - self._began - self._paused

    def _wait(self, limit: float | None) -> int | None:
        """Return the status of the program's end; None if it goes on after `limit` seconds. The time in which
        rocmcfg is stopped does not count."""
        until = self._seconds() + (_FOR_EVER if limit is None else limit)
        while True:
            for status in self._changes():
                if not os.WIFSTOPPED(status):
                    return status
                self._stop_too(os.WSTOPSIG(status))
            rest = until - self._seconds()
            arrived = signal.sigtimedwait(_AWAITED, min(max(0.0, rest), _LOOKS_AGAIN))
            if arrived is None:
                if rest <= 0:
                    return None
                continue
            if arrived.si_signo == signal.SIGCONT:
                self._continue()
            elif arrived.si_signo != signal.SIGCHLD:
                self._pass_on(arrived)
            self._note(arrived)

    def _note(self, arrived: signal.struct_siginfo) -> None:
        """Note that somebody sent a signal. One that the caller ignores, HUP under nohup(1), ends nothing."""
        if arrived.si_signo in _PASSED_ON and not is_ignored(arrived.si_signo):
            self._asked_at = time.monotonic()

    def _pass_on(self, arrived: signal.struct_siginfo) -> None:
        """Pass a signal on to the program, unless the program has it already or has sent it."""
        if arrived.si_code != _FROM_KERNEL and arrived.si_pid != self._pid:
            self._signal(self._pid, arrived.si_signo)

    def _changes(self) -> Iterator[int]:
        """Yield the states of the program that were not seen yet. The first process of a container inherits
        other children, which are only reaped."""
        whose = -1 if os.getpid() == 1 else self._pid
        while True:
            try:
                pid, status = os.waitpid(whose, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self._pid:
                yield status

    def _stop_too(self, number: int) -> None:
        """Stop as the program has stopped, so that the shell sees a stopped job; return after the
        continuation. A process group that no shell controls is not stopped, and the kernel sees to that for
        these signals alone (setpgid(2), orphaned process groups)."""
        number = number if number in _STOPS else signal.SIGTSTP
        began = time.monotonic()
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (number,))  # rocmcfg stops here
        signal.pthread_sigmask(signal.SIG_BLOCK, (number,))
        self._paused += time.monotonic() - began

    def _continue(self) -> None:
        """Continue the program where it is stopped: SIGCONT may have reached rocmcfg alone."""
        with suppress(OSError), open(f"/proc/{self._pid}/stat", "rb") as stream:
            if stream.read().rpartition(b")")[2].split()[0] == b"T":
                self._signal(self._pid, signal.SIGCONT)

    def _signal_all(self, number: int) -> None:
        """Send a signal to the program and to all that it has started and that still belongs to it."""
        for pid in (self._pid, *descendants(self._pid)):
            self._signal(pid, number)
            self._signal(pid, signal.SIGCONT)  # a stopped process acts on no other signal than SIGKILL

    @staticmethod
    def _signal(pid: int, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def is_ignored(number: int) -> bool:
    """Return whether the caller of rocmcfg ignores a signal. It is still received where it is blocked."""
    return signal.getsignal(number) is signal.SIG_IGN


def adopt_orphans(*, adopts: bool) -> None:
    """Become the parent of each process below this one whose own parent ends, or no longer: a daemon that a
    program leaves is then found by its parent, whatever its environment and its session are."""
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopts), 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """Return the numbers of all processes below a process."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        with suppress(OSError, ValueError), open(f"/proc/{int(entry)}/stat", "rb") as stream:
            parent = int(stream.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry))
    below, rest = [], [pid]
    while rest:
        below += (more := children.get(rest.pop(), []))
        rest += more
    return below


def end_like(ended: Ended, flush: Callable[[], None]) -> int:
    """End by the signal that ended the program, without a core dump of rocmcfg, or return the exit code. Code
    124 is that of timeout(1) for a program that ran into its limit."""
    if ended.timed_out:
        return 124
    if ended.signal is None:
        return ended.code or 0
    flush()
    import ctypes

    # the program's core dump is the one to keep
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    with suppress(OSError, ValueError):  # SIGKILL has no handler
        signal.signal(ended.signal, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (ended.signal,))
    os.kill(os.getpid(), ended.signal)
    return 128 + ended.signal  # a signal that rocmcfg's parent has blocked or that ends no process
