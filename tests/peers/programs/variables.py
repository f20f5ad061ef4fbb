"""What the programs that read variables have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from tests.peers import debian, reading
from tests.peers.judgement import Answer
from tests.peers.programs import words
from tests.peers.programs.program import Files, Sample


def forms(path: str, *lines: str) -> words.Made:
    """A file with one of these texts; `{n}`, `{v}` and `{o}`, `{w}` are variables and their values."""

    def made(random: Random) -> Files:
        (name, value), (other, second) = _two(random)
        odd = random.choice(lines)
        for mark, text in (("{n}", name), ("{v}", value), ("{o}", other), ("{w}", second)):
            odd = odd.replace(mark, text)
        return {path: f"{odd}\n"}

    return made


def _two(random: Random) -> list[tuple[str, str]]:
    names = random.sample(sorted(words.VARIABLES), 2)
    return [(name, random.choice(words.VARIABLES[name])) for name in names]


def evaluated(samples: Sequence[Sample], folder: Path, path: str, script: str) -> list[Answer]:
    """`script` gets each file's path in $1 and writes what it sets, divided by NUL, to its output."""
    files = {f"in/{number}/{path}": sample.files[path] for number, sample in enumerate(samples)}
    files["one"] = script
    alone = f'env -i PATH=/usr/bin:/bin HOME=/root sh ./one "/w/$d/{path}"'
    loop = f'for d in in/*; do {alone} >"out/${{d#in/}}" 2>/dev/null </dev/null || true; done'
    out = debian.run(folder, loop, files) / "out"
    return [parsed((out / str(number)).read_bytes()) for number in range(len(samples))]


def parsed(output: bytes) -> Mapping[str, str | None]:
    pairs = (
        pair.partition("=")[::2] for pair in output.decode("utf-8", "surrogateescape").split("\0") if pair
    )
    return {name: value for name, value in pairs if name in words.VARIABLES}


def ours(sample: Sample, folder: Path) -> Answer:
    return reading.only(reading.settings(reading.host(folder, sample.files)), [*words.VARIABLES])
