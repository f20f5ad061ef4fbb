"""`modprobe -c` on /etc/modprobe.d, and the kernel on what modprobe would hand it: kmod joins all options
of a module into one string (libkmod-module.c, kmod_module_get_options)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.peers import debian, kernel, reading
from tests.peers.judgement import Answer
from tests.peers.programs import words
from tests.peers.programs.program import Files, Program, Sample

_FOLDER = "etc/modprobe.d"


def _ordinary(random: Random) -> Files:
    files = {}
    for name in random.sample(("10-gpu.conf", "amdgpu.conf", "zz-local.conf"), random.randint(1, 3)):
        lines = random.sample(_AROUND, random.randint(0, 3))
        for _ in range(random.randint(1, 2)):
            options = [
                random.choice((f"{n}={v}", f"{n}={v}", f'{n}="{v}"')) for n, v in words.parameters(random)
            ]
            lines.append(f"options amdgpu {' '.join(options)}")
        random.shuffle(lines)
        files[f"{_FOLDER}/{name}"] = "\n".join(lines) + "\n"
    return files


_AROUND = (
    "# what the GPU needs",
    "",
    "blacklist nouveau",
    "options snd_hda_intel power_save=1",
    "options radeon si_support=0",
    "softdep amdgpu pre: vfio-pci",
    "alias gpu amdgpu",
    "install pcspkr /bin/false",
    "#options amdgpu runpm=7",
)


def _with(*forms: str) -> words.Made:
    """One of these lines after another line of options; `{n}` and `{v}` are a parameter and its value."""

    def made(random: Random) -> Files:
        (name, value), (before, first) = words.parameter(random), words.parameter(random)
        odd = random.choice(forms).format(n=name, v=value)
        text = f"options amdgpu {before}={first}\n{odd}\n"
        return {f"{_FOLDER}/a.conf": text, f"{_FOLDER}/b.conf": "options snd_hda_intel power_save=1\n"}

    return made


def theirs(samples: Sequence[Sample], folder: Path) -> list[Answer]:
    files = {
        f"in/{number}/{path.rpartition('/')[2]}": text
        for number, sample in enumerate(samples)
        for path, text in sample.files.items()
    }
    script = 'for d in in/*; do modprobe -c -C "$d" >"out/${d#in/}" 2>/dev/null || true; done'
    out = debian.run(folder, script, files) / "out"
    return [
        _of_module((out / str(n)).read_bytes().decode("utf-8", "surrogateescape"))
        for n in range(len(samples))
    ]


def _of_module(shown: str) -> dict[str, str | None]:
    options = re.findall(r"^options amdgpu (.*)$", shown, re.MULTILINE)
    found = dict(kernel.arguments(" ".join(options)))
    # the kernel's own parameters are all of one of these names; of others it says so and goes on
    return {f"amdgpu.{name}": value for name, value in found.items() if name in words.PARAMETERS}


def ours(sample: Sample, folder: Path) -> Answer:
    found = reading.settings(reading.host(folder, sample.files))
    return reading.only(found, [f"amdgpu.{name}" for name in words.PARAMETERS])


PROGRAM = Program(
    name="modprobe -c",
    package="kmod",
    reads="modprobe.d",
    ordinary=_ordinary,
    odd={
        "a backslash": _with(
            "options amdgpu {n}=\\{v}", "options amdgpu \\{n}={v}", "options am\\dgpu {n}={v}"
        ),
        "a comment behind it": _with("options amdgpu {n}={v} # why", "options amdgpu # {n}={v}"),
        "a continued comment": _with("# why \\\noptions amdgpu {n}={v}"),
        "a continued line": _with(
            "options amdgpu \\\n  {n}={v}", "options \\\namdgpu {n}={v}", "options amdgpu {n}=\\\n{v}"
        ),
        "a dot in place of the blank": _with("options amdgpu.{n}={v}"),
        "a name in quotes": _with('options amdgpu "{n}"={v}', 'options "amdgpu" {n}={v}'),
        "all in quotes": _with('options amdgpu "{n}={v}"'),
        "an alias's options": _with("alias gpu amdgpu\noptions gpu {n}={v}"),
        "an open quote": _with('options amdgpu {n}="{v}', 'options amdgpu {n}="{v}\noptions amdgpu mes=1'),
        "another case": _with("Options amdgpu {n}={v}", "options AMDGPU {n}={v}"),
        "behind a separator": _with("options amdgpu -- {n}={v}", "options amdgpu --\noptions amdgpu {n}={v}"),
        "blanks": _with(
            "  options\tamdgpu \t {n}={v}  ", "options amdgpu {n} = {v}", "options amdgpu {n}={v}\x0b"
        ),
        "carriage returns": _with("options amdgpu {n}={v}\r"),
        "dashes": _with("options amdgpu {n}={v} cwsr-enable=0"),
        "no value": _with("options amdgpu {n}=", "options amdgpu", "options"),
        "quotes within a value": _with(
            'options amdgpu {n}={v}"{v}"', 'options amdgpu {n}={v}" "', 'options amdgpu {n}="{v}"7'
        ),
        "several equals signs": _with("options amdgpu {n}=={v}", "options amdgpu {n}={v}={v}"),
        "single quotes": _with("options amdgpu {n}='{v}'", "options amdgpu '{n}={v}'"),
        "the same twice": _with(
            "options amdgpu {n}={v} {n}=7", "options amdgpu {n}=7\noptions amdgpu {n}={v}"
        ),
    },
    theirs=theirs,
    ours=ours,
)
