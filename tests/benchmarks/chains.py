"""Hosts of every boot chain with two settings applied: what `bench.py` compares with the one of GRUB."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cases.case import CASES, cases, lay_out, read
from tests.support.stage import Stage, empty_folder

KARGS = ("--set", "amdgpu.runpm=0", "--set", "karg.iommu=pt")  # what is applied, and planned
BEFORE, AFTER = "pristine", "applied"
_FIRST = "grub/debian-12"  # what the others are compared with
# One host of each loader, two of one that has two ways: the cases that say how their host gets more entries.
HOSTS = (_FIRST, *(name for name, folder in cases().items() if name != _FIRST and read(folder).entries))


def make(place: Path, name: str) -> tuple[Path, Path]:
    """The host as it was before its first apply, and as it was after it."""
    case = read(CASES / name)
    made = place / name.replace("/", "-")
    with empty_folder() as folder:
        stage = Stage(folder, lay_out(case, folder), case.tools)
        for typed in case.commands:
            applies = typed.line.startswith("rocmcfg apply")
            if applies:
                shutil.copytree(folder / "host", made / BEFORE, symlinks=True)
            said = stage.run(typed)
            if said.code:
                raise ValueError(f"{name}: {typed.line}: {said}")
            if applies:
                break
        shutil.copytree(folder / "host", made / AFTER, symlinks=True)
    return made / BEFORE, made / AFTER
