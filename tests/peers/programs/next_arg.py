"""The kernel's own reader of a command line, from its source: `tests.peers.kernel`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from rocmcfg.model.kargs import read_by_kernel, split
from tests.peers import kernel
from tests.peers.judgement import Answer
from tests.peers.programs import words
from tests.peers.programs.program import Files, Program, Sample

_FILE = "proc/cmdline"


def _ordinary(random: Random) -> Files:
    line = ["BOOT_IMAGE=/vmlinuz", "root=UUID=3f6c1d52", *words.arguments(random, 8)]
    more = ('dyndbg="file drm* +p"', "amdgpu.virtual-display=PCI,1", "console=ttyS0,115200n8", "init=/bin/sh")
    line += random.sample(more, random.randint(0, 2))
    random.shuffle(line)
    return {_FILE: random.choice((" ", " ", "  ")).join(line)}


def _with(*forms: str) -> words.Made:
    """An argument in one of these forms among others; `{n}` and `{v}` are its name and value."""

    def made(random: Random) -> Files:
        name, value = words.parameter(random)
        odd = random.choice(forms).format(n=f"amdgpu.{name}", v=value)
        before, after = words.arguments(random, 2), words.arguments(random, 2)
        return {_FILE: " ".join([*before, odd, *after])}

    return made


def theirs(samples: Sequence[Sample], folder: Path) -> list[Answer]:
    return [numbered(kernel.arguments(sample.files[_FILE])) for sample in samples]


def ours(sample: Sample, folder: Path) -> Answer:
    return numbered([(karg.key, karg.value) for karg in read_by_kernel(split(sample.files[_FILE]))])


def numbered(found: Sequence[kernel.Argument]) -> dict[str, str | None]:
    """Each argument by its place on the line."""
    return {str(number): f"{name}={value!r}" for number, (name, value) in enumerate(found)}


PROGRAM = Program(
    name="next_arg",
    package="",
    reads="kernel command lines",
    ordinary=_ordinary,
    odd={
        "an open quote": _with('{n}="{v}', '{n}={v}"', '"{n}={v}'),
        "a no-break space": _with("{n}={v}\xa0quiet"),
        "another separator": _with("{n}={v}\tquiet", "{n}={v}\x0bquiet", "{n}={v}\x0cquiet"),
        "behind a separator": _with("-- {n}={v}"),
        "no name": _with("={v}", "="),
        "no value": _with("{n}", "{n}="),
        "quotes around a value": _with('{n}="{v}"', '{n}="{v} {v}"', '{n}=""'),
        "quotes around all of it": _with('"{n}={v}"', '"{n}={v} {v}"'),
        "quotes around the name": _with('"{n}"={v}', '"{n}"="{v}"'),
        "quotes around the separator": _with('"--" {n}={v}'),
        "quotes within a value": _with('{n}={v}"{v}"', '{n}={v}" "{v}', '{n}="{v}"{v}', '{n}={v}""'),
        "quotes within the name": _with('amdgpu".runpm"={v}', 'amdgpu."runpm={v}"'),
        "several equals signs": _with("{n}=={v}", "{n}={v}={v}", "{n}=a=b"),
        "single quotes, backslashes": _with("{n}='{v}'", "{n}=\\{v}", "'{n}={v}'", '{n}=\\"{v}\\"'),
        "strange characters": _with("{n}={v}\u00fc", "{n}={v}\x01", "{n}={v}$x", "{n}={v};{v}", "{n}={v}#x"),
        "the same twice": _with("{n}={v} {n}=7", "{n}=7 {n}={v}"),
    },
    theirs=theirs,
    ours=ours,
)
