"""Repeated lines as one: what differs only in times, numbers and addresses is the same message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

DIGITS = b"0123456789"
_MOST = 200  # wordings of one pattern that are kept apart
_SHOWN = 400  # characters of a line that are kept
# at the start of a line: syslog, journalctl (short, short-iso, short-precise), dmesg (seconds, -T), ISO times
_STAMPS = re.compile(
    r"^(?:\[[^\]]{6,32}\]\s*|<\d+>"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s+"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?\s+)+"
)
_SENDER = re.compile(r"^(?:\S+ )?(?:kernel|klogd)(?:\[\d+\])?: ?(?:\[\s*\d+\.\d+\]\s*)?")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\b|\d+")


@dataclass(slots=True)
class Group:
    """`text` is the first line of its kind without its time stamp; positions as in `scan.Hits`."""

    text: str
    count: int
    first: int
    last: int


class Groups:
    """Groups in the order in which they first appear; beyond `_MOST` kinds, lines go to the last one."""

    def __init__(self) -> None:
        self._by_key: dict[str, Group] = {}
        self._by_bare: dict[bytes, Group] = {}  # the same by the line without its digits, which is cheaper

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_key.values())

    def add(self, line: bytes, position: int) -> None:
        bare = line.translate(None, DIGITS)
        group = self._by_bare.get(bare)
        if group is None:
            group = self._group(line, position)
            if len(self._by_bare) < 4 * _MOST and len(bare) <= _SHOWN:
                self._by_bare[bare] = group
        group.count += 1
        group.last = position

    def _group(self, line: bytes, position: int) -> Group:
        text = message(line)
        key = _NUMBER.sub("#", text)
        group = self._by_key.get(key)
        if group is None:
            if len(self._by_key) >= _MOST:
                return next(reversed(self._by_key.values()))
            group = self._by_key[key] = Group(text, 0, position, position)
        return group


def message(line: bytes) -> str:
    """The line without time stamp, host and sender, cut to a length that can be shown."""
    text = line[: 4 * _SHOWN].decode("utf-8", "replace").strip()
    text = _SENDER.sub("", _STAMPS.sub("", text), count=1)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
