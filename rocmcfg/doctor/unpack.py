"""What a packed stream holds, also of a damaged one: all that comes before the damage.

Python's own readers throw away what they had already unpacked of a block when the next byte is wrong; `zcat`
prints it. Like `zcat`, this ignores what stands behind the packed data and is not packed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO

_GZIP, _XZ, _BZIP2 = b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh"
_CHUNK = 4 << 10  # packed bytes that are unpacked at once: what a damage can take along without a copy
_MOST = 1 << 20  # bytes that a chunk may unpack to at once; xz packs 7000 into one


class Unpacked(io.RawIOBase):
    """`new` makes a decompressor of zlib, bz2 or lzma, `error` is what that raises, `magic` is what a member
    begins with. Reading raises that error, or EOFError for a stream that is cut, after all that comes before
    it was handed out."""

    def __init__(
        self, packed: BinaryIO, magic: bytes, new: Callable[[], Any], error: type[Exception]
    ) -> None:
        self._packed, self._magic, self._new, self._error = packed, magic, new, error
        self._decompressor = new()
        self._begun = False  # whether the decompressor has seen a byte
        self._first = True  # whether it is the first of the members that such a file may have
        self._ready = bytearray()
        self._problem: Exception | None = None
        self._ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._ended and (size < 0 or len(self._ready) < size):
            try:
                self._fill()
            except Exception as problem:  # of the decompressor or of the file
                self._problem, self._ended = problem, True
        if not self._ready and self._problem is not None:
            raise self._problem
        given = bytes(self._ready if size < 0 else self._ready[:size])
        del self._ready[: len(given)]
        return given

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _fill(self) -> None:
        chunk = self._packed.read(_CHUNK)
        if not chunk:
            self._ended = True
            if self._begun:
                raise EOFError("it is cut short")
            return
        while chunk and not self._ended:
            chunk = self._member(chunk)

    def _member(self, chunk: bytes) -> bytes:
        """Unpack into `_ready`; returns what belongs to the next member."""
        if not self._begun and not self._first:
            chunk = chunk.lstrip(b"\0")  # tapes pad with them
            if not chunk:
                return b""
            if chunk[: len(self._magic)] != self._magic[: len(chunk)]:
                self._ended = True
                return b""
        self._begun = True
        copy = getattr(self._decompressor, "copy", None)
        before = copy() if copy else None
        already = len(self._ready)
        try:
            self._unpack(chunk)
        except self._error:
            if before is not None:
                del self._ready[already:]
                self._decompressor = before
                for byte in chunk:
                    self._ready += before.decompress(bytes((byte,)))
            raise
        if not self._decompressor.eof:
            return b""
        rest: bytes = self._decompressor.unused_data
        self._decompressor = self._new()
        self._begun = self._first = False
        return rest

    def _unpack(self, chunk: bytes) -> None:
        decompressor = self._decompressor
        if hasattr(decompressor, "copy"):  # zlib: it hands back what it was not allowed to unpack
            while chunk and not decompressor.eof:
                self._ready += decompressor.decompress(chunk, _MOST)
                chunk = decompressor.unconsumed_tail
            return
        # bz2 and lzma keep what they were not allowed to unpack; a damage takes that call's output along
        self._ready += decompressor.decompress(chunk, _CHUNK)
        while not decompressor.eof and not decompressor.needs_input:
            self._ready += decompressor.decompress(b"", _CHUNK)


def unpack(packed: BinaryIO, start: bytes) -> Unpacked | None:
    """`start` are its first bytes, which tell the format; None where it is not packed as we know it."""
    if start.startswith(_GZIP):
        import zlib

        return Unpacked(packed, _GZIP, lambda: zlib.decompressobj(31), zlib.error)
    if start.startswith(_XZ):
        import lzma

        return Unpacked(packed, _XZ, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), lzma.LZMAError)
    if start.startswith(_BZIP2):
        import bz2

        return Unpacked(packed, _BZIP2, bz2.BZ2Decompressor, OSError)
    return None
