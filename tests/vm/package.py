"""The project's Debian package, and a guest that has just installed it; both cached by content."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.shared import fetched

from . import cache, image, qemu
from .frozen import Frozen
from .guest import Guest
from .wheelhouse import REPOSITORY

_INPUTS = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "requirements.lock")
_FOLDERS = ("rocmcfg", "profiles", "packaging")
_OTHERS = ("ansible", "arch", "rpm")  # parts of packaging/ that the package does not hold
_INSTALLED_FROM = "/root/rocmcfg.deb"


def path() -> Path:
    """Return the package as the working tree makes it, built if needed."""
    built = cache.directory(f"deb-{_key()}", _build)
    cache.forget_older_than(built, "deb-*", keep=3)
    return next(built.glob("rocmcfg_*.deb"))


def installed(package: Path, suite: str = image.SUITES[0]) -> Frozen:
    """Return a guest with amdgpu loaded from the root file system that has installed the package."""
    below = image.base(suite)
    here = Path(__file__).parent
    parts = [package, here / "qemu.py", here / "frozen.py", here / "package.py"]
    key = cache.key_of(parts, str(below), qemu.version())

    def build(work: Path) -> None:
        with Guest(below) as guest:
            install(guest, package)
            guest.run("systemctl is-system-running --wait", 600)
            guest.freeze(work)

    frozen = cache.directory(f"installed-{key}", build)
    cache.forget_older_than(frozen, "installed-*", keep=4)
    return Frozen(frozen)


def install(guest: Guest, package: Path) -> None:
    guest.put(package, _INSTALLED_FROM)
    guest.run(["dpkg", "--install", _INSTALLED_FROM], 600, check=True)
    guest.run(["rm", _INSTALLED_FROM], check=True)


def _key() -> str:
    folders = [file for folder in _FOLDERS for file in (REPOSITORY / folder).rglob("*") if _counts(file)]
    names = [str(file.relative_to(REPOSITORY)) for file in sorted(folders)]  # a moved file is another package
    return cache.key_of([*(REPOSITORY / name for name in _INPUTS), *folders], *names)


def _counts(file: Path) -> bool:
    parts = file.relative_to(REPOSITORY).parts
    left_out = parts[0] == "packaging" and parts[1] in _OTHERS
    return file.is_file() and "__pycache__" not in parts and not left_out


def _build(work: Path) -> None:
    tree, lock = REPOSITORY / "packaging/tree.py", REPOSITORY / "requirements.lock"
    wheels = cache.directory(
        f"libraries-{cache.key_of([tree, lock])}",
        lambda into: fetched(
            [sys.executable, tree, "fetch", "--into", into, "--machine", "x86_64"], "the package's libraries"
        ),
    )
    build = REPOSITORY / "packaging/debian/build"
    _run([str(build), "--wheels", str(wheels), "--output", str(work)])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {' '.join(command)}\n{done.stdout}")
