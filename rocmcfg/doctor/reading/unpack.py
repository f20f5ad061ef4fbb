"""What a packed stream holds, also of a damaged one: all that comes before the damage.

Python's own readers throw away what they had already unpacked of a block when the next byte is wrong; `zcat`
prints it. Like `zcat`, this ignores what stands behind the packed data and is not packed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from rocmcfg.host import files

_GZIP, _XZ, _BZIP2 = b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh"
_CHUNK = 4 << 10  # packed bytes that are unpacked at once: what a damage can take along without a copy
_MOST = 1 << 20  # bytes that a step may unpack to; xz packs 7000 into one, bzip2 more than a million
_XZ_MEMORY = 128 << 20  # bytes; `xz -9` takes 65 MiB to unpack, and a header may ask for 4 GiB


class Unpacked(io.RawIOBase):
    """`new` makes a decompressor of zlib, bz2 or lzma, `magic` is what a member begins with. Reading raises
    the decompressor's error, or EOFError for a stream that is cut, after all that comes before it was handed
    out."""

    def __init__(self, packed: BinaryIO, magic: bytes, new: Callable[[], Any]) -> None:
        self._packed = packed
        self._pieces = _pieces(packed, magic, new)
        self._ready = bytearray()
        self._problem: Exception | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Never holds more than `size` bytes and one piece."""
        try:
            while size < 0 or len(self._ready) < size:
                self._ready += next(self._pieces)
        except StopIteration:
            pass
        except Exception as problem:  # of the decompressor or of the file
            self._problem = problem
        if not self._ready and self._problem is not None:
            raise self._problem
        given = bytes(self._ready if size < 0 else self._ready[:size])
        del self._ready[: len(given)]
        return given

    def close(self) -> None:
        self._packed.close()
        super().close()


def _pieces(packed: BinaryIO, magic: bytes, new: Callable[[], Any]) -> Iterator[bytes]:
    """What the members of a file hold, one after the other."""
    waiting = b""  # packed bytes that were read and not unpacked yet
    taken = given = 0
    first = True
    while True:
        decompressor, begun = new(), False
        while not decompressor.eof:
            # bz2 and lzma keep what they were not allowed to unpack; zlib hands it back
            if not waiting and (not begun or getattr(decompressor, "needs_input", True)):
                waiting = packed.read(_CHUNK)
                taken += len(waiting)
                if not waiting and begun:
                    raise EOFError("it is cut short")
                if not waiting:
                    return
            if not begun and not first:
                waiting = waiting.lstrip(b"\0")  # tapes pad with them
                if waiting[: len(magic)] != magic[: len(waiting)]:
                    return
                if not waiting:
                    continue
            begun = True
            for piece in _unpacked(decompressor, waiting):
                given += len(piece)
                yield piece
            waiting = getattr(decompressor, "unconsumed_tail", b"")
            if given > max(files.READ_ANYWAY, files.MOST_PACKED * taken):
                raise OSError(
                    f"it unpacks to more than {files.MOST_PACKED} times its size, which no log does"
                )
        waiting, first = decompressor.unused_data, False


def _unpacked(decompressor: Any, chunk: bytes) -> Iterator[bytes]:
    """What a chunk begins with; of a damaged one, all that comes before the damage, where that can be had."""
    if not hasattr(decompressor, "copy"):  # a damage takes the output of this call along
        yield decompressor.decompress(chunk, _CHUNK)
        return
    before = decompressor.copy()
    try:
        yield decompressor.decompress(chunk, _MOST)
    except Exception:  # zlib.error: decompressors of bz2 and lzma cannot be copied
        for byte in chunk:
            yield before.decompress(bytes((byte,)))
        raise


def unpack(packed: BinaryIO, start: bytes) -> Unpacked | None:
    """`start` are its first bytes, which tell the format; None where it is not packed as we know it."""
    if start.startswith(_GZIP):
        import zlib

        return Unpacked(packed, _GZIP, lambda: zlib.decompressobj(31))
    if start.startswith(_XZ):
        import lzma

        return Unpacked(packed, _XZ, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY))
    if start.startswith(_BZIP2):
        import bz2

        return Unpacked(packed, _BZIP2, bz2.BZ2Decompressor)
    return None
