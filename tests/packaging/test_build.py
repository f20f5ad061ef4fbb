"""What users install: the wheel and the sdist hold everything the program needs, and run from anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import rocmcfg

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions; the wheel is built from the sdist, so that nothing can be missing from that."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(REPOSITORY)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked as pip would, without its dependencies: those are in this environment."""
    target = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(target)
    return target


def run(installed: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "rocmcfg", *argv]
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
    assert any(name.startswith("docs/demo/sample-host/") for name in names)


def test_the_licence_and_the_python_that_it_needs_are_declared(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
        text = wheel.read(metadata).decode()
    assert "License-Expression: MIT" in text
    assert "Requires-Python: >=3.10" in text
