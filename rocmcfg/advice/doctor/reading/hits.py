"""What the probes of a scan matched: where, how often, and in which wording."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from rocmcfg.advice.doctor.reading.probes import Probe
from rocmcfg.model.diagnostic import cut
from rocmcfg.model.regex import regex

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
_NUMBER = regex(
    r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9]\b"
    r"|\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{4,256}\b|\d+"
)


def message(line: bytes) -> str:
    """Return the line without time stamp, host and sender, cut to a length that can be shown."""
    text = line[: 4 * _SHOWN].decode("utf-8", "replace").strip()
    text = _SENDER.sub("", _STAMPS.sub("", text), count=1)
    return cut(text, _SHOWN)


def wording(text: str) -> str:
    """Return a text of `message` without its numbers."""
    return _NUMBER.sub("#", text)


class Group:
    """Lines that differ only in numbers. `text` is the first of them without its time stamp; `first` and
    `last` are positions as in Hits."""

    __slots__ = ("count", "first", "last", "text")

    def __init__(self, text: str, first: int) -> None:
        self.text, self.count, self.first, self.last = text, 0, first, first


class Groups:
    """The groups in the order in which they first appear. If there are enough, lines go to the last one."""

    def __init__(self) -> None:
        self._by_wording: dict[str, Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_wording.values())

    def __len__(self) -> int:
        return len(self._by_wording)

    def group(self, wording: str) -> Group | None:
        return self._by_wording.get(wording)

    def last(self) -> Group:
        return next(reversed(self._by_wording.values()))

    def new(self, wording: str, text: str, position: int) -> Group:
        """Return a new group of lines with this wording, of which the first is `text` at `position`."""
        group = self._by_wording[wording] = Group(text, position)
        return group


class Hits:
    """The matches of one probe; `number` is its place among the probes of the scanner. `positions` are the
    matching lines in the order of reading, for `Scanner.place`; there are never more than `enough`, and their
    `size` is at most a little over `enough_bytes`: then the hits are `full`. Lines of facts are kept in
    `lines`, one per position; other lines are grouped. No line is wanted while the hits are `closed`."""

    def __init__(self, probe: Probe, number: int, enough: int, enough_bytes: int) -> None:
        self.probe, self.number, self.positions, self.groups = probe, number, array("Q"), Groups()
        self.is_fact = probe.role == "fact"
        self.lines: list[str] = []
        self.size, self.full, self.closed = 0, False, False
        self._enough, self._enough_bytes = enough, enough_bytes

    def add(self, line: bytes, position: int, group: Group | None) -> None:
        """Add a line; `group` is None for a fact."""
        if group is None:
            self.lines.append(line.decode("utf-8", "replace"))
        else:
            group.count += 1
            group.last = position
        self.positions.append(position)
        self.size += len(line)
        if len(self.positions) >= self._enough or self.size >= self._enough_bytes:
            self.full = self.closed = True

    def at_most(self, enough: int) -> None:
        """Let the hits be full with fewer lines."""
        self._enough = min(self._enough, enough)
        if len(self.positions) >= self._enough:
            self.full = self.closed = True
