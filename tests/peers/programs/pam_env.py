"""pam_env, which reads /etc/environment at a login."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.peers import debian
from tests.peers.judgement import Answer
from tests.peers.programs import variables, words
from tests.peers.programs.program import Files, Program, Sample

_FILE = "etc/environment"


def _ordinary(random: Random) -> Files:
    lines = random.sample(("# ROCm", "", "EDITOR=vim", 'PATH="/usr/bin:/bin"'), random.randint(0, 2))
    for name, value in words.variables(random):
        lines.append(random.choice((f"{name}={value}", f'{name}="{value}"', f"{name}='{value}'")))
    random.shuffle(lines)
    return {_FILE: "\n".join(lines) + "\n"}


def _theirs(samples: Sequence[Sample], folder: Path) -> Sequence[Answer]:
    files = {f"in/{number}": sample.files[_FILE] for number, sample in enumerate(samples)}
    files["session.py"] = Path(__file__).with_name("pam_session.py").read_text()
    out = debian.run(folder, f"python3 session.py {len(samples)}", files) / "out"
    return [variables.parsed((out / str(number)).read_bytes()) for number in range(len(samples))]


def _with(*lines: str) -> words.Made:
    return variables.forms(_FILE, *lines)


PROGRAM = Program(
    name="pam_env",
    package="libpam-modules",
    reads="/etc/environment",
    ordinary=_ordinary,
    odd={
        "a backslash": _with("{n}=\\{v}", "{n}={v}\\", '{n}="\\"{v}"'),
        "a comment behind it": _with("{n}={v} # why", '{n}="{v}" # why', "{n}={v}#why"),
        "a continued comment": _with("# why \\\n{n}={v}"),
        "a continued line": _with("{n}=\\\n{v}", "{n}={v}\\\n{o}={w}", "{n}={v} \\\n  x"),
        "a line that is too long": _with("{n}={v}\nX=" + "a" * 9000 + "\n{o}={w}"),
        "a name of the environment": _with("{n}=$HOME", "{n}=${HOME}", "{n}=@{HOME}", "{n}=~"),
        "an open quote": _with('{n}="{v}', "{n}='{v}", '{n}={v}"', "{n}={v}'"),
        "blanks": _with("  {n}={v}  ", "{n} = {v}", "{n}= {v}", "\t{n}\t={v}", "{n}={v} {v}"),
        "carriage returns": _with("{n}={v}\r"),
        "export": _with("export {n}={v}", "export\t{n}={v}", "export  {n}={v}", "exported {n}={v}"),
        "no name": _with("={v}", "{n}", "3{n}={v}", "{n}.x={v}", "{n}-x={v}\n{o}={w}"),
        "no value": _with("{n}=", "{n}={v}\n{n}=", '{n}=""', "{n}={v}\n{n}"),
        "other quotes": _with("{n}=\"{v}'", "{n}='{v}\"", "{n}=\"'{v}'\"", "{n}='\"{v}\"'"),
        "parts in quotes": _with('{n}={v}"x y"', "{n}='{v}'x", '{n}="{v}" "x"', '{n}=""{v}""'),
        "several equals signs": _with("{n}=={v}", "{n}={v}={v}"),
        "the same twice": _with("{n}={v}\n{n}=7", "{n}=7\n{n}={v}"),
    },
    theirs=_theirs,
    ours=variables.ours,
)
