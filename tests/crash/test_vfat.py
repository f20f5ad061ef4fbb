"""A real vfat that is read-only, full, not mounted, or has other names and times than other file systems:
`vfat_inside` says what of it, and runs in a guest."""

from __future__ import annotations

from pathlib import Path

import pytest

from .fat import Unable, boot
from .test_fat import memory  # noqa: F401

pytestmark = pytest.mark.faults


def test_it_is_refused_or_rolled_back(memory: Path) -> None:  # noqa: F811
    disk = memory / "esp.img"
    with disk.open("wb") as stream:
        stream.truncate(34 << 20)
    options = ["-p", "no:cacheprovider", "-q", "--durations=5", "--basetemp=/mnt/t"]
    try:
        boot(memory, ["-m", "pytest", *options, "tests/crash/vfat_inside.py"], [f"ubd0={disk}"])
    except Unable as reason:
        pytest.skip(str(reason))
    print((memory / "said").read_text())
