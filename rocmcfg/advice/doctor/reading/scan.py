"""Scan logs in one pass: record which probe matched where, how often, and in which wording.

Two ways give the same results: GNU grep selects the lines with one of the texts that the probes require, or
Python looks at every line. Python's `re` always decides what matches. Most lines of a log repeat earlier ones
except for numbers, and most probes do not depend on these: they are tried once for each outline.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import chain
from typing import BinaryIO

from rocmcfg.advice.doctor.reading.hits import Group, Hits, message, wording
from rocmcfg.advice.doctor.reading.outlines import (
    DECIMAL,
    HEXADECIMAL,
    bare_of,
    outline,
    outlines,
    shown,
    without_hexadecimal,
)
from rocmcfg.advice.doctor.reading.probes import ENOUGH, ENOUGH_BYTES, Part, Probe, Role
from rocmcfg.advice.doctor.reading.segments import Lines, LogRead, Segment, Segments
from rocmcfg.host.files import has_gnu_grep, start_grep
from rocmcfg.model.shape import NamedTuple

_AT_ONCE = 3  # greps that run side by side, each with a segment of its own
# Lines after which a grep is restarted with fewer patterns in a storm: at first, at most, and the number of
# bytes that they should amount to.
_BATCH_FIRST, _BATCH, _BATCH_BYTES = 250, 200_000, 16 << 20
_SMALL = 32 << 10  # bytes; Python is through a smaller part before grep has read its patterns
_PIECE = 64 << 10  # bytes of grep's output that are read at once
_REMEMBERED = 8 << 20  # bytes that the answers for outlines may take
_ANSWER = 1000  # bytes that an answer takes, about
_ENTRY = 200  # bytes that an outline takes besides its characters, about
# Wordings of one pattern that are kept apart, at first and after this many bytes of them in all.
_WORDINGS, _WORDED, _WORDINGS_THEN = 200, 8 << 20, 20
# Lines of all hits after which fewer are enough for a pattern, as each of them is kept in memory.
_POSITIONS, _ENOUGH_THEN = 400_000, 1000
_FEW = 20  # lines of which each is searched for all texts without an index
_BEGINNING = 10_000  # lines of a log that show what all of its lines have
_LINE_BITS = 44
_LINE_MASK = (1 << _LINE_BITS) - 1


class _Answer:
    """What the lines of one outline have in common: the probes that match them, those that depend on more
    than the outline, and the wording; `groups` are those of the hits. Closed hits were left out when `turn`
    was the turn of the scanner."""

    __slots__ = ("_outline", "_wording", "groups", "matching", "open", "turn")

    def __init__(
        self, of_line: bytes, matching: list[Hits], undecided: list[tuple[Hits, list[Part]]], turn: int
    ) -> None:
        self._outline, self._wording = of_line, ""
        self.matching, self.open, self.turn = matching, undecided, turn
        self.groups: dict[int, Group] = {}

    @property
    def wording(self) -> str:
        if not self._wording:
            self._wording = wording(message(self._outline.replace(b"\0", b"0").replace(b"\n", b"\0")))
        return self._wording


_NOTHING = _Answer(b"", [], [], 0)


class Scanner:
    """A scanner: pass it logs, the oldest first, then read `hits` (one per probe, in their order) and
    `logs`. A probe is no longer searched for after `enough` matches for its role, or `enough_bytes` of
    lines."""

    def __init__(
        self,
        probes: Sequence[Probe],
        *,
        use_grep: bool = True,
        enough: Mapping[Role, int] = ENOUGH,
        enough_bytes: int = ENOUGH_BYTES,
    ) -> None:
        self.hits = [Hits(p, number, enough[p.role], enough_bytes) for number, p in enumerate(probes)]
        self.logs: list[LogRead] = []
        self._of_every_line = [hits for hits in self.hits if hits.probe.every_line]
        self._turn = 0  # how often hits were closed
        self._texts: dict[int, _Texts] = {}  # by kind of outline
        self._plain = 0  # how often a line was searched for all literals
        # Answers by outline as in `outlines`, also with the digits of the line's number before it as grep
        # prints it; and by the second kind of outline. All have the same answers.
        self._by_line: dict[bytes, _Answer] = {}
        self._by_printed: dict[bytes, _Answer] = {}
        self._by_outline: dict[bytes, _Answer] = {}
        self._remembered = 0  # bytes, about
        self._worded = 0  # bytes of all groups, about
        self._count = 0  # lines of all hits
        self._is_short = False  # of memory for lines
        self._batch = _BATCH_FIRST
        self._searched: list[bytes] = []  # the texts for grep; empty: to be rebuilt
        # without grep Python looks at every line, which is slower and just as right; None: not checked yet
        self._uses_grep = None if use_grep else False

    def read(self, name: str, stream: BinaryIO, progress: Callable[[int], None] = lambda _: None) -> LogRead:
        """Read one log to its end, or up to a damage. `progress` gets the bytes read so far."""
        log = LogRead(name)
        base = len(self.logs) << _LINE_BITS
        self.logs.append(log)
        self._open_again()
        for lines in self._candidates(stream, log, progress):
            self._look(lines, base)
        return log

    def place(self, position: int) -> tuple[str, int]:
        """Return the name of the log and the number of the line."""
        return self.logs[position >> _LINE_BITS].name, position & _LINE_MASK

    def _look(self, lines: Lines, base: int) -> None:
        by_key = self._by_printed if lines.printed else self._by_line
        keys, remembered = outlines(lines.text), by_key.get
        places = [at for at, answer in enumerate(map(remembered, keys)) if answer is not _NOTHING]
        if not places:
            return
        single = lines.text.split(b"\n")
        early = any(not hits.closed for hits in self._of_every_line)
        for at in places:
            number, text = lines.numbering(at, single[at])
            text = text.removesuffix(b"\r")
            if early and number > _BEGINNING:
                self._close(self._of_every_line)
                early = False
            answer = remembered(keys[at])
            if answer is None or answer.turn != self._turn:
                answer = self._remember(by_key, keys[at], text)
            self._add(answer, text, base + number)

    def _add(self, answer: _Answer, text: bytes, position: int) -> None:
        matching = answer.matching
        for hits, parts in answer.open:
            for part in parts:
                if part.match(text):
                    matching = [*matching, hits]
                    break
        closed, shown_text = False, ""
        for hits in matching:
            group = answer.groups.get(hits.number)
            if group is None and not hits.is_fact:
                shown_text = shown_text or message(text)
                group = self._group(hits, answer.wording, shown_text, position)
                answer.groups[hits.number] = group
            hits.add(text, position, group)
            closed = closed or hits.closed
        self._count += len(matching)
        if self._count > _POSITIONS and not self._is_short:
            self._is_short = closed = True
            for hits in self.hits:
                hits.at_most(_ENOUGH_THEN)
        if closed:
            self._close()

    def _group(self, hits: Hits, worded: str, text: str, position: int) -> Group:
        """Return the group of hits for a line."""
        group = hits.groups.group(worded)
        if group is None:
            most = _WORDINGS if self._worded < _WORDED else _WORDINGS_THEN
            if len(hits.groups) >= most:
                return hits.groups.last()
            self._worded += len(worded) + len(text) + _ENTRY
            group = hits.groups.new(worded, text, position)
        return group

    def _open_again(self) -> None:
        """Look again for what every line of a log has, in the next log."""
        if any(hits.closed and not hits.full for hits in self._of_every_line):
            for hits in self._of_every_line:
                hits.closed = hits.full
            self._searched = []
            self._forget()

    def _close(self, hits: Sequence[Hits] = ()) -> None:
        """Look no longer for lines that closed hits would have, nor for `hits`."""
        for each in hits:
            each.closed = True
        self._searched = []
        self._turn += 1

    def _forget(self) -> None:
        for memo in (self._by_line, self._by_printed, self._by_outline):
            memo.clear()
        self._remembered = 0

    def _remember(self, by_key: dict[bytes, _Answer], key: bytes, text: bytes) -> _Answer:
        """Return the answer for a line, and remember it for the key."""
        if self._remembered > _REMEMBERED:
            self._forget()
        if not self._texts and self._has_no_literal(text):
            return _NOTHING  # another line with the outline may have one
        own, numbers = without_hexadecimal(outline(text))
        answer = self._by_outline.get(own)
        if answer is None:
            answer = self._answer(text, own, HEXADECIMAL if numbers else DECIMAL)
            self._by_outline[own] = answer
            self._remembered += len(own) + _ENTRY + (_ANSWER if answer is not _NOTHING else 0)
        if answer.turn != self._turn and answer is not _NOTHING:
            answer.matching = [hits for hits in answer.matching if not hits.closed]
            answer.open = [(hits, parts) for hits, parts in answer.open if not hits.closed]
            answer.turn = self._turn
            if not answer.matching and not answer.open:
                answer = self._by_outline[own] = _NOTHING
        if key not in by_key:
            self._remembered += len(key) + _ENTRY
        by_key[key] = answer
        return answer

    def _answer(self, text: bytes, own: bytes, kind: int) -> _Answer:
        """Return the answer for the lines with an outline of this kind, of which `text` is one."""
        if kind not in self._texts:
            self._texts[kind] = _Texts(self.hits, kind)
        matching: set[Hits] = set()
        undecided: dict[Hits, list[Part]] = {}
        for hits, part, _ in self._texts[kind].suspects(own):
            if part.blind < kind:
                undecided.setdefault(hits, []).append(part)
            elif hits not in matching and part.match(text):
                matching.add(hits)
        left = [(hits, parts) for hits, parts in undecided.items() if hits not in matching]
        return _Answer(own, [*matching], left, self._turn) if matching or left else _NOTHING

    def _has_no_literal(self, text: bytes) -> bool:
        """Return whether no probe may match a line; False for lines after the first few. A short log without
        anything to find is not worth an index."""
        self._plain += 1
        return self._plain < _FEW and not any(literal in text for literal in self._literals())

    def _candidates(self, stream: BinaryIO, log: LogRead, progress: Callable[[int], None]) -> Iterator[Lines]:
        """Yield candidate lines. Several greps search a segment each, while the next one is read and
        unpacked."""
        segments = Segments(stream, log, progress)
        running: deque[tuple[Segment, BinaryIO | None]] = deque()
        first = 1
        try:
            while True:
                while len(running) < _AT_ONCE and (filled := segments.next()) is not None:
                    running.append((filled, self._start(filled)))
                if not running:
                    return
                first = yield from self._drain(*running[0], first)
                segments.give_back(running.popleft()[0])
        finally:
            for segment, searched in running:
                segment.file.close()
                if searched is not None:
                    searched.close()
            segments.close()

    def _start(self, segment: Segment) -> BinaryIO | None:
        """Start grep on a segment; return None if grep is of no use, or if no program can be started."""
        if segment.size < _SMALL:
            return None
        if self._uses_grep is None:
            self._uses_grep = has_gnu_grep()
        if not self._uses_grep:
            return None
        if not self._searched:
            self._searched = self._literals()
        try:
            return start_grep([segment.mark, *self._searched], segment.file.fileno(), self._batch)
        except OSError:
            return None

    def _literals(self) -> list[bytes]:
        """Return the texts one of which each line has that a probe matches."""
        wanted = (hits.probe for hits in self.hits if not hits.closed)
        return list(dict.fromkeys(text for probe in wanted for text in probe.literals))

    def _drain(self, segment: Segment, searched: BinaryIO | None, first: int) -> Generator[Lines, None, int]:
        """Yield the candidate lines of a segment; return the number of the line after it."""
        before = seen = 0  # lines of the segment that come before the running grep; that were yielded
        while searched is not None:
            printed = size = 0
            numbered = segment.printed(first, before)
            try:
                for lines in _whole_lines(searched):
                    printed += lines.count(b"\n") + 1
                    size += len(lines) + 1
                    others, _, last = lines.rpartition(b"\n")
                    piece, _, text = last.partition(b":")
                    seen = before + int(piece)
                    if text == segment.mark:
                        if others:
                            yield Lines(others, numbered, printed=True)
                        return first + seen - 1 - len(segment.cuts)
                    yield Lines(lines, numbered, printed=True)
            except OSError:  # killed
                break
            finally:
                searched.close()
            if 2 * printed > seen - before:  # Python reads such a segment faster by itself
                break
            if printed:
                self._batch = min(max(_BATCH_BYTES * printed // size, _BATCH_FIRST), _BATCH)
            before = seen
            searched = self._start(segment)
        return (yield from segment.without_grep(first, seen))


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the output of a program in pieces of whole lines, without the last line feed."""
    rest = b""
    while piece := stream.read(_PIECE):
        lines, _, rest = (rest + piece).rpartition(b"\n")
        if lines:
            yield lines


class _Suspect(NamedTuple):
    """A part that may match, its hits, and the texts of which outlines of its lines show one of each."""

    hits: Hits
    part: Part
    others: tuple[tuple[bytes, ...], ...]


class _Texts:
    """The texts that the parts of probes require, reduced to what outlines of one kind show: a line whose
    outline has none of those of a part does not match it."""

    def __init__(self, every: Sequence[Hits], kind: int) -> None:
        self._by_text: dict[bytes, list[_Suspect]] = {}
        for hits in every:
            for part in hits.probe.parts:
                first, *others = ({shown(text, kind) for text in texts} for texts in part.required)
                telling = tuple(tuple(texts) for texts in others if min(map(len, texts)) > 1)
                suspect = _Suspect(hits, part, telling)
                for text in first:
                    self._by_text.setdefault(text, []).append(suspect)
        # The texts by their first or last four bytes, whichever fewer texts have; shorter ones by none.
        ends = [((*text[:4],), (*text[-4:],)) for text in self._by_text]
        shared = Counter(chain.from_iterable(ends))
        self._by_end: dict[tuple[int, ...], list[bytes]] = {}
        for text, both in zip(self._by_text, ends, strict=True):
            self._by_end.setdefault(min(both, key=shared.__getitem__) if len(text) > 3 else (), []).append(
                text
            )

    def suspects(self, of_line: bytes) -> list[_Suspect]:
        """Return each part that may match a line with this outline, except those of closed hits."""
        bare = bare_of(of_line)
        suspects: dict[int, _Suspect] = {}
        fours = zip(bare, bare[1:], bare[2:], bare[3:], strict=False)
        for end in (*(self._by_end.keys() & {*fours}), ()):
            for text in self._by_end.get(end, ()):
                if text in bare:
                    for suspect in self._by_text[text]:
                        if not suspect.hits.closed:
                            suspects[id(suspect)] = suspect
        return [suspect for suspect in suspects.values() if _has_one_of_each(suspect.others, bare)]


def _has_one_of_each(others: tuple[tuple[bytes, ...], ...], bare: bytes) -> bool:
    for texts in others:
        for text in texts:
            if text in bare:
                break
        else:
            return False
    return True
