"""dash, which sources /etc/profile.d at a login."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.peers.judgement import Answer
from tests.peers.programs import variables, words
from tests.peers.programs.program import Files, Program, Sample

_FILE = "etc/profile.d/rocm.sh"
_AROUND = ("# ROCm", "", "umask 022", "export PATH", "export EDITOR=vim")


def _ordinary(random: Random) -> Files:
    lines = random.sample(_AROUND[:2], random.randint(0, 2)) + random.sample(
        _AROUND[4:], random.randint(0, 1)
    )
    for name, value in words.variables(random):
        lines.append(
            random.choice((f"export {name}={value}", f'export {name}="{value}"', f"export {name}='{value}'"))
        )
    random.shuffle(lines)
    return {_FILE: "\n".join(lines) + "\n"}


def _theirs(samples: Sequence[Sample], folder: Path) -> Sequence[Answer]:
    return variables.evaluated(samples, folder, _FILE, '. "$1" >/dev/null; env -0')


def _with(*lines: str) -> words.Made:
    return variables.forms(_FILE, *lines)


PROGRAM = Program(
    name="dash",
    package="dash",
    reads="profile.d",
    ordinary=_ordinary,
    odd={
        "a command in between": _with(
            "umask 022\nexport {n}={v}", "export {n}={v}\ntrue", "alias ll='ls -l'\nexport {n}={v}"
        ),
        "a command's output": _with("export {n}=$(echo {v})", "export {n}=`echo {v}`"),
        "a comment behind it": _with("export {n}={v} # why", "export {n}={v}\t#why", "export {n}={v}#why"),
        "a condition": _with(
            "if true; then export {n}={v}; fi",
            "if false; then\n  export {n}={v}\nfi",
            '[ -n "$ZZ" ] && export {n}={v}',
            '[ -z "$ZZ" ] && export {n}={v}',
        ),
        "a continued line": _with("export {n}=\\\n{v}", "export \\\n{n}={v}"),
        "a function": _with("f() {\n  export {n}={v}\n}", "f() { export {n}={v}; }\nf"),
        "a here-document": _with("cat <<EOF\nexport {n}={v}\nEOF", "export {o}={w}\ncat <<'E'\n{n}={v}\nE"),
        "a loop": _with("for i in 1 2; do export {n}=$i; done", "while false; do export {n}={v}; done"),
        "a name of the shell": _with(
            "export {n}=$HOME", "export {n}=${HOME}", "export {n}=~", "export {n}=$$"
        ),
        "a return": _with("return 0\nexport {n}={v}", "export {n}={v}\nreturn"),
        "a semicolon": _with("{n}={v}; export {n}", "export {n}={v};", "export {n}={v}; export {o}={w}"),
        "a value of another": _with("export {n}={v}\nexport {o}=${n}", '{n}={v}\nexport {o}="${n}"'),
        "an expansion with a default": _with(
            "export {n}=${ZZ:-{v}}", "export {n}=${{n}:-{v}}", ": ${{n}:={v}}", "export {n}=${ZZ:+{v}}"
        ),
        "an open quote": _with('export {n}="{v}', "export {n}='{v}"),
        "blanks": _with("  export\t{n}={v}  ", "export {n} ={v}", "export {n}= {v}"),
        "carriage returns": _with("export {n}={v}\r"),
        "exported later": _with("{n}={v}\nexport {n}", "export {n}\n{n}={v}"),
        "another way to export": _with(
            "set -a\n{n}={v}", "readonly {n}={v}", "export -p {n}={v}", "eval export {n}={v}"
        ),
        "no export": _with("{n}={v}", "{n}={v} true"),
        "no value": _with("export {n}=", "export {n}", "export {n}={v}\nexport {n}="),
        "parts in quotes": _with(
            'export {n}={v}"x y"', "export {n}='{v}'\"'\"x", 'export {n}="{v}"x', 'export "{n}={v}"'
        ),
        "a backslash": _with(
            "export {n}=\\{v}", 'export {n}="\\\\{v}"', 'export {n}="\\$x"', "export {n}='\\\\'"
        ),
        "taken away again": _with(
            "export {n}={v}\nunset {n}", "export {n}={v}\nunset -v {n}", "export {n}={v}\nexport {n}={v}7"
        ),
        "two on a line": _with("export {n}={v} {o}={w}", "export {o}={w} {n}={v}"),
        "what is no shell": _with(
            "{n}={v})", "setenv {n} {v}", "export {n}={v} &", "export {n}={v} | cat", "{n} = {v}"
        ),
    },
    theirs=_theirs,
    ours=variables.ours,
)
