"""A sample of what `python -m tests.crash` does in full: every fault at the first and at the last call of
every scenario, half of them at one between; and that this harness finds what it is there to find."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocmcfg.model.file_state import FileState
from tests.support.tools import require_tool

from .calls import FAULTS, CountedHost
from .faulting import MEMORY, Bench, Tally
from .scenarios import FIRST, SCENARIOS, SECOND, Scenario, bare, done

pytestmark = pytest.mark.faults


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The parent, too, waits for no disk."""
    require_tool("grub-editenv", "grub-common")
    require_tool("depmod", "kmod")
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def struck(bench: Bench, stride: int, faults: tuple[str, ...] = (), most: int = 5) -> Tally:
    """All that came of it, up to so many that show something wrong."""
    found = Tally()
    for fault in bench.faults:
        if faults and fault.name not in faults:
            continue
        for at in bench.points(fault, stride):
            found.add(bench.strike(fault, at, use=found.points % 9 == 0))
            if len(found.wrong) >= most:
                return found
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_a_fault_at_a_call_leaves_before_or_after_and_no_lie(memory: Path, scenario: Scenario) -> None:
    bench = Bench(scenario, memory / scenario.name)
    found = struck(bench, stride=2 * len(bench.taken))
    print(f"{found.points} points of {len(bench.taken)} calls: {dict(found.verdicts)}, {dict(found.ends)}")
    assert not found.wrong, "\n".join(found.wrong)
    assert found.points > len(FAULTS)
    assert found.verdicts["after"]
    assert found.verdicts["before"] or not scenario.whole


# -- the harness has teeth ------------------------------------------------------------------------------


class LateIntent(CountedHost):
    """Changes first and notes it down afterwards."""

    late: tuple[str, bytes] | None = None

    def append(self, path: str, line: bytes) -> None:
        if b'"kind":"file"' in line:
            self.late = (path, line)
            return
        super().append(path, line)

    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        super().write(path, state, keep_mtime=keep_mtime)
        self._note()

    def remove(self, path: str) -> None:
        super().remove(path)
        self._note()

    def _note(self) -> None:
        if self.late is not None:
            late, self.late = self.late, None
            super().append(*late)


class LateBackup(CountedHost):
    """Saves what a file was when it is something else."""

    late: Callable[[], None] | None = None

    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        if "/backups/" in path and self.late is None:
            self.late = lambda: CountedHost.write(self, path, state, keep_mtime=keep_mtime)
            return
        super().write(path, state, keep_mtime=keep_mtime)
        if self.late is not None:
            late, self.late = self.late, None
            late()


class NoUndo(CountedHost):
    """Loses the line that says that an undo has begun."""

    def append(self, path: str, line: bytes) -> None:
        if b'"kind":"undo"' not in line:
            super().append(path, line)


CARELESS = {
    "apply over another": (SECOND, (LateIntent, LateBackup)),
    "rollback": (("rollback", "--yes"), (NoUndo,)),
}


@pytest.mark.parametrize(
    ("act", "careless"), [(act, kind) for act, kinds in CARELESS.values() for kind in kinds]
)
def test_the_harness_finds_what_is_done_before_it_is_safe(
    memory: Path, act: tuple[str, ...], careless: type[CountedHost]
) -> None:
    commands = (FIRST, SECOND) if act[0] == "rollback" else (FIRST,)

    def prepare(folder: Path) -> Path:
        return done(bare(folder), *commands)

    bench = Bench(Scenario("planted", prepare, act, FIRST, careless), memory / "planted")
    assert struck(bench, 3, ("kill before", "kill after"), most=1).wrong


def test_the_harness_finds_a_second_signal_that_is_heeded(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rocmcfg.host.interrupts._interrupt", interrupt)
    bench = Bench(SCENARIOS[0], memory / "planted")
    assert struck(bench, 3, ("TERM TERM",), most=1).wrong
