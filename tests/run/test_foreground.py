"""`run` is to its program what the shell would be: exit codes, signals, terminal and job control, with real
processes on a real terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.program import SOURCE, command

PATIENCE = 120  # seconds until a test that waits for something gives up, on the busiest machine
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "TERM": "dumb", "PS1": "$ "}


def run(*words: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        command("run", *words), **{"text": True, "capture_output": True, "check": False, **more}
    )


def started(*words: str | Path, **more: object) -> subprocess.Popen[str]:
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        command("run", *words), **{"text": True, "stdout": subprocess.PIPE, **more}
    )


def wait_for(condition: object, what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until, f"{what} did not happen in {PATIENCE} s"
        time.sleep(0.02)


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_the_exit_code_is_the_programs(code: int) -> None:
    ended = run("--", "sh", "-c", f"exit {code}")
    assert ended.returncode == code
    assert bool(ended.stderr) == bool(code)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM])
def test_a_signal_that_ends_the_program_ends_run(number: signal.Signals, tmp_path: Path) -> None:
    ended = run("--", "sh", "-c", f"kill -{int(number)} $$", cwd=tmp_path)
    assert ended.returncode == -number
    assert (number.name in ended.stderr) == (number is not signal.SIGTERM)
    assert not [*tmp_path.iterdir()]  # no core dump of rocmcfg


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_for_run_alone_reaches_the_program(number: signal.Signals) -> None:
    handler = f"trap 'echo got it; exit 5' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
    program = started("--", "sh", "-c", handler, stderr=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    program.send_signal(number)
    out, err = program.communicate(timeout=PATIENCE)
    assert (program.returncode, out, err) == (5, "got it\n", "")


def test_a_closed_pipe_ends_the_program_in_silence() -> None:
    line = f"{shlex.join(command('run', '--', 'yes'))} | head -n 1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("y\n141\n", "")


def test_gigabytes_pass_by() -> None:
    line = f"{shlex.join(command('run', '--', 'head', '-c', str(2 << 30), '/dev/zero'))} | wc -c"
    assert int(subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout) == 2 << 30


def test_run_holds_at_most_20_mib_while_the_program_runs() -> None:
    for options in ((), ("--set", "env.HSA_XNACK=1")):
        shown = run(*options, "--", "sh", "-c", "grep VmRSS /proc/$PPID/status").stdout
        assert int(shown.split()[1]) <= 20 << 10, f"{options}: {shown}"


def test_the_program_gets_streams_signals_and_open_files_as_from_a_shell(tmp_path: Path) -> None:
    with open(tmp_path / "open", "w") as file:
        words = (
            "--",
            "bash",
            "-c",
            f"cat; echo to it >&{file.fileno()}; grep -E 'Sig(Blk|Ign)' /proc/self/status",
        )
        ended = run(*words, input="from here", pass_fds=[file.fileno()])
        plain = subprocess.run(
            words[1:], input="from here", pass_fds=[file.fileno()], text=True, capture_output=True, check=True
        )
    text, blocked, ignored = _fields(plain.stdout)
    # posix_spawn(3) of glibc ignores the signals 32 and 33, which it uses itself; Python ignores two others
    glibc, python = 0b11 << 31, 1 << 12 | 1 << 24
    assert _fields(ended.stdout) == (text, blocked, ignored & ~python | _fields(ended.stdout)[2] & glibc)
    assert (tmp_path / "open").read_text() == "to it\n" * 2


def _fields(printed: str) -> tuple[str, int, int]:
    """Return the text, and the signals that are blocked and ignored."""
    match = re.fullmatch(r"(.*)SigBlk:\t(\w+)\nSigIgn:\t(\w+)\n", printed)
    assert match is not None, printed
    return match[1], int(match[2], 16), int(match[3], 16)


def test_a_daemon_that_stays_is_not_waited_for(tmp_path: Path) -> None:
    line = f"(setsid sleep {PATIENCE * 10} >/dev/null 2>&1 & echo $! > {tmp_path}/pid)"
    began = time.monotonic()
    assert run("--", "sh", "-c", line).returncode == 0
    assert time.monotonic() - began < PATIENCE * 5
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)  # it is still there


def test_the_program_goes_on_where_run_is_killed() -> None:
    program = started("--", "sh", "-c", "echo ready; read line; echo $line", stdin=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stdin is not None
    assert program.stdout.readline() == "ready\n"
    program.kill()
    program.wait()
    program.stdin.write("still here\n")
    program.stdin.close()
    assert program.stdout.read() == "still here\n"


def test_a_time_limit_ends_the_program_and_what_it_started(tmp_path: Path) -> None:
    line = f"sleep {PATIENCE * 10} & echo $! > {tmp_path}/pid; trap '' TERM; wait"
    pid = tmp_path / "pid"
    for limit in ("1", "10", "100"):  # a busy machine may not have begun by then
        ended = run("--timeout", limit, "--", "sh", "-c", line)
        assert ended.returncode == 124
        assert "at its time limit" in ended.stderr
        if pid.exists() and pid.read_text():
            break
    wait_for(lambda: not processes.runs(int(pid.read_text()), "sleep"), "the end of the child")


@pytest.mark.parametrize("words", [("nowhere",), ("/etc/passwd",), ("/",)])
def test_a_program_that_cannot_be_started(words: tuple[str, ...]) -> None:
    ended = run("--", *words)
    assert ended.returncode == 1
    assert "error[RC2031]: cannot run" in ended.stderr


@pytest.mark.parametrize("time", ["0", "x", "-1", "1y", "1e3", "", "0.0001", "9" * 400, "366d"])
def test_a_time_that_is_none(time: str) -> None:
    ended = run(f"--timeout={time}", "--", "true")
    assert ended.returncode == (2 if time else 0)
    assert "RC9000" not in ended.stderr


class Terminal:
    """A shell with job control on a terminal."""

    def __init__(self, *words: str) -> None:
        self.pid, self._descriptor = pty.fork()
        if not self.pid:
            os.execve(words[0], words, ENVIRONMENT)
        self._seen = ""

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def expect(self, pattern: str) -> re.Match[str]:
        """Wait for a text that matches, and forget what came before."""
        until = time.monotonic() + PATIENCE
        while (match := re.search(pattern, self._seen)) is None:
            assert time.monotonic() < until, f"no {pattern!r} in {self._seen!r}"
            if select.select([self._descriptor], [], [], 0.2)[0]:
                self._seen += os.read(self._descriptor, 4096).decode(errors="replace")
        self._seen = self._seen[match.end() :]
        return match

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._descriptor)


@pytest.fixture
def shell() -> object:
    terminal = Terminal("/bin/bash", "--norc", "--noediting", "-i")
    terminal.expect(r"\$ ")
    yield terminal
    terminal.close()


def test_a_job_is_stopped_and_continued(shell: Terminal) -> None:
    shell.type(shlex.join(command("run", "--", "cat")) + "\n")
    shell.type("one\n")
    shell.expect("one\r\none\r\n")
    shell.type("\x1a")
    shell.expect(r"Stopped")
    shell.type("jobs; echo $((40 + 2))\n")
    shell.expect(r"Stopped[^\r]*cat\r\n42")
    shell.type("fg\n")
    shell.expect("cat\r\n")
    shell.type("two\n")
    shell.expect("two\r\ntwo\r\n")
    shell.type("\x04")
    shell.expect(r"\$ ")
    shell.type("echo code $?\n")
    shell.expect("code 0\r\n")


def test_a_program_that_stops_itself_gives_the_terminal_back(shell: Terminal) -> None:
    shell.type(
        shlex.join(command("run", "--", "sh", "-c", "echo x$((1 + 1)); kill -STOP $$; echo y$((1 + 1))"))
        + "\n"
    )
    shell.expect("x2\r\n")
    shell.expect("Stopped")
    shell.type("fg\n")
    shell.expect("y2\r\n")


def test_ctrl_c_reaches_the_program_once(shell: Terminal) -> None:
    # a second one would come within the half second, and the first whenever the terminal is ready
    counting = (
        "n=0; trap 'n=$((n + 1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.1; done; "
        "for i in 1 2 3 4 5; do sleep 0.1; done; echo got $n"
    )
    shell.type(shlex.join(command("run", "--", "sh", "-c", counting)) + "\n")
    shell.expect("ready\r\n")
    shell.type("\x03")
    shell.expect("got 1\r\n")


def test_a_job_in_the_background_that_reads_is_stopped(shell: Terminal) -> None:
    shell.type(shlex.join(command("run", "--", "sed", "-u", "s/^/got /")) + " &\n")
    shell.expect(r"\[1\]")
    shell.type("wait; echo; jobs\n")
    shell.expect("Stopped")
    shell.type("fg\n")
    shell.type("here\n")
    shell.expect("got here\r\n")
    shell.type("\x04")


def test_an_interactive_python_works(shell: Terminal) -> None:
    shell.type(shlex.join(command("run", "--", sys.executable, "-q", "-i")) + "\n")
    shell.expect(">>> ")
    shell.type("import os; os.get_terminal_size() and 6 * 7\n")
    shell.expect("42\r\n>>> ")
    shell.type("exit(9)\n")
    shell.expect(r"\$ ")
    shell.type("echo code $?\n")
    shell.expect("code 9\r\n")


def test_an_interactive_shell_below_run_has_the_terminal_and_gives_it_back(shell: Terminal) -> None:
    shell.type(shlex.join(command("run", "--", "bash", "--norc", "--noediting", "-i")) + "\n")
    shell.expect(r"-i\r\n\$ ")
    shell.type("set -o | grep monitor; exit 0\n")
    shell.expect(r"monitor\s+on\r\n")
    shell.expect(r"\$ ")
    shell.type("echo back $?\n")
    shell.expect("back 0\r\n")
