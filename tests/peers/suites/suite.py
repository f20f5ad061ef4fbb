"""What every suite has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.peers.judgement import Case


class Suite(NamedTuple):
    """`name` is that of the source package, `files` are patterns of its files that hold cases."""

    name: str
    files: tuple[str, ...]
    cases: Callable[[Path], Sequence[Case]]
