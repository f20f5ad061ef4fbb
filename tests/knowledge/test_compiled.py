"""What is compiled says what the TOML files say, and is believed only as long as it does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.advice.doctor.reading import probes
from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import catalogue, compiled, cures, diagnosis, faults, profiles, toml
from rocmcfg.knowledge.profile_schema import validate

PACKAGE = Path(compiled.PACKAGE)
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("*/data/**/*.toml"))
PROFILES = sorted(path.name for path in Path(profiles.shipped_dir()).glob("*.toml"))
GPUS = "knowledge/data/gpus.toml"


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the compiled file, which is read in its place."""
    copy = tmp_path / "compiled.tsv"
    copy.write_bytes(Path(compiled.PATH).read_bytes())
    monkeypatch.setattr(compiled, "PATH", str(copy))
    compiled._lines.cache_clear()
    yield copy
    compiled._lines.cache_clear()


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_package_is_compiled_and_the_same(name: str) -> None:
    content = (PACKAGE / name).read_bytes()
    assert compiled.known(name, content) == toml.loads(content.decode()), "run docs/generate.py"


@pytest.mark.parametrize("name", PROFILES)
def test_a_shipped_profile_is_compiled_and_the_same(name: str) -> None:
    content = Path(profiles.shipped_dir(), name).read_bytes()
    checked = validate(toml.loads(content.decode()))
    assert (compiled.known(f"profiles/{name}", content), []) == checked, "run docs/generate.py"


def test_what_a_pattern_requires_is_compiled_and_the_same() -> None:
    classes = faults.faults().values()
    every = probes.of_all(diagnosis.log_knowledge(), catalogue.known_issues(), classes, resets=True)
    known, parts = compiled.known(probes.TEXTS, b""), compiled.known(probes.PARTS, b"")
    assert known is not None
    assert parts is not None
    assert set(known) == set(parts) == {probe.pattern for probe in every}, "run docs/generate.py"
    for pattern, texts in known.items():
        assert [tuple(map(str.encode, one)) for one in texts] == probes.required(pattern)
        assert parts[pattern] == probes.parts(pattern)


def test_the_cures_of_known_issues_are_compiled_and_the_same() -> None:
    known = compiled.known(cures.READY, b"")
    every = cures.cures_of(catalogue.known_issues()).items()
    rows = {id: [cure._asdict() for cure in listed] for id, listed in every}
    assert known == json.loads(json.dumps(rows)), "run docs/generate.py"


def test_nothing_else_is_compiled() -> None:
    wanted = {*FILES, *(f"profiles/{name}" for name in PROFILES), probes.TEXTS, probes.PARTS, cures.READY}
    assert {name.decode() for name in compiled._lines() if name} == wanted


def test_of_a_file_that_was_edited_the_file_counts() -> None:
    content = (PACKAGE / GPUS).read_bytes()
    assert compiled.known(GPUS, content) is not None
    assert compiled.known(GPUS, content.replace(b"gfx1201", b"gfx1211", 1)) is None


@pytest.mark.parametrize("damage", ["missing", "directory", "empty", "cut", "one character", "not UTF-8"])
def test_of_a_damaged_one_the_files_count(other: Path, damage: str) -> None:
    whole = other.read_bytes()
    at = whole.index(b"gfx1201", whole.index(GPUS.encode()))
    other.unlink()
    if damage == "directory":
        other.mkdir()
    elif damage != "missing":
        changed = {"empty": b"", "cut": whole[:at]}.get(damage)
        wrong = b"h" if damage == "one character" else b"\xff"
        other.write_bytes(whole[:at] + wrong + whole[at + 1 :] if changed is None else changed)
    content = (PACKAGE / GPUS).read_bytes()
    assert compiled.known(GPUS, content) is None
    assert compiled.packaged(GPUS) == toml.loads(content.decode())


def test_without_it_a_shipped_profile_is_the_same(other: Path, tmp_path: Path) -> None:
    host = LocalHost(str(tmp_path))
    before = profiles.load(host, ["rdna4", "gfx1201"])
    other.write_bytes(b"")
    compiled._lines.cache_clear()
    assert profiles.load(host, ["rdna4", "gfx1201"]) == before


def test_neither_pydantic_nor_a_reader_of_toml_is_loaded_for_a_shipped_profile(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom rocmcfg.host.local import LocalHost\nfrom rocmcfg.knowledge import profiles\n"
        "profiles.load(LocalHost(sys.argv[1]), ['gfx1201', 'rdna4'])\n"
        "print(sorted({'pydantic', 'tomllib', 'tomli'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
