"""Scan logs in one pass: record which probe matched where, how often, and in which wording.

Two ways give the same results: GNU grep selects the lines with one of the texts that the probes require, or
Python looks at every line. Python's `re` always decides what matches. Lines that differ only in digits
have one outline, and most probes do not depend on digits: they are tried once for each outline.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import BinaryIO, TypeAlias

from rocmcfg.advice.doctor.reading.probes import DIGITS, ENOUGH, ENOUGH_BYTES, Probe
from rocmcfg.advice.doctor.reading.segments import Line, LogRead, Segment, Segments
from rocmcfg.host.files import has_gnu_grep, start_grep
from rocmcfg.model.diagnostic import cut
from rocmcfg.model.regex import regex

_AT_ONCE = 3  # greps that run side by side, each with a segment of its own
# Lines after which a grep is restarted with fewer patterns in a storm: at first, at most, and the number of
# bytes that they should amount to.
_BATCH_FIRST, _BATCH, _BATCH_BYTES = 250, 20_000, 1 << 20
_SMALL = 32 << 10  # bytes; Python is through a smaller part before grep has read its patterns
_REMEMBERED = 4 << 10  # lines, without their digits, that are remembered
_LINE_BITS = 44
_LINE_MASK = (1 << _LINE_BITS) - 1
_MOST = 200  # wordings of one pattern that are kept apart
_ZEROS = bytes.maketrans(DIGITS, b"0" * len(DIGITS))
_SHOWN = 400  # characters of a line that are kept
# At the start of a line: syslog, journalctl (short, short-iso, short-precise, short-unix), dmesg (seconds,
# -T, --time-format delta and reltime), ISO times. A stamp in brackets has a digit and a dot or a colon,
# unlike a name: [gfxhub], [drm:psp_sw_init [amdgpu]].
_STAMPS = regex(
    r"^(?:\[(?=[^][]*\d)(?=[^][]*[.:]\d)[^][]{6,40}\]\s*|<\d+>|<\s*\d+\.\d+>\s*|\d{9,10}\.\d{3,9}\s+"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s+"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?\s+)+"
)
_SENDER = regex(r"^(?:\S+ )?(?:kernel|klogd)(?:\[\d+\])?: ?(?:\[\s*\d+\.\d+\]\s*)?")
_NUMBER = regex(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\b|\d+")


class Group:
    """Lines that differ only in numbers. `text` is the first of them without its time stamp; `first` and
    `last` are positions as in Hits."""

    def __init__(self, text: str, first: int) -> None:
        self.text, self.count, self.first, self.last = text, 0, first, first


class Groups:
    """The groups in the order in which they first appear; beyond `_MOST` groups, lines go to the last one."""

    def __init__(self) -> None:
        self._by_key: dict[str, Group] = {}
        self._by_outline: dict[bytes, Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_key.values())

    def add(self, line: bytes, position: int, outline: bytes) -> None:
        """Add a line; lines with one `outline` belong to one group."""
        group = self._by_outline.get(outline)
        if group is None:
            if len(self._by_outline) >= _REMEMBERED:
                self._by_outline.clear()
            group = self._by_outline[outline] = self._group(line, position)
        group.count += 1
        group.last = position

    def _group(self, line: bytes, position: int) -> Group:
        text = message(line)
        key = _NUMBER.sub("#", text)
        group = self._by_key.get(key)
        if group is None and len(self._by_key) >= _MOST:
            group = next(reversed(self._by_key.values()))
        if group is None:
            group = self._by_key[key] = Group(text, position)
        return group


def message(line: bytes) -> str:
    """Return the line without time stamp, host and sender, cut to a length that can be shown."""
    text = line[: 4 * _SHOWN].decode("utf-8", "replace").strip()
    text = _SENDER.sub("", _STAMPS.sub("", text), count=1)
    return cut(text, _SHOWN)


class Hits:
    """The matches of one probe; `number` is its place among the probes of the scanner. `positions` are the
    matching lines in the order of reading, for `Scanner.place`; there are never more than ENOUGH for its
    role, and their `size` is at most a little over ENOUGH_BYTES. Lines of facts are kept in `lines`, one per
    position; other lines are grouped."""

    def __init__(self, probe: Probe, number: int = 0) -> None:
        self.probe, self.number, self.positions, self.groups = probe, number, array("Q"), Groups()
        self.lines: list[str] = []
        self.size = 0

    def add(self, text: bytes, position: int, outline: bytes) -> None:
        self.positions.append(position)
        self.size += len(text)
        if self.probe.role == "fact":
            self.lines.append(text.decode("utf-8", "replace"))
        else:
            self.groups.add(text, position, outline)

    @property
    def full(self) -> bool:
        return len(self.positions) >= ENOUGH[self.probe.role] or self.size >= ENOUGH_BYTES


# The probes that match all lines with one outline, and those that depend on a line's digits.
_Answer: TypeAlias = "tuple[tuple[Hits, ...], tuple[Hits, ...]]"


class Scanner:
    """A scanner: pass it logs, the oldest first, then read `hits` (one per probe, in their order) and
    `logs`."""

    def __init__(self, probes: Sequence[Probe], *, use_grep: bool = True) -> None:
        self.hits = [Hits(probe, number) for number, probe in enumerate(probes)]
        self.logs: list[LogRead] = []
        self._wanted = list(self.hits)
        self._suspects: dict[bytes, tuple[Hits, ...]] = {}
        self._answers: dict[bytes, _Answer] = {}
        self._literals: dict[bytes, list[Hits]] = {}
        # The literals by their first three bytes; shorter ones by none.
        self._starts: dict[tuple[int, ...], list[bytes]] = {}
        self._forget()
        self._batch = _BATCH_FIRST
        self._searched: list[bytes] = []  # the texts for grep; empty: to be rebuilt
        # without grep Python looks at every line, which is slower and just as right; None: not checked yet
        self._uses_grep = None if use_grep else False

    def read(self, name: str, stream: BinaryIO, progress: Callable[[int], None] = lambda _: None) -> LogRead:
        """Read one log to its end, or up to a damage. `progress` gets the bytes read so far."""
        log = LogRead(name)
        base = len(self.logs) << _LINE_BITS
        self.logs.append(log)
        for number, text in self._candidates(stream, log, progress):
            self._look(text.removesuffix(b"\r"), base + number)
        return log

    def place(self, position: int) -> tuple[str, int]:
        """Return the name of the log and the number of the line."""
        return self.logs[position >> _LINE_BITS].name, position & _LINE_MASK

    def _look(self, text: bytes, position: int) -> None:
        outline = text.replace(b"0x", b"\0").translate(_ZEROS)
        answer = self._answers.get(outline)
        if answer is None:
            answer = self._answer(text, outline)
        matching, open_probes = answer
        if open_probes:
            matching += tuple(hits for hits in open_probes if hits.probe.match(text))
        filled = False
        for hits in matching:
            hits.add(text, position, outline)
            filled = filled or hits.full
        if filled:
            self._wanted = [hits for hits in self._wanted if not hits.full]
            self._forget()

    def _answer(self, text: bytes, outline: bytes) -> _Answer:
        """Return the answer for all lines with this outline. Most lines of a log repeat earlier ones except
        for the digits, so the answer is remembered."""
        bare = text.translate(None, DIGITS)
        suspects = self._suspects.get(bare)
        if suspects is None:
            suspects = self._suspected(bare)
        blind = [hits for hits in suspects if hits.probe.is_digit_blind]
        matching = tuple(hits for hits in blind if hits.probe.match(text))
        answer = (matching, tuple(hits for hits in suspects if hits not in blind) if blind else suspects)
        if len(self._answers) >= _REMEMBERED:
            self._answers.clear()
        self._answers[outline] = answer
        return answer

    def _suspected(self, bare: bytes) -> tuple[Hits, ...]:
        """Return the probes that may match a line; `bare` is the line without its digits."""
        starts = self._starts.keys() & {*zip(bare, bare[1:], bare[2:], strict=False)}
        literals = (literal for start in (*starts, ()) for literal in self._starts.get(start, ()))
        held = [literal for literal in literals if literal in bare]
        by_number = {hits.number: hits for literal in held for hits in self._literals[literal]}
        suspects = tuple(by_number[number] for number in sorted(by_number))
        if len(self._suspects) >= _REMEMBERED:
            self._suspects.clear()
        self._suspects[bare] = suspects
        return suspects

    def _forget(self) -> None:
        """Forget which probes may match a line, because that changes when a probe is full."""
        self._suspects.clear()
        self._answers.clear()
        self._searched = []
        self._literals = {}
        for hits in self._wanted:
            for literal in hits.probe.bare_literals:
                self._literals.setdefault(literal, []).append(hits)
        self._starts = {}
        for literal in self._literals:
            start = (*literal[:3],) if len(literal) >= 3 else ()
            self._starts.setdefault(start, []).append(literal)

    def _candidates(self, stream: BinaryIO, log: LogRead, progress: Callable[[int], None]) -> Iterator[Line]:
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
            self._searched = list(dict.fromkeys(t for hits in self._wanted for t in hits.probe.literals))
        try:
            return start_grep([segment.mark, *self._searched], segment.file.fileno(), self._batch)
        except OSError:
            return None

    def _drain(self, segment: Segment, searched: BinaryIO | None, first: int) -> Generator[Line, None, int]:
        """Yield the candidate lines of a segment; return the number of the line after it."""
        before = seen = 0  # lines of the segment that come before the running grep; that were yielded
        while searched is not None:
            printed = size = 0
            try:
                for raw in searched:
                    printed += 1
                    size += len(raw)
                    number, _, text = raw.removesuffix(b"\n").partition(b":")
                    seen = before + int(number)
                    if text == segment.mark:
                        return first + seen - 1 - len(segment.cuts)
                    yield first + segment.line(seen), text
            except OSError:  # killed
                break
            finally:
                searched.close()
            if printed:
                self._batch = min(max(_BATCH_BYTES * printed // size, _BATCH_FIRST), _BATCH)
            before = seen
            searched = self._start(segment)
        return (yield from segment.without_grep(first, seen))
