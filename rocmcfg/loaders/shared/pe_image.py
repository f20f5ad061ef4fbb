"""Read and add sections of a PE file: a unified kernel image, an addon, or the stub at the beginning of
either.

Sections are read by their offsets, since such an image is larger than the limit for whole files; every field
is compared with the size of the file before it is followed. Layout: "PE Format" (Microsoft), as read by
systemd 257.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import BinaryIO

from rocmcfg.host.foreign import parsing
from rocmcfg.host.view import HostView
from rocmcfg.model.shape import NamedTuple

MOST_TEXT = 64 << 10  # bytes; the kernel accepts a command line of 2,048, an os-release has some 500
_MOST_SECTIONS = 512  # an image has some ten, and a few for each of its profiles and device trees
_DIRECTORIES = {
    0x10B: 96,
    0x20B: 112,
}  # offset of the data directories in an optional header of each kind (PE32, PE32+)
_CERTIFICATES = 4  # place of the table of signatures among the data directories
_TEXTS = (".cmdline", ".uname", ".osrel", ".sdmagic")
_READ_ONLY_DATA = 0x40000040  # IMAGE_SCN_MEM_READ | IMAGE_SCN_CNT_INITIALIZED_DATA


class PeImage(NamedTuple):
    """A PE file. `start` is the offset of the PE header, `table` that of the table of `number` sections, in
    bytes. `sections` holds offset and length, in bytes, of the first section of each name: the one of the
    base where an image has profiles. `texts` is the content of text sections by name. `signed`: there is a
    signature, by anyone."""

    machine: int
    start: int
    table: int
    number: int
    sections: dict[str, tuple[int, int]]
    texts: dict[str, str]
    signed: bool


def read(view: HostView, path: str) -> PeImage | None:
    """Return the sections of a file; None where there is no such file. Raises Unreadable, also for a file
    that is cut off or is not a PE file."""
    stream = view.stream(path)
    if stream is None:
        return None
    with stream, parsing(path, "it is damaged", "rebuild it"):
        return parse(stream)


def parse(stream: BinaryIO) -> PeImage:
    """Return the sections of a PE file. Raises ValueError with the reason."""
    size = stream.seek(0, 2)
    if size < 64 or _at(stream, 0, 2) != b"MZ":
        raise ValueError("it does not begin as a PE file")
    (start,) = struct.unpack("<I", _at(stream, 60, 4))
    if not 64 <= start <= size - 24 or _at(stream, start, 4) != b"PE\0\0":
        raise ValueError("it has no PE header")
    machine, count, optional_size = struct.unpack("<2H12xH2x", _at(stream, start + 4, 20))
    table = start + 24 + optional_size
    if not 0 < count <= _MOST_SECTIONS or table + 40 * count > size or optional_size < 2:
        raise ValueError(f"it declares {count} sections in a file of {size} bytes")
    (kind,) = struct.unpack("<H", _at(stream, start + 24, 2))
    if kind not in _DIRECTORIES:
        raise ValueError("its optional header is of an unknown kind")
    sections: dict[str, tuple[int, int]] = {}
    for name, virtual, raw, offset in struct.iter_unpack("<8sI4x2I16x", _at(stream, table, 40 * count)):
        text = name.rstrip(b"\0").decode("ascii", "replace")
        if raw and offset + raw > size:
            raise ValueError(f"its section {text} ends at byte {offset + raw}, and the file at {size}")
        sections.setdefault(text, (offset, min(virtual, raw) if virtual else raw))
    texts = {name: _text(stream, name, *sections[name]) for name in _TEXTS if name in sections}
    signed = _signed(stream, start + 24 + _DIRECTORIES[kind], table, size)
    return PeImage(machine, start, table, count, sections, texts, signed)


def with_sections(content: bytes, added: Mapping[str, bytes]) -> bytes:
    """Return a file with more sections of data, byte for byte as `ukify build` of systemd 262 adds them
    (pe_add_sections). Raises ValueError for a file that is damaged, signed, or has no room for them."""
    image = parse(io.BytesIO(content))
    if image.signed:
        raise ValueError("it is signed")
    optional, table, count = image.start + 24, image.table, image.number
    alignment, file_alignment = struct.unpack_from("<2I", content, optional + 32)
    (headers,) = struct.unpack_from("<I", content, optional + 60)
    if not alignment or not file_alignment or table + 40 * (count + len(added)) > headers:
        raise ValueError("it has no room for two sections")
    made = bytearray(content)
    made += bytes(-len(made) % file_alignment)
    virtual, address = struct.unpack_from("<2I", content, table + 40 * (count - 1) + 8)
    (initialised,) = struct.unpack_from("<I", content, optional + 8)
    for n, (name, data) in enumerate(added.items(), count):
        address = _up(address + virtual, alignment)
        virtual, raw = len(data), _up(len(data), file_alignment)
        fields = (name.encode(), virtual, address, raw, len(made), 0, 0, 0, 0, _READ_ONLY_DATA)
        struct.pack_into("<8s6I2HI", made, table + 40 * n, *fields)
        made += data + bytes(raw - virtual)
        initialised += virtual
    struct.pack_into("<H", made, image.start + 6, count + len(added))
    struct.pack_into("<I", made, optional + 8, initialised)
    struct.pack_into("<I", made, optional + 56, _up(address + virtual, alignment))
    struct.pack_into("<I", made, optional + 64, 0)  # the checksum, which no firmware checks in an image
    return bytes(made)


def _signed(stream: BinaryIO, directories: int, table: int, size: int) -> bool:
    if directories + 8 * (_CERTIFICATES + 1) > table:
        return False
    (count,) = struct.unpack("<I", _at(stream, directories - 4, 4))
    offset, length = struct.unpack("<2I", _at(stream, directories + 8 * _CERTIFICATES, 8))
    if count <= _CERTIFICATES or not length:
        return False
    if offset + length > size:
        raise ValueError(f"its signatures end at byte {offset + length}, and the file at {size}")
    return True


def _text(stream: BinaryIO, name: str, offset: int, size: int) -> str:
    """Return a section up to the first NUL, as the stub reads it (xstrn8_to_16). Raises ValueError."""
    if size > MOST_TEXT:
        raise ValueError(f"its section {name} has {size} bytes")
    return _at(stream, offset, size).partition(b"\0")[0].decode("utf-8", "replace")


def _at(stream: BinaryIO, offset: int, size: int) -> bytes:
    stream.seek(offset)
    content = stream.read(size)
    if len(content) < size:
        raise ValueError(f"it ends within the {size} bytes at offset {offset}")
    return content


def _up(number: int, to: int) -> int:
    return -(-number // to) * to
