"""What `make sources` proves of the data: a digest for each part, without prose.

The record holds the digests of what was proven. A part that has another one now was changed since, and CI
fails until `make sources` is run again, or until somebody who cannot run it lists the part in owed.toml.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).resolve().parents[3] / "rocmcfg/knowledge/data"
OWED = Path(__file__).with_name("owed.toml")
# The keys of each file that a source says; the words around them are for readers.
_KEYS = {
    "gpus": ("gc_ip", "gfx", "pci", "codename"),
    "features": ("parameter", "bit"),
    "parameters": ("epochs", "lacks", "since", "until", "config", "dkms_only"),
    "parameter_notes": ("bits",),
    "status_codes": ("number", "prints"),
    "environment": ("reader", "unknown", "build_only", "names"),
    "namespaces": ("prefix", "names", "others", "closed"),
}
_SIGNATURE = ("pattern", "samples", "printed_by")


def digests(data: Path = DATA) -> dict[str, str]:
    """Return the digest of each part: of each table, and of the wordings of each issue that has any."""
    parts: dict[str, Any] = {name: _rows(_read(data / f"{name}.toml"), keys) for name, keys in _KEYS.items()}
    for path in sorted((data / "issues").glob("*.toml")):
        wordings = [_only(row, _SIGNATURE) for row in _read(path).get("signature", ())]
        if wordings:
            parts[f"issues/{path.stem}"] = wordings
    return {name: _digest(part) for name, part in parts.items()}


def owed() -> set[str]:
    return set(_read(OWED)["parts"])


def changed(record: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Return the parts that the record does not prove as they are now; what is gone needs no proof."""
    return {name for name, digest in now.items() if record.get(name) != digest}


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def _rows(document: Mapping[str, Any], keys: tuple[str, ...]) -> list[Any]:
    return [*_below(document, keys, "")]


def _below(value: Any, keys: tuple[str, ...], path: str) -> Iterator[Any]:
    """Yield each table with one of the keys, wherever it is, with the names that lead to it."""
    for number, row in enumerate(value) if isinstance(value, list) else ():
        yield from _below(row, keys, f"{path}[{number}]")
    if isinstance(value, dict):
        if kept := _only(value, keys):
            yield path, kept
        for name, row in value.items():
            if name not in keys:
                yield from _below(row, keys, f"{path}.{name}")


def _only(row: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: row[key] for key in keys if key in row}


def _digest(part: Any) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True, default=str).encode()).hexdigest()[:16]
