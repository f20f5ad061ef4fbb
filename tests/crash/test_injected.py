"""The real program, its real signals and its real programs: a sample of `python -m tests.crash.injected`, and
programs that do not stop when they are told to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support import fake_tools
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, Result, environment, rocmcfg
from tests.support.tools import HANG

from .faulting import MEMORY, Tally, open_transactions, whole
from .injected import CHAINED, FAULTS, TRACED, TracedBench, bench_of, refused, two
from .planted import planted
from .scenarios import Scenario, done

pytestmark = pytest.mark.faults
TERM = next(fault for fault in FAULTS if fault.name == "TERM")
TERMS = next(fault for fault in FAULTS if fault.name == "TERM TERM")


@pytest.fixture
def memory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def traced(memory: Path) -> Path:
    """In continuous integration programs can be traced."""
    if refused():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(refused())
    return memory


@pytest.mark.parametrize("scenario", TRACED, ids=lambda s: s.name)
def test_a_call_of_the_real_program_may_fail_or_be_interrupted(traced: Path, scenario: Scenario) -> None:
    bench = TracedBench(scenario, traced / "bench")
    found = Tally()
    for number, fault in enumerate(FAULTS):
        points = bench.points(fault)
        for at in (points[len(points) * (2 * number + 1) // (2 * len(FAULTS))], points[-1 - number]):
            found.add(bench.strike(fault, at, use=False))
    print(f"{found.points} points of {len(bench.taken)} calls: {dict(found.verdicts)}, {dict(found.ends)}")
    assert not found.wrong, "\n".join(found.wrong)


def _chained() -> list[tuple[str, int]]:
    """The scenarios of boot chains with their numbers: apply and rollback of each, or all of them."""
    long = bool(os.environ.get("ROCMCFG_TEST_LONG"))
    names = [name for name in CHAINED if long or name.split()[-1] in ("apply", "rollback")]
    return [(name, number) for number, name in enumerate(names)]


@pytest.mark.parametrize(("name", "number"), _chained(), ids=lambda value: str(value).replace(" ", "-"))
def test_a_call_of_a_boot_chain_may_fail_or_be_interrupted(traced: Path, name: str, number: int) -> None:
    """Two faults at three calls; with ROCMCFG_TEST_LONG in the environment, each fault at one of seven."""
    bench = bench_of(CHAINED[name][1], traced / "bench")
    tally = Tally()
    if os.environ.get("ROCMCFG_TEST_LONG"):
        struck = [(fault, at) for fault in FAULTS for at in bench.points(fault, 7)]
    else:
        struck = []
        for fault in (FAULTS[number % len(FAULTS)], FAULTS[(number + 2) % len(FAULTS)]):
            points = bench.points(fault)
            struck += [
                (fault, points[len(points) * part // 8]) for part in (1 + number % 2, 4, 7 - number % 2)
            ]
    for fault, at in struck:
        tally.add(bench.strike(fault, at, use=False))
    print(f"{tally.points} points of {len(bench.taken)} calls: {dict(tally.verdicts)}, {dict(tally.ends)}")
    assert not tally.wrong, "\n".join(tally.wrong)


def test_a_write_that_fails_and_is_not_told_is_found_out(traced: Path) -> None:
    scenario = CHAINED["limine apply"][1]
    bench = bench_of(scenario, traced / "bench", ("no-write-errors", "no-looking"))
    at = next(at for at, line in enumerate(bench.taken, 1) if re.match(r"write \d+ \d+</boot/", line))
    full = next(fault for fault in FAULTS if fault.name == "ENOSPC")
    assert bench.strike(full, at, use=False).wrong


@pytest.mark.parametrize("fault", [TERM, TERMS], ids=lambda f: f.name)
def test_a_term_between_two_of_a_pristine_rollback_is_no_nothing(traced: Path, fault: object) -> None:
    """One transaction undone, one open, and "nothing was changed": the tenth fsync of all."""
    scenario = Scenario("rollback-pristine", two, ("rollback", "--pristine", "--yes"))
    bench = TracedBench(scenario, traced / "bench")
    syncs = [at for at, line in enumerate(bench.taken, 1) if line.startswith("fsync ")]
    found = Tally()
    for at in (syncs[1], syncs[2], syncs[9]):
        found.add(bench.strike(fault, at, use=False))  # type: ignore[arg-type]
    assert not found.wrong, "\n".join(found.wrong)


# -- programs that do not stop --------------------------------------------------------------------------

# It heeds no TERM, notes that it got one, and writes the menu that it made at its begin once it is let: long
# after it was told to stop.
_STUBBORN = """trap 'touch {notes}/told' TERM
echo $$ >> {notes}/pids
{python} -IS {fake} update-grub "$1"
cp "$1/boot/grub/grub.cfg" {notes}/menu
touch {notes}/begun
n=0
while [ ! -e {notes}/go ] && [ $n -lt 12000 ]; do sleep 0.05; n=$((n+1)); done
cat {notes}/menu > "$1/boot/grub/grub.cfg"
"""
_CALM = 'exec {python} -IS {fake} update-grub "$1"\n'


class Stubborn:
    """An update-grub that goes on; only in the first run of it, so that an undo has a calm one."""

    def __init__(self, folder: Path, *, apart: bool) -> None:
        self.notes = folder / "notes"
        self.notes.mkdir()
        self.tools = folder / "tools"
        self.tools.mkdir()
        words = {"notes": self.notes, "python": sys.executable, "fake": fake_tools.__file__}
        work = self._program("work", _STUBBORN.format(**words))
        if apart:  # the one that writes leads a session of its own, as a daemon would
            work = self._program(
                "leader", f"trap '' TERM\nsetsid {work} \"$1\" &\nwhile ! wait; do :; done\nwait\n"
            )
        first = f'if [ ! -e {self.notes}/begun ]; then exec {work} "$1"; fi\n'
        self._program("update-grub", first + _CALM.format(**words))

    def _program(self, name: str, script: str) -> Path:
        path = self.tools / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return path

    def has(self, note: str) -> bool:
        return (self.notes / note).exists()

    def alive(self) -> list[int]:
        pids = [int(pid) for pid in (self.notes / "pids").read_text().split()]
        return [pid for pid in pids if _alive(pid)]

    def let_go(self) -> None:
        (self.notes / "go").touch()
        until(lambda: not self.alive())


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def until(reached: Callable[[], bool]) -> None:
    limit = time.monotonic() + HANG
    while not reached():
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.02)


def interrupted(root: Path, stubborn: Stubborn, signals: int, bugs: tuple[str, ...] = ()) -> Result:
    """An apply that gets TERM while its update-grub runs; the second one while it stops that program."""
    argv = planted(bugs, stubborn.tools, "apply", "--set", "amdgpu.runpm=0", "--yes", "--root", root)
    child = subprocess.Popen(
        argv, cwd=SOURCE, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        until(lambda: stubborn.has("begun"))
        child.send_signal(signal.SIGTERM)
        if signals > 1:
            # it is told to stop by the way: then it is waited for
            with suppress(AssertionError):
                until_told = time.monotonic() + 2
                while not stubborn.has("told") and time.monotonic() < until_told:
                    time.sleep(0.02)
            child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=HANG)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    return Result(child.returncode, out, err)


@pytest.mark.parametrize("apart", [False, True], ids=["in its session", "in a session of its own"])
@pytest.mark.parametrize("signals", [1, 2])
def test_nothing_writes_after_the_host_is_said_to_be_as_it_was(
    memory: Path, signals: int, apart: bool
) -> None:
    root = debian_grub_host(memory)
    before = whole(root)
    stubborn = Stubborn(memory, apart=apart)
    result = interrupted(root, stubborn, signals)
    said = f"exit {result.code}: {result.err}"
    stubborn.let_go()
    assert result.code in (4, 5), said
    if result.code == 4:
        assert whole(root) == before, said
        assert not open_transactions(root)
    done(root, ("recover",))
    assert whole(root) == before
    assert rocmcfg("verify", "--root", root).code == 0


def test_a_second_signal_that_is_heeded_and_nobody_waited_for_are_found_out(memory: Path) -> None:
    root = debian_grub_host(memory)
    before = whole(root)
    stubborn = Stubborn(memory, apart=False)
    result = interrupted(root, stubborn, 2, ("second-signal", "no-survivors"))
    stubborn.let_go()
    assert result.code == 4, result.err
    assert whole(root) != before
