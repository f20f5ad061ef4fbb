"""The program as packages start it: `python3 -IS`, libraries on sys.path and no metadata of any, a tree that
nobody may write, profiles in usr/share; and from the places where people stand when something is broken."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import DEMO, SOURCE

SITE = Path(sysconfig.get_paths()["purelib"])


def _libraries() -> set[str]:
    """Return the modules of the libraries that are in the lock, and of those that these need in the version
    that is installed: nothing else is in a package."""
    lock = (SOURCE / "requirements.lock").read_text().splitlines()
    rest = [line.partition("==")[0] for line in lock if "==" in line and not line.startswith(" ")]
    names: set[str] = set()
    while rest:
        name = rest.pop()
        if name in names:
            continue
        names.add(name)
        with contextlib.suppress(metadata.PackageNotFoundError):
            rest += [
                re.split(r"[^\w-]", line)[0] for line in metadata.requires(name) or () if ";" not in line
            ]
    return {name.replace("-", "_") for name in names}


LIBRARIES = _libraries()
START = (
    "import sys; sys.dont_write_bytecode = True; sys.path += sys.argv.pop(1).split(':'); "
    "from rocmcfg.cli.app import main; main()"
)
LOG = SOURCE / "tests/doctor/logs/rdna4-gemm-overread.log"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """usr/lib/rocmcfg with the program and its libraries beside it, nothing of it writable."""
    usr = tmp_path_factory.mktemp("bare") / "usr"
    home = usr / "lib/rocmcfg"
    shutil.copytree(SOURCE / "rocmcfg", home / "rocmcfg", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(SOURCE / "profiles", usr / "share/rocmcfg/profiles")
    for name in LIBRARIES:
        for found in (SITE / name, SITE / f"{name}.py"):
            if found.exists():
                (home / found.name).symlink_to(found)
    for folder, directories, files in os.walk(usr):
        for name in (*directories, *files):
            if not Path(folder, name).is_symlink():
                Path(folder, name).chmod(0o555)
    return home


def run(
    bare: Path, *arguments: str | Path, python: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-IS", *python, "-c", START, str(bare), *map(str, arguments)]
    return subprocess.run(argv, capture_output=True, text=True, cwd="/", env=env or {}, check=False)


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("plan", "--profile", "auto"),
    ("apply", "--profile", "gfx1201", "--set", "profile.x=1"),
    ("apply", "--profile", "gfx1201", "--yes"),
    ("verify",),
    ("status",),
    ("history", "-v"),
    ("profile", "list"),
    ("profile", "show", "strix"),
    ("profile", "validate", "rdna4", "strix", "mi300x"),
    ("explain", "ppfeaturemask=0xfffd3fff"),
    ("lint",),
    ("doctor", "--log", str(LOG)),
    ("report",),
    ("rollback", "--dry-run"),
    ("rollback", "--yes"),
    ("recover",),
)


def test_every_command_runs_without_metadata_without_site_and_without_a_warning(
    bare: Path, tmp_path: Path
) -> None:
    """A deprecation of today is a failure on the Python of the next release."""
    root = tmp_path / "sample"
    shutil.copytree(DEMO / "sample-host", root, symlinks=True)
    before = sorted(bare.parents[1].rglob("*"))
    strict = ("-W", "error")
    for command in COMMANDS:
        done = run(bare, *command, "--root", root, "--json", python=strict)
        assert done.returncode in (0, 1, 2, 3, 6), (command, done.stderr)
        assert "RC9000" not in done.stdout, (command, done.stdout)
        assert done.stderr == "", (command, done.stderr)
        assert "Traceback" not in done.stdout + done.stderr, command
    for command in (("--help",), ("apply", "--help"), ("schema",), ("--version",)):
        done = run(bare, *command, python=strict)
        assert (done.returncode, done.stderr) == (0, ""), (command, done.stderr)
    found = run(bare, "plan", "--profile", "rdna4", "--root", root, python=strict)
    assert "amdgpu.cwsr_enable = 0" in found.stdout, found.stderr
    assert sorted(bare.parents[1].rglob("*")) == before


def test_no_module_warns_when_it_is_imported(bare: Path) -> None:
    every = (
        "import sys, pkgutil, importlib\n"
        "sys.dont_write_bytecode = True; sys.path.append(sys.argv[1]); import rocmcfg\n"
        "for found in pkgutil.walk_packages(rocmcfg.__path__, 'rocmcfg.'):\n"
        "    if not found.name.endswith('__main__'): importlib.import_module(found.name)\n"
    )
    # the oldest typer warns with the newest click, and no command of rocmcfg imports typer at its start
    python = (sys.executable, "-IS", "-W", "error", "-W", "ignore::DeprecationWarning:typer")
    done = subprocess.run((*python, "-c", every, str(bare)), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"PATH": "/usr/sbin:/usr/bin", "HOME": "/nonexistent", "TERM": "linux", "LC_ALL": "C"},
        {"PATH": "", "TERM": "", "LANG": "xx_XX.UTF-8"},
        {
            "SUDO_USER": "somebody",
            "SUDO_UID": "1000",
            "HOME": "/root",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        },
    ],
    ids=["nothing", "rescue", "broken", "sudo"],
)
def test_it_runs_in_a_poor_environment(bare: Path, tmp_path: Path, env: dict[str, str]) -> None:
    root = debian_grub_host(tmp_path, live=False)
    for command in (
        ("status",),
        ("apply", "--set", "amdgpu.runpm=0", "--yes"),
        ("verify",),
        ("rollback", "--dry-run"),
        ("rollback", "--yes"),
    ):
        done = run(bare, *command, "--root", root, env=env)
        assert done.returncode == (6 if command == ("verify",) else 0), (command, done.stderr)
        # nothing of that host can be run, and a rollback says so
        assert not re.search(r"^(?:error|warning(?!\[RC4016))", done.stderr, re.M), (command, done.stderr)
        assert done.stderr == "" or re.match(r"note\[|warning\[RC4016", done.stderr), (command, done.stderr)
