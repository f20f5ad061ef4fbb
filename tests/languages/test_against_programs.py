"""Each language's reader held against the programs that read it: a value that it tells is theirs, and
a variable that it does not name is not set. Files as people write them are told in full; of odd ones it may
say that it cannot tell.

The seeds are fixed. `make slow` tries five hundred files of each kind.
"""

from __future__ import annotations

import io
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from rocmcfg.languages import Effect, Statement, dotenv, env_file, fish, pam_env, shell, unit
from tests.languages import files, oracles

Told = dict[str, "str | None"]
FEW, MANY = 40, 500


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that pam_env reads for whoever runs the tests."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def left(statements: Iterable[Statement]) -> Told:
    """What is set after the last statement."""
    found: Told = {}
    for one in statements:
        if one.effect is Effect.SETS:
            found[one.name] = one.value
        elif one.effect is Effect.UNSETS:
            found.pop(one.name, None)
        elif one.effect is Effect.FORGETS:
            found.clear()
    return found


def of_shell(text: str) -> Told:
    environment = shell.Environment()
    shell.read(text, environment)
    return {name: environment.value(name) for name in environment.exported}


def by_dash(folder: Path, text: str) -> dict[str, str] | None:
    return oracles.by_shell("dash", folder, text)


def by_bash(folder: Path, text: str) -> dict[str, str] | None:
    return oracles.by_shell("bash", folder, text)


def by_pam(folder: Path, text: str) -> dict[str, str] | None:
    return oracles.by_pam_env(folder, text.encode())


def by_dotenv(folder: Path, text: str) -> dict[str, str] | None:
    """python-dotenv is no requirement of ours: files are tried where it is installed."""
    module = pytest.importorskip("dotenv", reason="python-dotenv is not installed")
    found = module.dotenv_values(stream=io.StringIO(text))
    return {name: value for name, value in found.items() if value is not None}


Reader = Callable[[str], Told]
Program = Callable[[Path, str], "dict[str, str] | None"]
LANGUAGES: dict[str, tuple[Reader, Program, str]] = {
    "dash": (of_shell, by_dash, "profile"),
    "bash": (of_shell, by_bash, "profile"),
    "fish": (lambda text: left(fish.read(text)), oracles.by_fish, "fish"),
    "environment.d": (
        lambda text: left(env_file.read_environment_d(text, {})),
        oracles.by_generator,
        "assignments",
    ),
    "pam_env": (lambda text: left(pam_env.read(text)), by_pam, "assignments"),
    ".env": (lambda text: left(dotenv.read(text)), by_dotenv, "assignments"),
}


def differences(name: str, folder: Path, text: str, *, ordinary: bool) -> list[str]:
    reader, program, _ = LANGUAGES[name]
    told, real = reader(text), program(folder, text)
    if real is None:  # the program fails, and nobody gets anything
        return []
    wrong = []
    for variable in files.NAMES:
        if variable in told and told[variable] is None:
            conditional = "$ZZ" in text
            wrong += [f"{variable} is not told"] if ordinary and not conditional else []
        elif told.get(variable) != real.get(variable):
            wrong.append(f"{variable} is told to be {told.get(variable)!r} and is {real.get(variable)!r}")
    return [f"{said}: {text!r}" for said in wrong]


def tried(name: str, folder: Path, seed: int, count: int) -> list[str]:
    kind = LANGUAGES[name][2]
    ordinary, odd = getattr(files, kind), getattr(files, f"odd_{kind}")
    found = [
        said
        for text in files.several(seed, count, ordinary)
        for said in differences(name, folder, text, ordinary=True)
    ]
    return found + [
        said
        for text in files.several(seed + 1, count, odd)
        for said in differences(name, folder, text, ordinary=False)
    ]


@pytest.mark.parametrize("name", LANGUAGES)
def test_no_variable_is_told_otherwise_than_its_program_sets_it(name: str, public: Path) -> None:
    assert tried(name, public, 1, FEW) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_five_hundred_files_of_each_kind(name: str, public: Path) -> None:
    assert tried(name, public, 100, MANY) == []


@pytest.mark.parametrize("file", [files.unit, files.odd_unit])
def test_a_manager_of_systemd_gives_a_service_what_is_told(
    public: Path, file: Callable[[random.Random], str]
) -> None:
    texts = files.several(1, 300, file)
    for text, real in zip(texts, oracles.by_manager(public, texts), strict=True):
        told = left(unit.read(text))
        for name in files.NAMES:
            assert told.get(name, "absent") in (None, real.get(name, "absent")), text


# -- what each rule is, by name ----------------------------------------------------------------------------

ROWS: dict[str, dict[str, str | None]] = {
    "dash": {
        "export X=1 # comment\n": "1",
        "export A=1 X=2\n": "2",
        "X=1; export X\n": "1",
        "X=1\n": "absent",
        "export X=1\nX=2\n": "2",
        "export X='a b'\"c\"\\d\n": "a bcd",
        "A=/opt\nexport X=$A/lib\n": "/opt/lib",
        "export X=${A:-v}\n": None,  # the session may have A
        "unset A\nexport X=${A:-v}\n": "v",
        "export X=$HOME\n": None,
        'if [ -n "$Z" ]; then export X=1; fi\n': None,
        "case $Z in a) export X=1 ;; esac\n": None,
        "for i in 1; do export X=$i; done\n": None,
        "f() { export X=1; }\nf\n": None,
        "f() { export X=1; }\n": "absent",
        "(export X=1)\n": "absent",
        "export X=1\nunset X\n": "absent",
        "readonly X=1\nexport X\n": "1",
        "X=1 true\n": "absent",
        "set -a\nX=1\nset +a\n": "1",
        "export X=1\nset -e\n": "1",
        "set -eu\nexport X=1\n": None,  # the script may end before it
        "set -o nounset\nexport X=1\n": None,
        "set -n\nexport X=1\n": None,
        "cat >/dev/null <<EOF\nexport X=1\nEOF\n": "absent",
        "export X=a\\\nb\n": "ab",
        "[ -d / ] && export X=1\n": None,
        "export X=1 && true\n": "1",
        '[ -n "$Z" ] || return\nexport X=1\n': None,
        "return\nexport X=1\n": "absent",
        'export X=1\neval "$(true)"\n': None,
        "export X=1\n. /nonexistent\n": None,
        "export X=$(echo 1)\n": None,
        "export X=~\n": None,
        'export X="a\n': None,
        ": ${X:=1}\nexport X\n": None,
    },
    "fish": {
        "set -gx X 1 # c\n": "1",
        "set -x X '1'\n": "1",
        "set -g X 1\n": "absent",
        "set -gx X 1; set -g X 2\n": "2",
        "set -gx X 1; set -e X\n": "absent",
        'set -gx X "a$HOME"\n': None,
        "if true; set -gx X 1; end\n": None,
        "set -gx X\n": "",
        "export X=1\n": "1",
    },
    "environment.d": {
        "X=1\n": "1",
        "export X=1\n": "absent",
        "X=1 # c\n": "1 # c",
        'X="a b"  c\n': "a bc",
        "; X=2\n#X=3\nX=1\n": "1",
        "X=\n": "absent",
        "X=${A:-v}\n": None,
        "A=/opt\nX=$A/lib:${A}\n": "/opt/lib:/opt",
        "A=1\nX=${A:+v}\n": "v",
        "X=a\\\nb\n": "ab",
        "X=a$$b\n": "a$b",
        "X=a\\$b\n": None,
        "# c\\\nX=1\n": None,  # releases differ
    },
    "pam_env": {
        "X=1\n": "1",
        "export X=1\n": "1",
        "export  X=1\n": "absent",
        "X='a b'\n": "a b",
        'X=a"b"\n': None,
        "X=1 # c\n": None,  # the blank stays, but for libeconf
        "X=1#c\n": "1",
        "X=a\\\nb\n": None,
        "X=$HOME\n": "$HOME",
        "X-Y=1\n": "absent",
        "X=1\nX\n": "absent",
        f"X=1\nA={'v' * 9000}\nX\n": None,  # 1.6.0 and later read so long a line, and what follows it
    },
    ".env": {
        "X=1 # c\n": "1",
        'X="1" # c\n': "1",
        "export X=1\n": "1",
        "X = 1\n": "1",
        "X=a#b\n": "a#b",
        "X='a # b'\n": "a # b",
        "X=$A\n": None,
        "X=${A:-v}\n": None,
        'X="a\\nb"\n': None,
        'X="a\nb"\n': "a\nb",
        "X=1\nX=2\n": "2",
    },
}


@pytest.mark.parametrize(
    ("name", "text", "value"), [(name, *row) for name, rows in ROWS.items() for row in rows.items()]
)
def test_a_rule_of_a_language(name: str, text: str, value: str | None, public: Path) -> None:
    """The value; None where it cannot be told. Where the reader tells one, the program has it too."""
    told = LANGUAGES[name][0](text)
    assert told.get("X", "absent") == value
    if name != ".env":
        assert differences(name, public, text, ordinary=False) == []
