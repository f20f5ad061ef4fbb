"""Whenever the power is cut, the EFI partition has what a loader needs, and `recover` mends the rest: on the
vfat of a real kernel. `python -m tests.crash.fat` has all of it as a table."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from .fat import CHAINS, Job, Recorded, Unable, recorded_acts
from .faulting import MEMORY

pytestmark = pytest.mark.faults
# as much for one worker as for the other
GUESTS = (
    [("systemd-boot", "again"), ("limine", "again"), ("refind", "rollback"), ("sdbootutil", "apply")],
    [("uki", "apply"), ("uki", "again"), ("uki", "rollback"), ("limine", "rollback")],
)


@pytest.fixture
def memory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def recorded(folder: Path, jobs: Sequence[Job]) -> list[Recorded]:
    """Skips the test where the kernel does not boot: not every virtual machine lets one run as a program."""
    try:
        return [*recorded_acts(folder, jobs).values()]
    except Unable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("acts", GUESTS, ids=[", ".join(map(" ".join, acts)) for acts in GUESTS])
def test_a_power_cut_leaves_the_old_or_the_new(memory: Path, acts: Sequence[tuple[str, str]]) -> None:
    for found in recorded(memory, [Job(CHAINS[chain], act) for chain, act in acts]):
        wrong = found.wrong()
        print(f"{found.job.name}: {found.points} points")
        assert not wrong, "\n".join(wrong)
        assert found.points


def test_the_harness_finds_a_rename_that_trusts_a_journal_and_what_is_not_settled(memory: Path) -> None:
    jobs = [
        Job(CHAINS["limine"], "again", ("no-order",)),
        Job(CHAINS["uki"], "apply", ("no-file-sync",)),
        Job(CHAINS["sdbootutil"], "apply", ("no-settling",)),
    ]
    for found in recorded(memory, jobs):
        assert found.wrong(1), found.job.name
