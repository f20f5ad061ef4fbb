"""The harness's cache on disk: directories keyed by the content of their inputs, never half built."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def root() -> Path:
    """Return the cache directory; everything in it can be deleted at any time that no guest runs."""
    if chosen := os.environ.get("ROCMCFG_VM_CACHE"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "rocmcfg" / "vm"


def key_of(files: Iterable[Path], *texts: str) -> str:
    """Return a short key of the names and contents of files and of further texts."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    for text in texts:
        digest.update(f"{len(text)}\0{text}".encode())
    return digest.hexdigest()[:16]


def directory(name: str, build: Callable[[Path], None]) -> Path:
    """Return the cached directory of this name, after `build` has filled it if nobody did before.

    A build goes into a neighbour that is renamed when it is complete, so a killed build leaves nothing that
    looks finished. A second process that wants the same directory waits for the first.
    """
    target = root() / name
    if not target.is_dir():
        with locked(name):
            if not target.is_dir():
                _build_beside(target, build)
    return target


def forget_older_than(newest: Path, pattern: str, keep: int) -> None:
    """Delete old directories of this pattern but for the last few: every edit makes another one."""
    newest.touch()
    found = [path for path in root().glob(pattern) if path.is_dir()]
    found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for old in found[keep:]:
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of this name against the other processes that share the cache."""
    root().mkdir(parents=True, exist_ok=True)
    with (root() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_beside(target: Path, build: Callable[[Path], None]) -> None:
    for left_over in target.parent.glob(f".{target.name}.*"):  # of a killed build: we hold the lock
        shutil.rmtree(left_over)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        build(temporary)
        temporary.chmod(0o755)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
