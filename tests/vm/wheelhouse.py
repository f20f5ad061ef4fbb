"""The project and its locked dependencies as wheels for the guest's Python, cached by content.

Downloads from PyPI, so it runs on the host; the guest installs offline.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.support.shared import fetched

from . import cache
from .guest import Guest

REPOSITORY = Path(__file__).resolve().parents[2]
GUEST_PYTHON = "3.13"  # of Debian trixie
# glibc 2.41 of trixie runs all of these; pip wants each tag that it may take named.
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
_WHEEL_INPUTS = ("pyproject.toml", "README.md", "LICENSE")
_WHEEL_FOLDERS = ("rocmcfg", "profiles", "packaging")


def path(repository: Path = REPOSITORY) -> Path:
    """Return a directory with the project's wheel and those of requirements.lock, built if needed."""
    lock = repository / "requirements.lock"
    dependencies = cache.directory(
        f"dependencies-{cache.key_of([Path(__file__), lock])}", lambda work: _download(lock, work)
    )

    def build(work: Path) -> None:
        _build_project(repository, work)
        for wheel in dependencies.glob("*.whl"):
            (work / wheel.name).hardlink_to(wheel)

    filled = cache.directory(f"wheelhouse-{_project_key(repository, lock)}", build)
    cache.forget_older_than(filled, "wheelhouse-*", keep=5)
    return filled


def install(guest: Guest, wheelhouse: Path) -> float:
    """Install into /opt/rocmcfg as the README does, but from these wheels; returns the seconds."""
    started = time.monotonic()
    guest.run(["mkdir", "-p", "/tmp/wheelhouse"], check=True)
    for wheel in sorted(wheelhouse.glob("*.whl")):
        guest.put(wheel, f"/tmp/wheelhouse/{wheel.name}")
    options = "--quiet --no-index --find-links=/tmp/wheelhouse --disable-pip-version-check"
    guest.run(f"/opt/rocmcfg/bin/pip install {options} rocmcfg", 600, check=True)
    guest.run(["ln", "-sf", "/opt/rocmcfg/bin/rocmcfg", "/usr/local/bin/rocmcfg"], check=True)
    guest.run(["rm", "-r", "/tmp/wheelhouse"], check=True)
    return time.monotonic() - started


def _project_key(repository: Path, lock: Path) -> str:
    single = [repository / name for name in _WHEEL_INPUTS]
    trees = [p for folder in _WHEEL_FOLDERS for p in (repository / folder).rglob("*") if _is_source(p)]
    names = [str(p.relative_to(repository)) for p in sorted(trees)]  # a moved file is another wheel
    return cache.key_of([Path(__file__), lock, *single, *trees], *names)


def _is_source(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def _build_project(repository: Path, work: Path) -> None:
    # By the hatchling of this environment: pip would fetch another, for one of its own.
    _pip(["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(work), str(repository)])


def _download(lock: Path, work: Path) -> None:
    # --no-deps: the lock is complete, and pip would resolve markers for this Python instead of the guest's.
    options = ["--only-binary=:all:", "--no-deps", "--python-version", GUEST_PYTHON, "--implementation", "cp"]
    options += [f"--abi={abi}" for abi in (f"cp{GUEST_PYTHON.replace('.', '')}", "abi3", "none")]
    options += [f"--platform={platform}" for platform in _PLATFORMS]
    _pip(["download", *options, "--require-hashes", "--requirement", str(lock), "--dest", str(work)])


def _pip(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    fetched(command, "wheels for the guest")
