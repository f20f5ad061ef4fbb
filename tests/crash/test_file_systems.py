"""A full and a read-only file system, of what the host boots from and of the whole host, in each act of every
boot chain. With ROCMCFG_TEST_LONG in the environment all of them, else a sample."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.program import needs_mounts

from .chains import CHAINS, Chain
from .faulting import MEMORY, Tally
from .mounted import FILE_SYSTEMS, later, mounted

pytestmark = [pytest.mark.faults, needs_mounts]
ACTS = ("apply", "again", "rollback")
_LONG = bool(os.environ.get("ROCMCFG_TEST_LONG"))
_STEP = 1 if _LONG else 5


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.name)
def test_a_file_system_without_room_leaves_before_or_after(memory: Path, chain: Chain, act: str) -> None:
    bench = mounted(chain, act, memory / "bench")
    first = (CHAINS.index(chain) + ACTS.index(act)) % _STEP  # together they are all
    tally = Tally()
    for fault in FILE_SYSTEMS[first::_STEP]:
        tally.add(bench.strike(fault, 1, use=False))
    print(f"{tally.points} points: {dict(tally.verdicts)}, {dict(tally.ends)}")
    assert not tally.wrong, "\n".join(tally.wrong)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.name)
def test_a_file_system_that_takes_no_more_leaves_before_or_after(
    memory: Path, chain: Chain, act: str
) -> None:
    tally, number = Tally(), CHAINS.index(chain) + ACTS.index(act)
    for whole in (False, True) if _LONG else (bool(number % 2),):
        bench = later(chain, act, memory / f"bench-{whole}", whole=whole)
        if bench.taken:  # else a program alone writes to the partition
            stride = 3 if _LONG else max(len(bench.taken) // 2, 1)
            for fault, at in ((each, at) for each in bench.faults for at in bench.points(each, stride)):
                tally.add(bench.strike(fault, at, use=False))
    print(f"{tally.points} points: {dict(tally.verdicts)}, {dict(tally.ends)}")
    assert not tally.wrong, "\n".join(tally.wrong)


def test_the_harness_finds_a_file_system_that_takes_nothing_and_is_not_told(memory: Path) -> None:
    chain = next(chain for chain in CHAINS if chain.name == "limine")
    bench = mounted(chain, "apply", memory / "planted", ("no-write-errors", "no-looking"))
    full = next(system for system in FILE_SYSTEMS if system.left == 0 and not system.whole)
    assert bench.strike(full, 1, use=False).wrong
