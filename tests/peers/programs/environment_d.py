"""systemd's generator for environment.d: 30-systemd-environment-d-generator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.peers.judgement import Answer
from tests.peers.programs import variables, words
from tests.peers.programs.program import Files, Program, Sample

_FILE = "etc/environment.d/50-rocm.conf"
# It reads ~/.config/environment.d as it reads /etc/environment.d; what it prints is quoted for a shell.
_SCRIPT = """
cd /usr/lib/systemd/user-environment-generators
mkdir /tmp/config; cp -r "${1%/*}" /tmp/config/environment.d
XDG_CONFIG_HOME=/tmp/config ./30-systemd-environment-d-generator >/tmp/set
rm -r /tmp/config; set -a; . /tmp/set; env -0
"""


def _ordinary(random: Random) -> Files:
    lines = random.sample(("# ROCm", "", "EDITOR=vim", "; old"), random.randint(0, 2))
    for name, value in words.variables(random):
        lines.append(random.choice((f"{name}={value}", f'{name}="{value}"', f"{name}='{value}'")))
    random.shuffle(lines)
    return {_FILE: "\n".join(lines) + "\n"}


def _theirs(samples: Sequence[Sample], folder: Path) -> Sequence[Answer]:
    return variables.evaluated(samples, folder, _FILE, _SCRIPT)


def _with(*lines: str) -> words.Made:
    return variables.forms(_FILE, *lines)


PROGRAM = Program(
    name="systemd's environment generator",
    package="systemd",
    reads="environment.d",
    ordinary=_ordinary,
    odd={
        "a backslash": _with("{n}=\\{v}", '{n}="\\{v}"', "{n}='\\{v}'", "{n}={v}\\\\x"),
        "a comment behind it": _with("{n}={v} # why", '{n}="{v}" # why', "{n}={v} ; why"),
        "a continued comment": _with("# why \\\n{n}={v}", "; why \\\n{n}={v}"),
        "a continued line": _with("{n}=\\\n{v}", "{n}={v}\\\n{o}={w}"),
        "a dollar sign": _with("{n}=$$x", "{n}={v}$", "{n}=$1", "{n}=\\${o}"),
        "a value of another": _with("{n}={v}\n{o}=${n}", "{n}={v}\n{o}=${{n}}x", "{o}=$HOME", "{o}=$NOT_SET"),
        "an expansion with a default": _with("{n}=${ZZ:-{v}}", "{n}={v}\n{o}=${{n}:+7}", "{n}=${ZZ:+{v}}"),
        "an open quote": _with('{n}="{v}', "{n}='{v}", '{n}={v}"'),
        "blanks": _with("  {n}\t=\t{v}  ", "{n}= {v}", "{n} ={v}", "{n}={v} {v}"),
        "carriage returns": _with("{n}={v}\r"),
        "export": _with("export {n}={v}", "export {n}={v}\n{o}={w}"),
        "no name": _with("={v}", "{n}", "3{n}={v}\n{o}={w}", "{n}.x={v}"),
        "no value": _with("{n}=", "{n}={v}\n{n}=", '{n}=""'),
        "parts in quotes": _with('{n}={v}"x y"', "{n}='{v}'x", '{n}="{v}" "x"', '{n}="{v}\'"'),
        "quotes over lines": _with('{n}="{v}\nx"', "{n}='{v}\nx'"),
        "the same twice": _with("{n}={v}\n{n}=7", "{n}=7\n{n}={v}"),
    },
    theirs=_theirs,
    ours=variables.ours,
)
