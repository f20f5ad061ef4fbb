"""Parts of a log, each searched by one grep. grep needs a file, which a packed or piped log is not, and it
must never meet a line that is longer than memory: each part is copied into a scratch file, long lines cut."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from rocmcfg.doctor.reading.lines import LONGEST, Block, blocks
from rocmcfg.host.streams import Scratch, plain_file
from rocmcfg.model.published import published

SIZE = 16 << 20  # bytes of a segment: the start of a grep takes 4 ms


class Line(NamedTuple):
    """`number` counts from 1; the pieces of one overlong line share it."""

    number: int
    text: bytes


@published("name", "size", "complete")
@dataclass(slots=True)
class LogRead:
    """`size` in bytes, unpacked. `problem` says why it was not read to its end, empty where it was."""

    name: str
    size: int = 0
    problem: str = ""

    @property
    def complete(self) -> bool:
        return not self.problem


class Segment:
    """A part of a log in a scratch file. `cuts` as in Block. `mark` is a line of our own that ends the file:
    its number, as grep prints it, tells how many lines the part has."""

    def __init__(self) -> None:
        self.scratch = Scratch()
        self.cuts: tuple[int, ...] = ()
        self.mark = b"rocmcfg-%s" % os.urandom(16).hex().encode()

    def line(self, piece: int) -> int:
        """How many lines lie before the `piece`th piece, counted from 1."""
        return piece - 1 - bisect_left(self.cuts, piece - 1)

    def without_grep(self, first: int, seen: int) -> Generator[Line, None, int]:
        """Its lines but for the first `seen` pieces; returns the number of the line behind it."""
        piece = 0
        for block in blocks(self.scratch.reader()):
            for text in block.data[:-1].split(b"\n"):
                piece += 1
                if text == self.mark:
                    return first + piece - 1 - len(self.cuts)
                if piece > seen:
                    yield Line(first + self.line(piece), text)
        return first + piece - len(self.cuts)


class Segments:
    """A log as segments. A plain file is copied as it is, up to a line that is too long; from there on, and
    for all else, it is read in blocks."""

    def __init__(self, stream: BinaryIO, log: LogRead, progress: Callable[[int], None]) -> None:
        self._log, self._progress = log, progress
        self._file = plain_file(stream)
        self._blocks: Iterator[Block] = iter(()) if self._file else guarded(stream, log, progress)
        self._held: Block | None = None
        self._spare: list[Segment] = []

    def next(self) -> Segment | None:
        """None at the end of the log."""
        segment = self._spare.pop() if self._spare else Segment()
        segment.scratch.clear()
        segment.cuts = ()
        if self._file is None or not self._copy(segment):
            self._fill(segment)
        if not segment.scratch.size:
            self.give_back(segment)
            return None
        segment.scratch.write(segment.mark + b"\n")
        segment.scratch.seal()
        return segment

    def give_back(self, segment: Segment) -> None:
        """Take back a segment that was searched, to be filled again."""
        self._spare.append(segment)

    def close(self) -> None:
        for segment in self._spare:
            segment.scratch.close()

    def _copy(self, segment: Segment) -> bool:
        """False where a line is too long."""
        file, log = self._file, self._log
        assert file is not None
        before = file.offset
        try:
            copied = file.copy(segment.scratch, SIZE, LONGEST)
        except OSError as problem:
            log.problem = problem.strerror or str(problem)
            segment.scratch.clear()
            self._file = None
            return True
        if not copied:
            self._file, self._blocks = None, guarded(file.rest(), log, self._progress)
            return False
        log.size += file.offset - before
        self._progress(log.size)
        return True

    def _fill(self, segment: Segment) -> None:
        """Put blocks into the segment until it is full. Its lines are counted only where one is cut."""
        block = self._held or next(self._blocks, None)
        self._held = None
        lines = 0
        while block is not None:
            if block.cuts and segment.scratch.size and not segment.cuts:
                self._held = block  # it belongs into the next segment
                return
            if block.cuts or segment.cuts:
                segment.cuts += tuple(lines + cut for cut in block.cuts)
                lines += block.data.count(b"\n")
            segment.scratch.write(block.data)
            if segment.scratch.size >= SIZE:
                return
            block = next(self._blocks, None)


def guarded(stream: BinaryIO, log: LogRead, progress: Callable[[int], None]) -> Iterator[Block]:
    """A damaged file ends where the damage begins; what came before it counts."""
    try:
        for block in blocks(stream):
            log.size += len(block.data)
            progress(log.size)
            yield block
    except Exception as problem:  # decompressors raise errors of half a dozen kinds
        log.problem = str(problem) or type(problem).__name__
