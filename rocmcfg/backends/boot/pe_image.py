"""The sections of a PE file: of a unified kernel image, of an addon to one, of the stub that either begins
with.

Read by their offsets, since such an image is larger than what is read whole. A file may hold anything, so
every field is compared with the size of the file before it is followed. Layout: Microsoft's "PE Format";
systemd-boot and the stub read the same fields (systemd 257, src/boot/pe.c).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from rocmcfg.host.view import HostView, Unreadable

MOST_TEXT = 64 << 10  # bytes; the kernel takes 2,048 of a command line, an os-release has some 500
_MOST_SECTIONS = 512  # an image has some ten, and a few for each of its profiles and device trees
_CERTIFICATES = 4  # place of the table of signatures among the data directories
_TEXTS = (".cmdline", ".uname", ".osrel", ".sdmagic")
_READ_ONLY_DATA = 0x40000040  # IMAGE_SCN_MEM_READ | IMAGE_SCN_CNT_INITIALIZED_DATA


class Section(NamedTuple):
    """Where its content lies in the file, in bytes."""

    offset: int
    size: int


class Header(NamedTuple):
    """`start` is where the PE header begins, `optional` and `table` where the optional header and the table
    of so many `sections` do, in bytes from the start of the file; `wide` tells PE32+ from PE32."""

    start: int
    machine: int
    optional: int
    table: int
    sections: int
    wide: bool


class PeImage(NamedTuple):
    """`sections` holds the first of each name, which is that of the base where an image has profiles;
    `texts` the content of those that are text, by name. `signed`: there is a signature, whoever made it."""

    header: Header
    sections: dict[str, Section]
    texts: dict[str, str]
    signed: bool


def read(view: HostView, path: str) -> PeImage | None:
    """None where there is no such file. Raises Unreadable, also for what is no PE file or is cut off."""
    stream = view.stream(path)
    if stream is None:
        return None
    with stream:
        try:
            return parse(stream)
        except ValueError as problem:
            raise Unreadable(path, f"it is damaged: {problem}", "build it anew") from None
        except OSError as problem:
            raise Unreadable(path, problem) from problem


def parse(stream: BinaryIO) -> PeImage:
    """Raises ValueError with what is wrong."""
    size = stream.seek(0, 2)
    head = _header(stream, size)
    sections: dict[str, Section] = {}
    table = _at(stream, head.table, 40 * head.sections)
    for name, virtual, _, raw, offset in struct.iter_unpack("<8s4I16x", table):
        text = name.rstrip(b"\0").decode("ascii", "replace")
        if raw and offset + raw > size:
            raise ValueError(f"its section {text} ends at {offset + raw}, and the file at {size} bytes")
        sections.setdefault(text, Section(offset, min(virtual, raw) if virtual else raw))
    texts = {name: _text(stream, name, sections[name]) for name in _TEXTS if name in sections}
    return PeImage(head, sections, texts, _signed(stream, head, size))


def with_sections(content: bytes, added: Mapping[str, bytes]) -> bytes:
    """A file with more sections behind its own, of data that is only read, byte for byte as `ukify build` of
    systemd 262 adds them (pe_add_sections). Raises ValueError for a file that is damaged, signed, or has no
    room for them."""
    image = parse(io.BytesIO(content))
    if image.signed:
        raise ValueError("it is signed")
    head = image.header
    alignment, file_alignment = struct.unpack_from("<2I", content, head.optional + 32)
    (headers,) = struct.unpack_from("<I", content, head.optional + 60)
    if not alignment or not file_alignment or head.table + 40 * (head.sections + len(added)) > headers:
        raise ValueError("it has no room for two sections")
    made = bytearray(content)
    made += bytes(-len(made) % file_alignment)
    virtual, address = struct.unpack_from("<2I", content, head.table + 40 * (head.sections - 1) + 8)
    (initialised,) = struct.unpack_from("<I", content, head.optional + 8)
    for n, (name, data) in enumerate(added.items(), head.sections):
        address = _up(address + virtual, alignment)
        virtual, raw = len(data), _up(len(data), file_alignment)
        fields = (name.encode(), virtual, address, raw, len(made), 0, 0, 0, 0, _READ_ONLY_DATA)
        struct.pack_into("<8s6I2HI", made, head.table + 40 * n, *fields)
        made += data + bytes(raw - virtual)
        initialised += virtual
    struct.pack_into("<H", made, head.start + 6, head.sections + len(added))
    struct.pack_into("<I", made, head.optional + 8, initialised)
    struct.pack_into("<I", made, head.optional + 56, _up(address + virtual, alignment))
    struct.pack_into("<I", made, head.optional + 64, 0)  # the checksum, which no firmware asks of an image
    return bytes(made)


def _header(stream: BinaryIO, size: int) -> Header:
    """Raises ValueError where it is no PE header, or lies outside of the file."""
    if size < 64 or _at(stream, 0, 2) != b"MZ":
        raise ValueError("it does not begin as a PE file")
    (start,) = struct.unpack("<I", _at(stream, 60, 4))
    if not 64 <= start <= size - 24 or _at(stream, start, 4) != b"PE\0\0":
        raise ValueError("it has no PE header")
    machine, count, _, _, _, optional_size, _ = struct.unpack("<2H3I2H", _at(stream, start + 4, 20))
    table = start + 24 + optional_size
    if not 0 < count <= _MOST_SECTIONS or table + 40 * count > size or optional_size < 2:
        raise ValueError(f"it names {count} sections in a file of {size} bytes")
    (magic,) = struct.unpack("<H", _at(stream, start + 24, 2))
    if magic not in (0x10B, 0x20B):
        raise ValueError("its optional header is of no known kind")
    return Header(start, machine, start + 24, table, count, magic == 0x20B)


def _signed(stream: BinaryIO, head: Header, size: int) -> bool:
    directories = head.optional + (112 if head.wide else 96)
    if directories + 8 * (_CERTIFICATES + 1) > head.table:
        return False
    (count,) = struct.unpack("<I", _at(stream, directories - 4, 4))
    offset, length = struct.unpack("<2I", _at(stream, directories + 8 * _CERTIFICATES, 8))
    if count <= _CERTIFICATES or not length:
        return False
    if offset + length > size:
        raise ValueError(f"its signatures end at {offset + length}, and the file at {size} bytes")
    return True


def _text(stream: BinaryIO, name: str, section: Section) -> str:
    """Up to the first NUL, as the stub reads it (xstrn8_to_16)."""
    if section.size > MOST_TEXT:
        raise ValueError(f"its section {name} has {section.size} bytes")
    return _at(stream, section.offset, section.size).partition(b"\0")[0].decode("utf-8", "replace")


def _at(stream: BinaryIO, offset: int, size: int) -> bytes:
    stream.seek(offset)
    found = stream.read(size)
    if len(found) < size:
        raise ValueError(f"it ends within the {size} bytes at {offset}")
    return found


def _up(number: int, to: int) -> int:
    return -(-number // to) * to
