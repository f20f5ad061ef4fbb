"""A program without a terminal: what it leaves, and what its caller ignores, hold nothing up."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from rocmcfg.host import unattended
from rocmcfg.host.apart import apart
from rocmcfg.host.unattended import Unattended
from tests.support import processes
from tests.support.tools import HANG

MARK = uuid.uuid4().hex


def test_what_goes_on_printing_without_end_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipe is full whenever it is looked at, as it is where the search for a pattern takes its time."""
    add = unattended._Output._add

    def slowly(output: unattended._Output, piece: bytes) -> None:
        time.sleep(0.01)
        add(output, piece)

    monkeypatch.setattr(unattended._Output, "_add", slowly)
    line = f"(timeout 10 yes; echo $? > {tmp_path}/how) & sleep 0.1; exit 3"
    program = Unattended()
    ended = program.run(("sh", "-c", line), os.environ, None)
    until = time.monotonic() + HANG
    while not (how := tmp_path / "how").exists() or not how.read_text():
        assert time.monotonic() < until
        time.sleep(0.01)
    program.end_what_is_left(MARK)
    assert ended.code == 3
    assert b"y\ny\n" in program.printed.kept
    assert int(how.read_text()) != 124, "it was read until its own limit"


def test_what_was_printed_before_the_end_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a piece is in the pipe when the program has ended."""
    monkeypatch.setattr(unattended, "_PIECE", 1000)
    for _ in range(20):
        program = Unattended()
        program.run(("sh", "-c", "head -c 60000 /dev/zero; echo last"), os.environ, None)
        program.end_what_is_left(MARK)
        assert program.printed.kept.endswith(b"last\n")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_the_caller_ignores_stops_nothing(tmp_path: Path, number: signal.Signals) -> None:
    """HUP under nohup(1), INT in the background of a script: blocked, an ignored signal is still received. In
    a process of one thread: a worker has others, which do not block the signals."""
    line = f"until [ -e {tmp_path}/go ]; do sleep 0.02; done; exit 3"

    class Signalled(Unattended):
        def start(self, *arguments: object) -> None:
            super().start(*arguments)  # type: ignore[arg-type]
            os.kill(os.getpid(), number)
            (tmp_path / "go").touch()

    def signalled() -> tuple[int | None, bool, bool]:
        signal.signal(number, signal.SIG_IGN)
        program = Signalled()
        ended = program.run(("sh", "-c", line), os.environ, None)
        return ended.code, ended.asked_to_end, program.stopped

    assert apart(signalled) == (3, False, False)


def test_what_the_caller_had_started_before_is_not_the_programs(tmp_path: Path) -> None:
    """As the first script of a container does, which starts its daemons and then becomes rocmcfg."""
    daemon = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done; sleep {HANG} & echo $! > {tmp_path}/pid; wait"
    line = f"touch {tmp_path}/go; until [ -s {tmp_path}/pid ]; do sleep 0.01; done"

    def tried() -> tuple[int, bool]:
        with subprocess.Popen(["sh", "-c", daemon], start_new_session=True) as before:
            program = Unattended()
            program.run(("sh", "-c", line), os.environ, None)
            number = program.end_what_is_left(MARK)
            goes_on = processes.runs((tmp_path / "pid").read_text(), f"sleep {HANG}")
            os.killpg(before.pid, signal.SIGKILL)
        return number, goes_on

    assert apart(tried) == (0, True)
