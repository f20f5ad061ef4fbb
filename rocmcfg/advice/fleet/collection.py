"""Collect the documents of many hosts, one after the other, and join those of each host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rocmcfg.advice.fleet.documents import (
    Kind,
    Unused,
    documents,
    host_in,
    host_of_file,
    kind_of,
    shortened,
    written_in,
)
from rocmcfg.advice.fleet.host import Host
from rocmcfg.advice.fleet.reports import Described, Diagnosed, Kernel, Pool, Reader, Report, State, Verified
from rocmcfg.model.shape import NamedTuple

WORST: tuple[State, ...] = ("drifting", "unknown", "pending", "nothing_applied", "in_effect")
_OF_SETTINGS = ("verify", "status")
_UNKNOWN = Verified("unknown", None, ())
# Documents of verify are alike on many hosts: so many of at most so many bytes are read once.
_MOST_ALIKE, _SHORT = 4096, 4096
_DIGITS = re.compile(r"([0-9]{1,18})")


class _Entry(NamedTuple):
    time: int
    file: str
    report: Report


class _Judged(NamedTuple):
    """A document: its fields `host` and `written`, why it cannot be used, and what is shown of it."""

    host: str
    written: int
    kind: Kind | None
    reason: str
    report: Report | None


class Collection:
    """The documents of one collection. `used` is how many were used, `unused` are the others."""

    def __init__(self, reader: Reader) -> None:
        self.used = 0
        self.unused: list[Unused] = []
        self._reader = reader
        self._pool = Pool()
        self._hosts: dict[str, dict[str, _Entry]] = {}
        self._alike: dict[bytes, list[_Judged]] = {}
        self._nameless = 0

    def add(self, content: bytes, file: str, folder: str, time: int) -> None:
        """Add a part of a file: a document, or several. `folder` is the first folder below the named one, and
        `time` is when the file was written, for documents that do not say when they were."""
        judged = self._alike.get(content)
        if judged is None:
            judged = []
            try:
                judged += map(self._judged, documents(content))
            except ValueError as problem:
                reason = shortened(f"it is not JSON: {problem}", 200)
                judged.append(_Judged("", 0, "broken", reason, None))
            if len(content) <= _SHORT and len(self._alike) < _MOST_ALIKE:
                self._alike[content] = judged
        for each in judged:
            self._add(each, file, folder, time)
        if not judged:
            self.leave_out("empty", file, host_of_file(file, folder), "it is empty")

    def _judged(self, document: Any) -> _Judged:
        kind, reason = kind_of(document)
        report = self._reader.read(document) if kind is None else None
        return _Judged(host_in(document), written_in(document), kind, reason, report)

    def leave_out(self, kind: Kind, file: str, host: str, reason: str) -> None:
        """Note a document that cannot be used."""
        self.unused.append(Unused(kind, shortened(file, 4096), host, shortened(reason, 4096)))

    def _add(self, judged: _Judged, file: str, folder: str, time: int) -> None:
        name, report = judged.host or host_of_file(file, folder), judged.report
        if report is None:
            self.leave_out(judged.kind or "foreign", file, name, judged.reason)
            return
        if not name:
            self._nameless += 1
            name = f"(document {self._nameless} of the standard input)"
        entry = _Entry(judged.written or time, file, report)
        entries = self._hosts.setdefault(name, {})
        before = entries.get(report.command)
        if before is None:
            self.used += 1
        else:
            entry, older = (entry, before) if entry.time >= before.time else (before, entry)
            reason = f"{entry.file} has a newer document of {report.command} for this host"
            self.leave_out("duplicate", older.file, name, shortened(reason, 4096))
        entries[report.command] = entry

    def hosts(self) -> Iterator[Host]:
        """Yield the hosts in the order of their names, with numbers in the names as numbers."""
        left_out: dict[str, list[str]] = {}
        for unused in self.unused:
            if unused.host and unused.kind not in ("duplicate", "foreign", "other command"):
                left_out.setdefault(unused.host, []).append(f"a document is {unused.kind}: {unused.reason}")
        for name in sorted({*self._hosts, *left_out}, key=_by_number):
            entries = self._hosts.get(name, {})
            reports = {command: entry.report for command, entry in entries.items()}
            newest = max((entry.time for entry in entries.values()), default=0)
            yield self._joined(name, reports, left_out.get(name, []), newest)

    def _joined(self, name: str, reports: Mapping[str, Report], problems: list[str], time: int) -> Host:
        failed = (f"{r.command} failed: {r.failure}" for r in reports.values() if r.failure)
        silent = (
            f"its document of {r.command} has no status that this rocmcfg knows"
            for r in reports.values()
            if r.command in _OF_SETTINGS and r.verified is None and not r.failure
        )
        problems = [*failed, *silent, *problems]
        verified = self._verified(reports, problems)
        machine = Described()
        for command in ("status", "facts", "doctor"):
            report = reports.get(command)
            if report is not None and report.described is not None:
                machine = report.described
                break
        diagnosed = next((r.diagnosed for r in reports.values() if r.diagnosed), None)
        following: Kernel | None = machine.next if machine.next != machine.kernel else None
        return Host(
            name,
            self._pool(tuple(sorted(reports))),
            verified,
            machine,
            diagnosed or Diagnosed((), ()),
            following,
            tuple(problems),
            time=time,
            facts=next((report.facts for report in reports.values() if report.facts), ()),
        )

    def _verified(self, reports: Mapping[str, Report], problems: list[str]) -> Verified:
        """Return what the documents say of the settings. If they contradict each other, the worst counts,
        and a problem says so."""
        several = {command: r.verified for command, r in reports.items() if r.verified is not None}
        if len(several) < 2:
            return next(iter(several.values()), _UNKNOWN)
        chosen = min(several.values(), key=lambda outcome: (WORST.index(outcome.state), not outcome.wrong))
        if len({(outcome.state, outcome.transaction) for outcome in several.values()}) > 1:
            words = (
                f"{command} says {each.state.replace('_', ' ')} (transaction {each.transaction or 'none'})"
                for command, each in sorted(several.items())
            )
            problems.append(f"the documents contradict each other: {', '.join(words)}")
        wrong = next((outcome.wrong for outcome in several.values() if outcome.wrong), ())
        values = {name: value for outcome in several.values() for name, value in outcome.values}
        return self._pool(
            chosen._replace(
                wrong=wrong if chosen.state != "in_effect" else (), values=(*sorted(values.items()),)
            )
        )


def _by_number(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return a key that sorts node9 before node10."""
    parts = _DIGITS.split(name.lower())
    return [(int(part), "") if at % 2 else (-1, part) for at, part in enumerate(parts)], name
