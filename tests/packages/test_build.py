"""What users install: the wheel and the sdist hold everything the program needs, and run from anywhere."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import rocmcfg

REPOSITORY = Path(__file__).parents[2]
# What the wheel puts below the prefix, and where it comes from.
SHARED = {
    **{
        f"share/man/{page.parent.name}/{page.name}": f"packaging/man/{page.parent.name}/{page.name}"
        for page in sorted((REPOSITORY / "packaging/man").glob("man?/*"))
    },
    "share/bash-completion/completions/rocmcfg": "packaging/completions/rocmcfg.bash",
    "share/zsh/site-functions/_rocmcfg": "packaging/completions/_rocmcfg",
    "share/fish/vendor_completions.d/rocmcfg.fish": "packaging/completions/rocmcfg.fish",
    "share/rocmcfg/undo.sh": "packaging/undo.sh",
    "share/rocmcfg/profile.schema.json": "rocmcfg/knowledge/profile.schema.json",
    "lib/systemd/system/rocmcfg-recover.service": "packaging/systemd/rocmcfg-recover.service",
    "lib/systemd/system/rocmcfg-trial.service": "packaging/systemd/rocmcfg-trial.service",
    "lib/systemd/system/rocmcfg-try.service": "packaging/systemd/rocmcfg-try.service",
    "lib/systemd/system/rocmcfg-crash@.service": "packaging/systemd/rocmcfg-crash@.service",
    "lib/systemd/system/rocmcfg-metrics.service": "packaging/systemd/rocmcfg-metrics.service",
    "lib/systemd/system/rocmcfg-metrics.timer": "packaging/systemd/rocmcfg-metrics.timer",
    "share/rocmcfg/prometheus/rocmcfg.rules.yml": "packaging/prometheus/rocmcfg.rules.yml",
    "lib/udev/rules.d/70-rocmcfg-crash.rules": "packaging/udev/70-rocmcfg-crash.rules",
}


def build(source: Path, target: Path, *which: str) -> None:
    """Without the network and without an environment of its own: hatchling is in this one."""
    command = [sys.executable, "-m", "build", "--no-isolation", *which, "--outdir", str(target), str(source)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1750000000"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions; the wheel is built from the sdist, so that nothing can be missing from that."""
    target = tmp_path_factory.mktemp("dist")
    build(REPOSITORY, target)
    return target


@pytest.fixture(scope="module")
def unpacked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source as it lies on the disk of somebody whose umask is 077."""
    target = tmp_path_factory.mktemp("source")
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(target)
    source = next(target.iterdir())
    with tarfile.open(source / "recorded-hosts.tar") as hosts:
        hosts.extractall(source)
    for path in source.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
    return source


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site-packages of a fresh virtual environment, as pip fills it offline."""
    prefix = tmp_path_factory.mktemp("prefix") / "rocmcfg"
    subprocess.run([sys.executable, "-m", "venv", str(prefix)], check=True)
    pip = [f"{prefix}/bin/pip", "--quiet", "--disable-pip-version-check", "install"]
    wheel = next(built.glob("*.whl"))
    subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
    return next(prefix.glob("lib/python*/site-packages"))


def run(installed: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """The installed program; its dependencies are those of this environment."""
    environment = {**os.environ, "PYTHONPATH": f"{installed}:{sysconfig.get_path('purelib')}"}
    command = [str(installed.parents[2] / "bin/rocmcfg"), *argv]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)


def test_the_installed_wheel_knows_its_version(installed: Path) -> None:
    assert run(installed, "--version").stdout == f"rocmcfg {rocmcfg.__version__}\n"


def test_the_installed_wheel_brings_profiles_catalogue_and_templates(installed: Path) -> None:
    shipped = {path.name for path in (REPOSITORY / "profiles").glob("*.toml")}
    assert {path.name for path in (installed / "rocmcfg/profiles").glob("*.toml")} == shipped
    sample = REPOSITORY / "docs/demo/sample-host"
    planned = run(installed, "plan", "--profile", "gfx1201", "--root", str(sample))
    assert planned.returncode == 0, planned.stderr
    assert "amdgpu.cwsr_enable=0" in planned.stdout
    assert run(installed, "profile", "validate", *(name[:-5] for name in sorted(shipped))).returncode == 0


def test_pip_puts_pages_completions_schema_and_unit_below_the_prefix(installed: Path) -> None:
    prefix = installed.parents[2]
    for name, source in SHARED.items():
        assert (prefix / name).read_bytes() == (REPOSITORY / source).read_bytes()


def test_the_wheel_holds_the_program_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        modes = {name: wheel.getinfo(name).external_attr >> 16 & 0o777 for name in names}
    data = f"rocmcfg-{rocmcfg.__version__}.data/data/"
    assert {name.removeprefix(data) for name in names if name.startswith(data)} == set(SHARED)
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests/", "docs/"))]
    assert {name.partition("/")[0].removeprefix("rocmcfg") for name in names} == {
        "",
        f"-{rocmcfg.__version__}.data",
        f"-{rocmcfg.__version__}.dist-info",
    }
    assert [name.removeprefix(data) for name, mode in modes.items() if mode != 0o644] == [
        "share/rocmcfg/undo.sh"
    ]
    assert modes[f"{data}share/rocmcfg/undo.sh"] == 0o755


def test_the_tree_the_sdist_and_a_tree_for_one_user_give_the_same(
    built: Path, unpacked: Path, tmp_path: Path
) -> None:
    """Byte for byte: times, modes and the order of a directory are not those of whoever builds."""
    build(REPOSITORY, tmp_path / "tree", "--wheel")
    build(unpacked, tmp_path / "one-user", "--wheel")
    build(unpacked, tmp_path / "one-user", "--sdist")
    wheels = [next(p.glob("*.whl")) for p in (built, tmp_path / "tree", tmp_path / "one-user")]
    sdists = [next(p.glob("*.tar.gz")) for p in (built, tmp_path / "one-user")]
    for files in (wheels, sdists):
        assert len({hashlib.sha256(path.read_bytes()).hexdigest() for path in files}) == 1, files


def test_the_sdist_is_the_repository(built: Path, unpacked: Path) -> None:
    """Every file that is under version control, links as links: tests and packages can be made from it."""
    git = shutil.which("git")
    if git is None or not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        [git, "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        ours, theirs = REPOSITORY / name, unpacked / name
        if ours.is_symlink():
            assert theirs.is_symlink(), name
            assert os.readlink(ours) == os.readlink(theirs), name
        elif ours.exists():  # else it is being deleted
            assert theirs.is_file(), name
            assert theirs.read_bytes() == ours.read_bytes(), name
            assert os.access(theirs, os.X_OK) == os.access(ours, os.X_OK), name


def test_every_installer_can_unpack_the_sdist(built: Path) -> None:
    """uv takes no link out of its folder and no colon, and what takes those may not take others."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        members = archive.getmembers()
    assert {member.type for member in members} <= {tarfile.REGTYPE, tarfile.DIRTYPE}
    assert [member.name for member in members if re.search(r'[\\:*?"<>|\x00-\x1f]', member.name)] == []


def test_the_sdist_holds_what_a_distribution_builds_and_tests_from(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "Makefile",
        "requirements.lock",
        "profiles/gfx1201.toml",
    }
    assert needed <= names
    assert any(name.startswith("tests/") for name in names)
    assert {"packaging/tree.py", "packaging/debian/rules", "packaging/ansible/galaxy.yml"} <= names
    assert any(name.startswith("docs/demo/sample-host/") for name in names)
    assert "recorded-hosts.tar" in names


def test_the_licence_and_the_python_that_it_needs_are_declared(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
        text = wheel.read(metadata).decode()
    assert "License-Expression: MIT" in text
    assert "Requires-Python: >=3.10" in text
