"""What a packed stream holds, also of a damaged one: all that comes before the damage.

Python's own readers throw away what they had already unpacked of a block when the next byte is wrong; `zcat`
prints it. Like `zcat`, this ignores what stands behind the packed data and is not packed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO

from rocmcfg.host import streams

_GZIP, _XZ, _BZIP2 = b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh"
_CHUNK = 4 << 10  # packed bytes that are unpacked at once: what a damage can take along without a copy
_MOST = 1 << 20  # bytes that a step may unpack to; xz packs 7000 into one, bzip2 more than a million
_XZ_MEMORY = 128 << 20  # bytes; `xz -9` takes 65 MiB to unpack, and a header may ask for 4 GiB


class TooMuch(Exception):
    """It goes on for longer than a log of its size can."""


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
        self._waiting = b""  # packed bytes that were read and not unpacked yet
        self._ready = bytearray()
        self._taken = self._given = 0
        self._problem: Exception | None = None
        self._ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Never holds more than `size` bytes and one step."""
        while not self._ended and (size < 0 or len(self._ready) < size):
            try:
                self._step()
            except Exception as problem:  # of the decompressor or of the file
                self._problem, self._ended = problem, True
        if not self._ready and self._problem is not None:
            raise self._problem
        given = bytes(self._ready if size < 0 else self._ready[:size])
        del self._ready[: len(given)]
        self._given += len(given)
        return given

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _step(self) -> None:
        """Unpack a part of what was read, into `_ready`."""
        if not self._waiting and (not self._begun or self._needs_more()):
            self._waiting = self._packed.read(_CHUNK)
            self._taken += len(self._waiting)
            if not self._waiting:
                self._ended = True
                if self._begun:
                    raise EOFError("it is cut short")
                return
        if not self._begun and not self._goes_on():
            return
        self._begun = True
        self._unpack()
        if self._given + len(self._ready) > max(streams.READ_ANYWAY, streams.MOST_PACKED * self._taken):
            raise TooMuch(f"it unpacks to more than {streams.MOST_PACKED} times its size, which no log does")
        if self._decompressor.eof:
            self._waiting = self._decompressor.unused_data
            self._decompressor = self._new()
            self._begun = self._first = False

    def _needs_more(self) -> bool:
        """bz2 and lzma keep what they were not allowed to unpack; zlib hands it back."""
        return bool(getattr(self._decompressor, "needs_input", True))

    def _goes_on(self) -> bool:
        """Whether a member begins with what waits."""
        if self._first:
            return True
        self._waiting = self._waiting.lstrip(b"\0")  # tapes pad with them
        if self._waiting[: len(self._magic)] != self._magic[: len(self._waiting)]:
            self._ended = True
        return bool(self._waiting) and not self._ended

    def _unpack(self) -> None:
        decompressor, chunk = self._decompressor, self._waiting
        if not hasattr(decompressor, "copy"):
            # a damage takes that call's output along
            self._waiting = b""
            self._ready += decompressor.decompress(chunk, _CHUNK)
            return
        before = decompressor.copy()
        try:
            self._ready += decompressor.decompress(chunk, _MOST)
        except self._error:
            for byte in chunk:
                self._ready += before.decompress(bytes((byte,)))
            raise
        self._waiting = decompressor.unconsumed_tail


def unpack(packed: BinaryIO, start: bytes) -> Unpacked | None:
    """`start` are its first bytes, which tell the format; None where it is not packed as we know it."""
    if start.startswith(_GZIP):
        import zlib

        return Unpacked(packed, _GZIP, lambda: zlib.decompressobj(31), zlib.error)
    if start.startswith(_XZ):
        import lzma

        return Unpacked(
            packed, _XZ, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY), lzma.LZMAError
        )
    if start.startswith(_BZIP2):
        import bz2

        return Unpacked(packed, _BZIP2, bz2.BZ2Decompressor, OSError)
    return None
