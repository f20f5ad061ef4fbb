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
        root().mkdir(parents=True, exist_ok=True)
        with _locked(root() / f"{name}.lock"):
            if not target.is_dir():
                _build_beside(target, build)
    return target


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


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
