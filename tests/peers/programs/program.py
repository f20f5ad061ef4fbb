"""What every program has: files at random, and two readers of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.peers.judgement import Answer, Case

Files = Mapping[str, str]


class Sample(NamedTuple):
    """Files of a host by their paths; `trick` is empty where people write such."""

    trick: str
    files: Files


class Program(NamedTuple):
    """`ordinary` makes files as people write them, each of `odd` files with one trick. `theirs` has the
    program read all samples, `ours` has rocmcfg read one; both get a folder of their own."""

    name: str
    package: str  # of Debian; empty for what the kernel does
    reads: str
    ordinary: Callable[[Random], Files]
    odd: Mapping[str, Callable[[Random], Files]]
    theirs: Callable[[Sequence[Sample], Path], Sequence[Answer]]
    ours: Callable[[Sample, Path], Answer]

    def samples(self, kind: str, most: int) -> list[Sample]:
        """Always the same: the seed is what is asked for."""
        random = Random(f"{self.name} {kind}")
        if kind == "ordinary":
            return [Sample("", self.ordinary(random)) for _ in range(most)]
        tricks = sorted(self.odd)
        return [
            Sample(trick, self.odd[trick](random)) for n in range(most) for trick in [tricks[n % len(tricks)]]
        ]

    def cases(self, kind: str, most: int, folder: Path) -> list[Case]:
        """Nothing is left in the folder: they are many files."""
        samples = self.samples(kind, most)
        (folder / "theirs").mkdir()
        theirs = self.theirs(samples, folder / "theirs")
        found = []
        for number, (sample, answer) in enumerate(zip(samples, theirs, strict=True)):
            own = folder / f"ours-{number}"
            own.mkdir()
            ours = self.ours(sample, own)
            shutil.rmtree(own)
            found.append(Case(sample.trick or "ordinary", _shown(sample.files), answer, ours))
        shutil.rmtree(folder / "theirs")
        return found


def _shown(files: Files) -> str:
    return "".join(f"[{name}]\n{text}" for name, text in files.items())
