"""A stream as blocks of whole lines, in flat memory whatever the lines are.

A line longer than `LONGEST` is cut into pieces that are looked at one by one; all of them carry the number of
the line. Lines end with a line feed; a carriage return before it belongs to the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

# Bytes that are read at once. Larger ones would be mapped anew for each read (mallopt(3), M_MMAP_THRESHOLD).
BLOCK = 128 << 10
LONGEST = 4 << 10  # bytes; names of GEMM kernels take 1.2 KiB, and patterns are slow on much longer lines


class Block(NamedTuple):
    """`data` ends with a line feed. `cuts` are the pieces, counted from 0 in this block, that end in a line
    feed which the log does not have."""

    data: bytes
    cuts: tuple[int, ...] = ()


def blocks(stream: BinaryIO, size: int = BLOCK, longest: int = LONGEST) -> Iterator[Block]:
    """Raises what the stream raises (OSError, EOFError and the errors of decompressors)."""
    rest = b""
    while True:
        try:
            chunk = stream.read(size)
        except Exception:
            if rest:  # what came before a defect of the file counts
                yield _cut(rest + b"\n", longest)
            raise
        if not chunk:
            break
        whole = rest + chunk if rest else chunk
        end = whole.rfind(b"\n") + 1
        if end == 0 and len(whole) >= longest:
            end = len(whole) - len(whole) % longest  # a line without an end: hand on whole pieces
            yield _cut(whole[:end], longest, open_end=True)
        elif end:
            yield _cut(whole[:end], longest)
        rest = whole[end:]
    if rest:
        yield _cut(rest + b"\n", longest)


def _cut(data: bytes, longest: int, *, open_end: bool = False) -> Block:
    """`open_end`: the last line goes on in the next block."""
    pieces: list[bytes] = []
    cuts: list[int] = []
    start = position = counted = lines = 0
    while position < len(data):
        end = data.rfind(b"\n", position, position + longest + 1) + 1
        if end == 0:
            if len(data) - position <= longest:
                break
            end = position + longest
            lines += data.count(b"\n", counted, end) + 1
            counted = end
            cuts.append(lines - 1)
            pieces += (data[start:end], b"\n")
            start = end
        position = end
    if open_end:
        lines += data.count(b"\n", counted) + 1
        cuts.append(lines - 1)
        return Block(b"".join((*pieces, data[start:], b"\n")), tuple(cuts))
    return Block(b"".join((*pieces, data[start:])) if pieces else data, tuple(cuts))
