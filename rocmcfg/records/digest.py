"""SHA-256 without `hashlib`, which loads OpenSSL: 3 ms that verify, run after every boot, can do without."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any


def _implementation() -> Callable[[bytes], Any]:
    import importlib

    for module in ("_sha2", "_sha256", "hashlib"):  # CPython ≥ 3.12, older ones, any other build
        with suppress(ImportError):
            found: Callable[[bytes], Any] = importlib.import_module(module).sha256
            return found
    raise ImportError("this Python has no SHA-256")


_sha256 = _implementation()


def sha256(content: bytes) -> str:
    """The digest in hexadecimal."""
    digest: str = _sha256(content).hexdigest()
    return digest
