"""One pass over logs: which probe matched where, how often, in which wording.

Two ways that give the same answers: GNU grep picks the lines worth looking at, or Python looks at every line.
What counts is always decided by Python's `re`, line by line, in the order of the log.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from rocmcfg.doctor.grouping import DIGITS, Groups
from rocmcfg.doctor.lines import LONGEST, Block, blocks
from rocmcfg.doctor.probes import Probe
from rocmcfg.host.streams import FilterFailed, Grep, PlainFile, Scratch, plain_file

_SEGMENT = 32 << 20  # bytes that one grep searches: its start takes 4 ms
_BATCH = 20_000  # lines that one grep prints at most, so that its patterns can be thinned out in a storm
_KINDS, _REMEMBERED = 20_000, 400  # kinds of lines that are remembered; bytes of the longest such line
_LINE_BITS = 44
_LINE_MASK = (1 << _LINE_BITS) - 1


class Line(NamedTuple):
    """`number` counts from 1; the pieces of one overlong line share it."""

    number: int
    text: bytes


@dataclass(slots=True)
class Hits:
    """What one probe found. `positions` are the matching lines in the order of reading, for `Scanner.place`;
    there are never more than the probe's `enough`. Facts keep their `lines` as they are, one per position;
    the others are grouped."""

    probe: Probe
    positions: array[int] = field(default_factory=lambda: array("Q"))
    groups: Groups = field(default_factory=Groups)
    lines: list[str] = field(default_factory=list)

    def add(self, text: bytes, position: int) -> None:
        self.positions.append(position)
        if self.probe.role == "fact":
            self.lines.append(text.decode("utf-8", "replace"))
        else:
            self.groups.add(text, position)

    @property
    def full(self) -> bool:
        return len(self.positions) >= self.probe.enough


@dataclass(slots=True)
class LogRead:
    """`size` in bytes, unpacked. `problem` says why it was not read to its end, empty where it was."""

    name: str
    size: int = 0
    problem: str = ""


class Scanner:
    """Feed it logs, oldest first, then read `hits` (one per probe, in their order) and `logs`."""

    def __init__(self, probes: Sequence[Probe], *, use_grep: bool = True) -> None:
        self.hits = [Hits(probe) for probe in probes]
        self.logs: list[LogRead] = []
        self._wanted = list(self.hits)
        self._suspects: dict[bytes, tuple[Hits, ...]] = {}
        self._grep: Grep | None = None
        if use_grep:
            # without it Python looks at every line: slower, and just as right
            with contextlib.suppress(FilterFailed):
                self._grep = Grep()

    def read(self, name: str, stream: BinaryIO, progress: Callable[[int], None] = lambda _: None) -> LogRead:
        """One log to its end, or to where it is damaged. `progress` gets the bytes read so far."""
        log = LogRead(name)
        base = len(self.logs) << _LINE_BITS
        self.logs.append(log)
        for line in self._candidates(stream, log, progress):
            self._look(line.text.removesuffix(b"\r"), base + line.number)
        return log

    def place(self, position: int) -> tuple[str, int]:
        """The log's name and the line's number."""
        return self.logs[position >> _LINE_BITS].name, position & _LINE_MASK

    def _look(self, text: bytes, position: int) -> None:
        bare = text.translate(None, DIGITS)
        suspects = self._suspects.get(bare)
        if suspects is None:
            suspects = self._suspected(bare)
        filled = False
        for hits in suspects:
            if hits.probe.match(text):
                hits.add(text, position)
                filled = filled or hits.full
        if filled:
            self._wanted = [hits for hits in self._wanted if not hits.full]
            self._suspects.clear()

    def _suspected(self, bare: bytes) -> tuple[Hits, ...]:
        """The probes that may match a line of which `bare` is what remains without its digits. Logs repeat
        themselves in all but the digits, so that this is mostly looked up."""
        found = tuple(
            hits for hits in self._wanted if any(literal in bare for literal in hits.probe.bare_literals)
        )
        if len(bare) <= _REMEMBERED:
            if len(self._suspects) >= _KINDS:
                self._suspects.clear()
            self._suspects[bare] = found
        return found

    # -- grep -----------------------------------------------------------------------------------------

    def _candidates(self, stream: BinaryIO, log: LogRead, progress: Callable[[int], None]) -> Iterator[Line]:
        if self._grep is None:
            return _every_line(_guarded(stream, log, progress))
        try:
            file = plain_file(stream)
            if file is not None and not file.has_line_over(LONGEST, progress):
                log.size = file.size
                return self._in_place(self._grep, _Part(file))
        except OSError as problem:
            log.problem = problem.strerror or str(problem)
            return iter(())
        return self._by_grep(self._grep, _guarded(stream, log, progress))

    def _in_place(self, grep: Grep, file: _Part) -> Iterator[Line]:
        """Grep reads the file itself: its memory is bounded, because no line is long."""
        searched = self._start(grep, file)
        yield from self._drain(grep, file, searched, 1)

    def _by_grep(self, grep: Grep, source: Iterator[Block]) -> Iterator[Line]:
        """Grep searches one segment while the next one is read and unpacked."""
        busy, spare = _Segment(Scratch()), _Segment(Scratch())
        searched: BinaryIO | None = None
        held: Block | None = None
        first = 1
        try:
            while True:
                held = spare.fill(source, held)
                if busy.scratch.size:
                    first = yield from self._drain(grep, busy, searched, first)
                if not spare.scratch.size:
                    return
                busy.clear()
                busy, spare = spare, busy
                searched = self._start(grep, busy)
        finally:
            if searched is not None:
                searched.close()
            busy.scratch.close()
            spare.scratch.close()

    def _start(self, grep: Grep, part: _Part) -> BinaryIO | None:
        """None where no program can be started any more."""
        patterns = [b"^%s$" % part.mark] if part.mark else []
        patterns += [pattern for hits in self._wanted for pattern in _for_grep(hits.probe)]
        try:
            return grep.start(list(dict.fromkeys(patterns)), part.descriptor, _BATCH)
        except OSError:
            return None

    def _drain(
        self, grep: Grep, segment: _Part, searched: BinaryIO | None, first: int
    ) -> Generator[Line, None, int]:
        """The lines worth looking at; returns the number of the line behind the part, if it has a mark."""
        before = seen = 0  # lines of the part that the running grep does not count; that were handed on
        while searched is not None:
            printed = 0
            try:
                for raw in searched:
                    printed += 1
                    number, _, text = raw.removesuffix(b"\n").partition(b":")
                    seen = before + int(number)
                    if text == segment.mark:
                        return first + seen - 1 - len(segment.cuts)
                    yield Line(first + segment.line(seen), text)
            except OSError:  # killed, or patterns that this grep does not take
                break
            finally:
                searched.close()
            if printed < _BATCH and not segment.mark:
                return first + seen
            before = seen
            searched = self._start(grep, segment)
        return (yield from segment.without_grep(first, seen))


class _Part:
    """What one grep searches: a file as it lies there, or a segment of a stream in a scratch file. `cuts` are
    those of Block. `mark` is a line of our own behind it, by which its length is known; a file has none."""

    def __init__(self, file: PlainFile | Scratch) -> None:
        self._file = file
        self.descriptor = file.descriptor
        self.cuts: tuple[int, ...] = ()
        self.mark = b""

    def line(self, piece: int) -> int:
        """How many lines lie before the `piece`th piece, counted from 1."""
        return piece - 1 - bisect_left(self.cuts, piece - 1)

    def without_grep(self, first: int, seen: int) -> Generator[Line, None, int]:
        """The same, but for the first `seen` pieces, line by line."""
        piece = 0
        for block in blocks(self._file.reader()):
            for text in block.data[:-1].split(b"\n"):
                piece += 1
                if self.mark and text == self.mark:
                    return first + piece - 1 - len(self.cuts)
                if piece > seen:
                    yield Line(first + self.line(piece), text)
        return first + piece - len(self.cuts)


class _Segment(_Part):
    """A part of a stream in a scratch file. A block that has cuts is a segment of its own."""

    def __init__(self, scratch: Scratch) -> None:
        super().__init__(scratch)
        self.scratch = scratch
        self.mark = b"rocmcfg-%s" % secrets.token_hex(16).encode()

    def clear(self) -> None:
        self.scratch.clear()
        self.cuts = ()

    def fill(self, source: Iterator[Block], held: Block | None) -> Block | None:
        """Take blocks until it is full; returns one that was read and belongs into the next segment."""
        block = held or next(source, None)
        while block is not None:
            if block.cuts and self.scratch.size:
                return block
            self.scratch.write(block.data)
            self.cuts = block.cuts
            if self.cuts or self.scratch.size >= _SEGMENT:
                break
            block = next(source, None)
        if self.scratch.size:
            self.scratch.write(self.mark + b"\n")
            self.scratch.seal()
        return None


def _for_grep(probe: Probe) -> list[bytes]:
    """Patterns that find every line that the probe's own finds. `$` would miss a line that ends with CR."""
    if "$" in probe.pattern or "\\Z" in probe.pattern:
        return [re.sub(rb"([][\\.*^$+?{}()|])", rb"\\\1", literal) for literal in probe.literals]
    return [probe.pattern.encode()]


# -- Python alone ---------------------------------------------------------------------------------------


def _every_line(source: Iterator[Block]) -> Iterator[Line]:
    number = 1
    for block in source:
        cuts = set(block.cuts)
        for index, text in enumerate(block.data[:-1].split(b"\n")):
            yield Line(number, text)
            number += index not in cuts


def _guarded(stream: BinaryIO, log: LogRead, progress: Callable[[int], None]) -> Iterator[Block]:
    """A damaged file ends where the damage begins; what came before it counts."""
    try:
        for block in blocks(stream):
            log.size += len(block.data)
            progress(log.size)
            yield block
    except Exception as problem:  # decompressors raise errors of half a dozen kinds
        log.problem = str(problem) or type(problem).__name__
