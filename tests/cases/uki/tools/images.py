"""What the stand-ins share: an image as it was but for its line, and a signature that nobody checks."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from tests.support.hosts.pe import uki

_SIGNATURE = b"\x10\0\0\0\0\x02\x02\0no key\0\0"
_DIRECTORY = 64 + 24 + 112 + 4 * 8


def build(root: Path, path: Path, line: str, release: str) -> None:
    """With the stub of the image that is there, if there is one."""
    old = path.read_bytes() if path.exists() else b""
    stub = "257.9-1~deb13u1"
    if old:
        _, found, rest = old.partition(b"LoaderInfo: systemd-stub ")
        stub = rest.partition(b" ####")[0].decode() if found else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(uki(line, release, (root / "etc/os-release").read_text(), stub=stub))


def sign(path: Path) -> None:
    content = bytearray(path.read_bytes())
    struct.pack_into("<2I", content, _DIRECTORY, len(content), len(_SIGNATURE))
    path.write_bytes(content + _SIGNATURE)


def release_of(root: Path) -> str:
    return sorted(path.name for path in (root / "usr/lib/modules").iterdir())[-1]
