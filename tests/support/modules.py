"""Kernel module files small enough for a test and real enough for modinfo: an ELF object with .modinfo."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

from .tools import require_tool


def module_file(name: str, parameters: Mapping[str, str]) -> bytes:
    """A relocatable ELF64 file whose `.modinfo` declares `parameters`, name to type (elf(5), modinfo(8))."""
    entries = [f"name={name}", "license=GPL", *(f"parmtype={key}:{type}" for key, type in parameters.items())]
    modinfo = b"\0".join(entry.encode() for entry in entries) + b"\0"
    names = b"\0.modinfo\0.shstrtab\0"
    modinfo_at, names_at = 64, 64 + len(modinfo)
    sections_at = names_at + len(names)
    sections_at += -sections_at % 8
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01" + bytes(9),
        *(1, 62, 1, 0, 0, sections_at, 0, 64, 0, 0, 64, 3, 2),
    )
    table = bytes(64) + _section(1, 1, modinfo_at, len(modinfo)) + _section(10, 3, names_at, len(names))
    return (header + modinfo + names).ljust(sections_at, b"\0") + table


def _section(name: int, type: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, type, 0, 0, offset, size, 0, 0, 1, 0)


def install_kernel(root: Path, release: str, parameters: Mapping[str, str]) -> None:
    """A kernel of `root` whose amdgpu takes `parameters`, indexed by the real depmod."""
    folder = root / "usr/lib/modules" / release
    module = folder / "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko"
    module.parent.mkdir(parents=True)
    module.write_bytes(module_file("amdgpu", parameters))
    for index in ("modules.builtin", "modules.order"):
        (folder / index).write_text("")
    depmod = require_tool("depmod", package="kmod")
    subprocess.run([depmod, "-b", str(root), release], check=True, capture_output=True)
