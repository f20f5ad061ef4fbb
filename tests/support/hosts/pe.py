"""PE files as tests need them: sections with content, and nothing that could run."""

from __future__ import annotations

import struct
from collections.abc import Mapping

X64, AA64 = 0x8664, 0xAA64
_FILE, _MEMORY = 0x200, 0x1000  # alignment of sections


def pe(
    sections: Mapping[str, bytes], *, machine: int = X64, signed: bool = False, room: int = 0x400
) -> bytes:
    """PE32+ as systemd's stubs are: the PE header at 64, `room` bytes for headers, then the sections.

    signed   a table of signatures behind everything, with nothing that anybody would take for one
    """
    table, body, address = b"", b"", _MEMORY
    for name, content in sections.items():
        raw = _up(len(content), _FILE)
        fields = (name.encode(), len(content), address, raw, room + len(body), 0, 0, 0, 0, 0x40000040)
        table += struct.pack("<8s6I2HI", *fields)
        body += content + bytes(raw - len(content))
        address = _up(address + max(len(content), 1), _MEMORY)
    directories = [(0, 0)] * 16
    signature = b"\x10\0\0\0\0\x02\x02\0no key\0\0" if signed else b""
    if signed:
        directories[4] = (room + len(body), len(signature))
    optional = struct.pack("<HBBIIIII", 0x20B, 2, 0, 0, len(body), 0, _MEMORY, _MEMORY)
    optional += struct.pack("<QII", 0x1DD511000, _MEMORY, _FILE) + struct.pack("<6HI", *[0] * 7)
    optional += struct.pack("<III", address, room, 0) + struct.pack("<HH", 10, 0x160)
    optional += struct.pack("<4QII", 0x100000, 0x1000, 0x100000, 0x1000, 0, 16)
    optional += b"".join(struct.pack("<2I", *one) for one in directories)
    coff = struct.pack("<4s2H3I2H", b"PE\0\0", machine, len(sections), 0, 0, 0, len(optional), 0x22E)
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + coff + optional + table
    return head.ljust(room, b"\0") + body + signature


def uki(
    cmdline: str, release: str, os_release: str, *, stub: str = "257.9-1~deb13u1", signed: bool = False
) -> bytes:
    """As ukify puts one together, with placeholders for what boots; `stub` empty: it is not systemd's."""
    own = {".sdmagic": f"#### LoaderInfo: systemd-stub {stub} ####\0".encode()} if stub else {}
    return pe(
        {
            ".text": b"\xc3",
            **own,
            ".osrel": os_release.encode(),
            ".cmdline": cmdline.encode(),
            ".uname": release.encode(),
            ".linux": b"a kernel",
            ".initrd": b"an initramfs",
        },
        signed=signed,
    )


def addon_stub(machine: int = X64) -> bytes:
    magic = b"#### LoaderInfo: systemd-addon 257.9-1~deb13u1 ####\0"
    return pe({".text": b"\xb8\x03\0\0\0\xc3", ".sdmagic": magic}, machine=machine)


def shown_sections(content: bytes) -> list[str]:
    """A line for each section, and whether it is signed, read as the firmware finds them."""
    (count,), (optional,) = (struct.unpack_from("<H", content, 64 + at) for at in (6, 20))
    shown = []
    for place in range(64 + 24 + optional, 64 + 24 + optional + 40 * count, 40):
        name, size, _, _, offset = struct.unpack_from("<8s4I", content, place)
        shown.append(f"{name.rstrip(bytes(1)).decode()}: {content[offset : offset + size]!r}")
    return [*shown, *(["signed"] if struct.unpack_from("<I", content, 64 + 24 + 112 + 36)[0] else [])]


def _up(number: int, to: int) -> int:
    return -(-number // to) * to
