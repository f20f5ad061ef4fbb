"""What a command says is on the disk when it says it: on file systems of this kernel, cut off at that moment,
and looked at by a kernel and by GRUB. `python -m tests.crash.power_cut` has all of it as a table."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tools import require_tool

from .faulting import MEMORY
from .power_cut import ACTS, FILE_SYSTEMS, Act, Cut, FileSystem, Unable, loops, offered

pytestmark = pytest.mark.faults
KINDS = {kind.name: kind for kind in FILE_SYSTEMS}
APPLY, *_, ROLLBACK_VARIABLES = ACTS
CASES = [("boot", act) for act in ACTS if act is not ROLLBACK_VARIABLES]
CASES += [("whole", APPLY), ("whole", ROLLBACK_VARIABLES)]


@pytest.fixture(scope="module")
def images() -> None:
    """Images can be mounted here; in continuous integration, which runs as root, they have to."""
    try:
        loops()
    except Unable as reason:
        stop = pytest.fail if os.environ.get("CI") == "true" and os.geteuid() == 0 else pytest.skip
        stop(str(reason))


@pytest.fixture
def memory(images: None) -> Iterator[Path]:
    require_tool("grub-fstest", "grub-common")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def here(name: str) -> FileSystem:
    """Not each kernel has each: the report says which of them nothing was shown of."""
    try:
        offered(KINDS[name])
    except Unable as reason:
        pytest.skip(str(reason))
    return KINDS[name]


@pytest.mark.parametrize(("layout", "act"), CASES, ids=[f"{layout}-{act.name}" for layout, act in CASES])
@pytest.mark.parametrize("name", KINDS)
def test_what_is_said_to_be_done_is_on_the_disk(memory: Path, name: str, layout: str, act: Act) -> None:
    wrong = Cut(here(name), layout, act, memory).wrong
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("name", "layout", "act", "bug"),
    [
        ("ext2", "boot", APPLY, "no-settling"),
        ("xfs", "whole", APPLY, "no-settling"),
        ("xfs", "boot", APPLY, "no-freezing"),
        ("ext2", "whole", ROLLBACK_VARIABLES, "no-directory-sync"),
        ("ext4", "whole", APPLY, "no-file-sync"),
    ],
    ids=lambda value: value.name if isinstance(value, Act) else value,
)
def test_the_cut_shows_what_was_not_synced(memory: Path, name: str, layout: str, act: Act, bug: str) -> None:
    assert Cut(here(name), layout, act, memory, [bug]).wrong
