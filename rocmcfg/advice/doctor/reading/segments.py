"""Split a log into segments, with constant memory however long its lines are.

A line longer than `LONGEST` is cut into pieces that are searched one by one; all of them have the number of
the line. Lines end with a line feed; a carriage return before it belongs to the line. Each segment is copied
into a scratch file and searched by one grep, which needs a file: a packed or piped log is not one."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import BinaryIO, TypeAlias

from rocmcfg.host.atomic import write_all
from rocmcfg.host.files import plain_file, read_into, scratch_file
from rocmcfg.model.shape import NamedTuple, published

# Bytes of the first segment and of the largest: starting a grep takes 4 ms. In between the size doubles,
# because a storm should be noticed before much of it is searched.
FIRST_SIZE, SIZE = 1 << 20, 16 << 20
# Bytes that are read at once. A larger block would be mapped again for each read (mallopt(3),
# M_MMAP_THRESHOLD).
BLOCK = 128 << 10
LONGEST = 4 << 10  # bytes; names of GEMM kernels take 1.2 KiB, and patterns are slow on much longer lines


class Block(NamedTuple):
    """A block of a log. `data` ends with a line feed. `cuts` are the pieces, counted from 0 in this block,
    that end in a line feed which the log does not have."""

    data: bytes
    cuts: tuple[int, ...] = ()


def blocks(stream: BinaryIO, size: int = BLOCK, longest: int = LONGEST) -> Iterator[Block]:
    """Yield the blocks of a stream. Raises the errors of the stream (OSError, EOFError, and those of
    decompressors)."""
    rest = b""
    while True:
        try:
            chunk = stream.read(size)
        except Exception:
            if rest:  # data before a damage of the file counts
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
    """Cut the long lines of a block. `open_end`: the last line continues in the next block."""
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


# How to get the number of a line in its log, counted from 1, and its text, from its place among other lines
# and from what stands there. The pieces of one overlong line share the number.
Numbering: TypeAlias = "Callable[[int, bytes], tuple[int, bytes]]"


class Lines(NamedTuple):
    """Lines that are joined by line feeds. `printed`: grep printed them, each with a number before it."""

    text: bytes
    numbering: Numbering
    printed: bool


@published("name", "size", "complete")
class LogRead:
    """A log that was read. `size` is in bytes, unpacked. `problem` says why it was not read to its end; empty
    if it was."""

    name: str
    size: int
    problem: str

    def __init__(self, name: str) -> None:
        self.name, self.size, self.problem = name, 0, ""

    @property
    def complete(self) -> bool:
        return not self.problem


class Segment:
    """A part of a log in a scratch file. `memory` maps the first SIZE bytes of the file. `cuts` as in Block;
    `size` is the size of the part. `mark` is an added last line: grep prints its number, which is the number
    of lines."""

    def __init__(self) -> None:
        self.file = scratch_file()
        self.file.truncate(SIZE)
        self.mapped = mmap.mmap(self.file.fileno(), SIZE)  # only once: its pages stay mapped
        self.memory = memoryview(self.mapped)
        self.cuts: tuple[int, ...] = ()
        self.size = 0
        self.mark = b"rocmcfg-%s" % os.urandom(16).hex().encode()

    def line(self, piece: int) -> int:
        """Return how many lines come before the `piece`th piece, counted from 1."""
        return piece - 1 - bisect_left(self.cuts, piece - 1)

    def without_grep(self, first: int, seen: int) -> Generator[Lines, None, int]:
        """Yield the lines after the first `seen` pieces; return the number of the line after the segment. The
        first line of the segment has the number `first`."""
        pieces = 0
        self.file.seek(0)
        for block in blocks(self.file):
            lines = block.data[:-1]
            count = lines.count(b"\n") + 1
            if lines.endswith(self.mark):
                lines, count = lines[: -len(self.mark) - 1], count - 1
            if pieces < seen:
                lines = b"\n".join(lines.split(b"\n")[seen - pieces :]) if pieces + count > seen else b""
            pieces += count
            if count and pieces > seen:
                yield Lines(lines, self._numbering(first, pieces - lines.count(b"\n")), printed=False)
        return first + pieces - len(self.cuts)

    def printed(self, first: int, before: int) -> Numbering:
        """Return the numbering for what grep prints of the lines after the first `before` pieces."""

        def numbered(_: int, line: bytes) -> tuple[int, bytes]:
            piece, _colon, text = line.partition(b":")
            return first + self.line(before + int(piece)), text

        return numbered

    def _numbering(self, first: int, piece: int) -> Numbering:
        """Return the numbering for lines that begin with the `piece`th piece."""
        return lambda at, line: (first + self.line(piece + at), line)


class Segments:
    """The segments of a log, each filled when it is requested. A plain file is copied unchanged up to a line
    that is too long. From there on, and for any other stream, it is read in blocks, which takes a tenth
    longer."""

    def __init__(self, stream: BinaryIO, log: LogRead, progress: Callable[[int], None]) -> None:
        self._stream, self._log, self._progress = stream, log, progress
        self._plain = plain_file(stream)
        self._blocks = guarded(stream, log)
        self._spare: list[Segment] = []
        self._size = FIRST_SIZE

    def next(self) -> Segment | None:
        """Return the next segment; None at the end of the log."""
        segment = self._spare.pop() if self._spare else Segment()
        file = segment.file
        file.seek(0)  # the pages are kept: new ones would take longer than overwriting them
        segment.cuts = ()
        size = self._copied(segment) if self._plain is not None else 0
        lines = 0
        while self._plain is None and size < self._size and (block := next(self._blocks, None)) is not None:
            segment.cuts += tuple(lines + cut for cut in block.cuts)
            lines += block.data.count(b"\n")
            size += len(block.data)
            write_all(file.fileno(), block.data)
        self._size = min(2 * self._size, SIZE)
        if not size:
            self.give_back(segment)
            return None
        segment.size = size
        self._progress(self._log.size)
        write_all(file.fileno(), segment.mark + b"\n")
        file.truncate()
        file.seek(0)
        return segment

    def _copied(self, segment: Segment) -> int:
        """Copy the next part of a plain file, up to the end of a line, and return its bytes. Return 0 at the
        end of the file, and if the part cannot be copied unchanged; then the file is no longer treated as
        plain."""
        assert self._plain is not None
        file, at, size, end = segment.file, self._log.size, 0, -1
        file.truncate(SIZE)
        with suppress(OSError):  # the reader of blocks reports a damaged file
            size = read_into(self._plain, at, segment.memory[: self._size])
            end = _whole_lines(segment.mapped, size) if size else 0
        if end < 0:
            self._plain = None
            self._stream.seek(at)
            file.seek(0)
            return 0
        file.seek(end)
        if size < self._size and end < size:  # the last line of the log has no line feed
            file.seek(size)
            write_all(file.fileno(), b"\n")
            end = size
        self._log.size += end
        return end

    def give_back(self, segment: Segment) -> None:
        self._spare.append(segment)

    def close(self) -> None:
        for segment in self._spare:
            segment.file.close()


def _whole_lines(data: mmap.mmap, size: int) -> int:
    """Return the number of bytes up to the last line feed; -1 if a line is too long."""
    position = 0
    while position < size:
        end = data.rfind(b"\n", position, min(position + LONGEST + 1, size)) + 1
        if end == 0:
            return position if size - position <= LONGEST else -1
        position = end
    return position


def guarded(stream: BinaryIO, log: LogRead) -> Iterator[Block]:
    """Yield the blocks of a log, up to a damage of the file, which is recorded in `log.problem`."""
    try:
        for block in blocks(stream):
            log.size += len(block.data)
            yield block
    except Exception as problem:  # decompressors raise errors of half a dozen kinds
        log.problem = str(problem) or type(problem).__name__
