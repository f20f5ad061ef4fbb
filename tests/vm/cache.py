"""The harness's cache on disk: directories keyed by the content of their inputs, never half built."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.support import shared


def root() -> Path:
    """Return the cache directory; everything in it can be deleted at any time that no guest runs."""
    if chosen := os.environ.get("ROCMCFG_VM_CACHE"):
        return Path(chosen).absolute()
    return shared.cache("vm")


def key_of(files: Iterable[Path], *texts: str) -> str:
    """Return a short key of the names and contents of files and of further texts."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    for text in texts:
        digest.update(f"{len(text)}\0{text}".encode())
    return digest.hexdigest()[:16]


def directory(name: str, build: Callable[[Path], object]) -> Path:
    """Return the cached directory of this name, after `build` has filled it if nobody did before."""
    return shared.made_once(root() / name, build)


def forget_older_than(newest: Path, pattern: str, keep: int) -> None:
    """Delete old directories of this pattern but for the last few: every edit makes another one."""
    shared.forget_older_than(newest, pattern, keep)
